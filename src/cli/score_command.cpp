#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/given_pairs.h"
#include "cli/model_options.h"
#include "cli/standard_streams.h"
#include "search/forced.h"

namespace verso {

namespace {

struct Options {
  ModelOptions model;
  GivenPairsOptions pairs;
  bool per_token = false, json = false;
};

constexpr int kDigits = 6;

std::string token_at(const ForcedPair& pair, std::size_t i, const Vocabulary& vocabulary) {
  return i < pair.target.ids.size() ? vocabulary.token(pair.target.ids[i]) : "</s>";
}

std::string json_line(const ForcedPair& pair, std::int64_t id, const Vocabulary& vocabulary) {
  std::string tokens, scores;
  for (std::size_t i = 0; i < pair.token_log_probs.size(); ++i) {
    const char* comma = i == 0 ? "" : ",";
    tokens += comma + json_quote(token_at(pair, i, vocabulary));
    scores += comma + fixed(pair.token_log_probs[i], kDigits);
  }
  const std::string sum = tokens.empty() ? "null" : fixed(pair.log_prob, kDigits);
  return cat("{\"id\":", id, ",\"log_prob\":", sum, ",\"tokens\":[", tokens,
             "],\"token_log_probs\":[", scores, "]}\n");
}

std::string text_line(const ForcedPair& pair, const Vocabulary& vocabulary, bool per_token) {
  if (pair.token_log_probs.empty()) return "\n";
  std::string line = fixed(pair.log_prob, kDigits);
  for (std::size_t i = 0; per_token && i < pair.token_log_probs.size(); ++i) {
    line += cat("\t", token_at(pair, i, vocabulary), " ", fixed(pair.token_log_probs[i], kDigits));
  }
  return line + "\n";
}

int run_score(const Options& options) {
  GivenPairs input(options.pairs);
  const LoadedModels loaded = load_models(options.model);
  const Vocabulary& vocabulary = *loaded.checkpoints.front().model.vocabularies.target;
  std::int64_t pairs_read = 0, scored = 0, tokens = 0;
  double sum = 0;
  for (ParallelText pairs = input.next(); !pairs.source.empty(); pairs = input.next()) {
    for (const ForcedPair& pair : forced_decode(loaded.models(), pairs.source, pairs.target)) {
      write_out(options.json ? json_line(pair, pairs_read, vocabulary)
                             : text_line(pair, vocabulary, options.per_token));
      ++pairs_read;
      if (pair.token_log_probs.empty()) continue;
      ++scored;
      tokens += static_cast<std::int64_t>(pair.token_log_probs.size());
      sum += pair.log_prob;
    }
    flush_out();
  }
  std::string summary = cat("scored ", scored, " of ", pairs_read, " pairs");
  if (tokens > 0) {
    summary +=
        cat(", ", tokens, " target tokens, log probability ", fixed(sum, 3),
            ", perplexity per token ", fixed(std::exp(-sum / static_cast<double>(tokens)), 4));
  }
  log::info(summary);
  return 0;
}

}  // namespace

void setup_score(CLI::App& command, CommandRun& run) {
  const auto options = std::make_shared<Options>();
  add_model_options(command, options->model);
  add_pairs_options(command, options->pairs);
  command.add_flag("--per-token", options->per_token,
                   "behind each sum, after a TAB each: token and its log probability");
  command.add_flag("--json", options->json,
                   "JSON Lines: id, log_prob, tokens and token_log_probs (the end symbol's last)");
  command.footer(
      "One line a pair: log p(target | source), natural logarithm, summed over the target's tokens "
      "and the end symbol.\nA pair with an empty side gives an empty line (null in JSON) and does "
      "not "
      "count.\nThe corpus perplexity, exp(-sum / tokens), is printed on standard error.");
  run = [options] { return run_score(*options); };
}

}  // namespace verso
