#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/choice.h"
#include "cli/commands.h"
#include "cli/given_pairs.h"
#include "cli/model_options.h"
#include "cli/standard_streams.h"
#include "report/gradient_table.h"
#include "report/page.h"

namespace verso {

namespace {

enum class Format { kText, kJson, kHtml };
enum class Precision { kDouble, kFloat };

struct Options {
  ModelOptions model;
  GivenPairsOptions pairs;
  Format format = Format::kText;
  Precision precision = Precision::kDouble;
  bool check = false, pieces = false;
};

/// What is found for one pair.
struct Found {
  GradientRecord record;
  std::vector<Difference> autograd, finite;
};

std::vector<std::string> words_of(const std::string& line) {
  const auto views = split_tokens(line);
  return {views.begin(), views.end()};
}

/// The words of a line or, with --pieces, the model's tokens as words of their own.
PieceWords shown(const EncodedLine& encoded, const std::string& line, const Vocabulary& vocabulary,
                 bool pieces) {
  if (!pieces) return {words_of(line), encoded.word_of};
  PieceWords own;
  for (const std::int32_t id : encoded.ids) {
    own.word_of.push_back(static_cast<std::int32_t>(own.words.size()));
    own.words.push_back(vocabulary.token(id));
  }
  return own;
}

Found study(Seq2Seq& network, const VocabularyPair& vocabularies, const std::string& source,
            const std::string& target, std::int64_t id, const Options& options) {
  const EncodedLine from = vocabularies.source->encode(source);
  const EncodedLine to = vocabularies.target->encode(target);
  Found found;
  if (from.ids.empty() || to.ids.empty()) {
    found.record.source = words_of(source);
    found.record.target = words_of(target);
    return found;
  }
  const AttentionGradients gradients = attention_gradients(network, from.ids, to.ids);
  found.record =
      gradient_record(gradients, shown(from, source, *vocabularies.source, options.pieces),
                      shown(to, target, *vocabularies.target, options.pieces));
  found.autograd = gradients.differences;
  if (options.check) {
    found.finite =
        finite_differences(network, from.ids, to.ids, gradients, static_cast<std::uint64_t>(id));
  }
  return found;
}

std::string json_differences(const std::vector<Difference>& differences) {
  std::string out;
  for (const Difference& difference : differences) {
    out += cat(out.empty() ? "{" : ",", json_quote(difference.gradient), ":",
               json_number(difference.relative));
  }
  return out + "}";
}

std::string json_line(const Found& found, std::int64_t id) {
  std::string out = cat("{\"id\":", id, ",", json_fields(found.record));
  if (!found.autograd.empty()) out += ",\"from_autograd\":" + json_differences(found.autograd);
  if (!found.finite.empty()) out += ",\"from_central\":" + json_differences(found.finite);
  return out + "}\n";
}

/// How exact the numbers are, a line for each comparison.
std::string exactness(const Found& found) {
  std::string out;
  if (!found.autograd.empty()) out += largest_difference(found.autograd, "autograd") + "\n";
  if (!found.finite.empty()) out += largest_difference(found.finite, "central differences") + "\n";
  return out;
}

std::string text_block(const Found& found, std::int64_t id) {
  return cat("pair ", id, "\n", gradient_table(found.record), "\n", exactness(found), "\n");
}

/// As the page of a run's probe has it.
ProbePair picture(const Found& found, std::int64_t id) {
  ProbePair pair =
      read_probed_pair(cat("{\"update\":0,\"pair\":", id, ",", json_fields(found.record), "}"));
  pair.note = exactness(found);
  return pair;
}

int run_gradients(const Options& options) {
  if (options.check && options.precision == Precision::kFloat) {
    throw UsageError("--check needs --precision double: central differences in float say nothing");
  }
  GivenPairs input(options.pairs);
  const LoadedModels loaded = load_models(options.model);
  const TranslationModel& model = loaded.checkpoints.front().model;
  Seq2Seq network =
      options.precision == Precision::kDouble ? in_double(model.network) : model.network;
  std::int64_t id = 0;
  std::vector<ProbePair> pictures;
  for (ParallelText pairs = input.next(); !pairs.source.empty(); pairs = input.next()) {
    for (std::size_t i = 0; i < pairs.source.size(); ++i, ++id) {
      const Found found =
          study(network, model.vocabularies, pairs.source[i], pairs.target[i], id, options);
      if (options.format == Format::kHtml) {
        pictures.push_back(picture(found, id));
        continue;
      }
      write_out(options.format == Format::kText ? text_block(found, id) : json_line(found, id));
      flush_out();
    }
  }
  if (options.format == Format::kHtml) write_out(gradients_page(std::move(pictures)));
  return 0;
}

constexpr const char* kFooter =
    R"(For each pair, with L = -log p(target | source), the loss of training without dropout and label
smoothing: how the gradient reaches attention, which is how attention is taught. With e the energies,
alpha = softmax(e) the attention weights, c_t = sum_j alpha_tj h_j the contexts, h_j encoder states:

g          g_tj = dL/dalpha_tj = h_j . dL/dc_t
advantage  g_tj - sum_k alpha_tk g_tk; dL/de_tj is alpha_tj times it. Descent moves weight to where
           it is below 0: to words that help more than what attention looks at now.
|dL/dc|    how much the decoder wants of the context at step t
|dL/dh|    how much the whole sentence wants of state j, and the share of each path in it:
           value: as what is summed into contexts; key: as what is asked about; start: through the
           decoder's first state; recurrent: through the encoder's next states. Shares are
           projections on dL/dh: they add up to 1, one below 0 pulls against the whole.
|dL/dv|, |dL/dW|, |dL/dU|  of attention's parameters, e = v . tanh(W s + U h + b)

Rows are target words, columns source words, end symbols last. A word of several pieces takes sums of
alpha and dL/de over source pieces, means over target pieces; --pieces shows the pieces themselves.

Every number comes from these equations, term by term; the largest difference from LibTorch's
automatic gradients is given beside them, with --check that from central finite differences too
(some 800 passes for each pair).

text  tables     json  JSON Lines, one object a pair     html  one page with pictures of all pairs)";

}  // namespace

void setup_gradients(CLI::App& command, CommandRun& run) {
  const auto options = std::make_shared<Options>();
  add_studied_model_options(command, options->model);
  add_pairs_options(command, options->pairs);
  add_choice(command, "--format", options->format,
             {{"text", Format::kText}, {"json", Format::kJson}, {"html", Format::kHtml}},
             "what to write");
  add_choice(command, "--precision", options->precision,
             {{"double", Precision::kDouble}, {"float", Precision::kFloat}}, "of all computation");
  command.add_flag("--check", options->check, "compare with central finite differences");
  command.add_flag("--pieces", options->pieces, "the model's tokens instead of words");
  command.footer(kFooter);
  run = [options] { return run_gradients(*options); };
}

}  // namespace verso
