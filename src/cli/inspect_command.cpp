#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/commands.h"
#include "cli/standard_streams.h"
#include "config/write.h"

namespace verso {
namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
  std::string model;
  std::string vocabulary;
  bool json = false;
  bool config = false;
};

/// The module that a parameter is counted under: encoder.layer0.forward_gru.bias_ih ->
/// encoder.layer0.
std::string module_of(const std::string& parameter) {
  const std::size_t second = parameter.find('.', parameter.find('.') + 1);
  return parameter.substr(0, second == std::string::npos ? parameter.rfind('.') : second);
}

Json parameters_of(const Seq2SeqImpl& network) {
  Json modules = Json::object();
  for (const auto& item : network.named_parameters()) {
    Json& count = modules[module_of(item.key())];
    count = (count.is_null() ? 0 : count.get<int64_t>()) + item.value().numel();
  }
  return {{"total", network.parameter_count()}, {"type", "float32"}, {"modules", modules}};
}

Json vocabulary_of(const Vocabulary& vocabulary) {
  return {{"kind", enum_name(vocabulary.kind())}, {"size", vocabulary.size()}};
}

Json data_of(const Config& config) {
  Json files = Json::array();
  for (const CorpusConfig& corpus : config.data.train) {
    files.push_back(corpus.tsv.empty() ? Json{{"source", corpus.source}, {"target", corpus.target}}
                                       : Json{{"tsv", corpus.tsv}});
  }
  return files;
}

Json architecture_of(const ModelConfig& model) {
  return {{"encoder_layers", model.encoder.layers},
          {"decoder", enum_name(model.decoder.kind)},
          {"start", enum_name(model.decoder.start)},
          {"readout", enum_name(model.decoder.readout)},
          {"gru", enum_name(model.gru)},
          {"tie", enum_name(model.tie)},
          {"embed", model.embed},
          {"hidden", model.hidden},
          {"attention", model.attention},
          {"attend_end", model.attend_end},
          {"layer_norm", model.layer_norm}};
}

/// Everything that is shown, for people and programs alike.
Json summary_of(const Checkpoint& checkpoint) {
  const TranslationModel& model = checkpoint.model;
  const VocabularyPair& vocabularies = model.vocabularies;
  return {{"file", checkpoint.path},
          {"format", checkpoint.format},
          {"checksum", "good"},
          {"update", checkpoint.info.update},
          {"epoch", checkpoint.info.epoch},
          {"scores", Json(checkpoint.info.scores)},
          {"resumable", checkpoint.resumable},
          {"data", data_of(model.config)},
          {"vocabulary",
           {{"joint", vocabularies.source == vocabularies.target},
            {"source", vocabulary_of(*vocabularies.source)},
            {"target", vocabulary_of(*vocabularies.target)}}},
          {"architecture", architecture_of(model.config.model)},
          {"parameters", parameters_of(*model.network)}};
}

std::string value_text(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The summary as lines of "name  value"; what an object or a list holds stands indented below it.
void add_lines(const Json& object, const std::string& indent, std::string& text) {
  constexpr std::size_t kColumn = 26;
  for (const auto& [key, value] : object.items()) {
    std::string line = indent + (object.is_array() ? "-" : key);
    if (value.is_structured()) {
      text += line + (value.empty() ? "  none\n" : "\n");
      add_lines(value, indent + "  ", text);
    } else {
      line.resize(std::max(kColumn, line.size() + 1), ' ');
      text += cat(line, value_text(value), "\n");
    }
  }
}

void print_entries(const Vocabulary& vocabulary) {
  for (std::int64_t id = 0; id < vocabulary.size(); ++id) {
    write_out(cat(vocabulary.token(static_cast<std::int32_t>(id)), "\n"));
  }
}

int run_inspect(const InspectOptions& options) {
  const Checkpoint checkpoint = load_checkpoint(options.model, torch::kCPU);
  const VocabularyPair& vocabularies = checkpoint.model.vocabularies;
  if (options.config) {
    write_out(write_config(checkpoint.model.config));
  } else if (!options.vocabulary.empty()) {
    print_entries(options.vocabulary == "source" ? *vocabularies.source : *vocabularies.target);
  } else if (options.json) {
    write_out(summary_of(checkpoint).dump(2) + "\n");
  } else {
    std::string text;
    add_lines(summary_of(checkpoint), "", text);
    write_out(text);
  }
  return 0;
}

}  // namespace

void setup_inspect(CLI::App& command, CommandRun& run) {
  const auto options = std::make_shared<InspectOptions>();
  command
      .add_option("MODEL", options->model, "checkpoint file, or run folder (its best checkpoint)")
      ->required();
  CLI::Option* json = command.add_flag("--json", options->json, "as JSON");
  CLI::Option* config =
      command.add_flag("--config", options->config, "prints the configuration it was trained with");
  CLI::Option* vocabulary =
      command
          .add_option("--vocabulary", options->vocabulary,
                      "prints the entries of one side, one a line, in the order of their ids")
          ->check(CLI::IsMember({"source", "target"}));
  json->excludes(config)->excludes(vocabulary);
  config->excludes(vocabulary);
  run = [options] { return run_inspect(*options); };
}

}  // namespace verso
