#include "cli/given_pairs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "cli/model_options.h"
#include "cli/stdin_lines.h"

namespace verso {

namespace {

// As in translate: enough to sort by length, little enough to keep memory small.
constexpr std::size_t kWindowLines = 2000;
constexpr std::size_t kWindowBytes = std::size_t{1} << 20;

}  // namespace

struct GivenPairs::Impl {
  InvalidUtf8 rule;
  std::optional<PairReader> files;
  std::optional<StdinLines> input;
  std::exception_ptr problem;  // found while pairs before it were waiting to be used

  void check(std::string& line, const std::string& place) const {
    const std::size_t colon = place.rfind(':');
    check_utf8(line, place.substr(0, colon), std::atoll(place.c_str() + colon + 1), rule);
  }

  bool read_file_pair(ParallelText& pairs) {
    std::string source, target;
    if (!files->next(source, target)) return false;
    check(source, files->source_place());
    check(target, files->target_place());
    pairs.source.push_back(std::move(source));
    pairs.target.push_back(std::move(target));
    return true;
  }

  void split_line(const std::string& line, std::int64_t number, ParallelText& pairs) const {
    const std::string place = cat("stdin:", number);
    const auto tabs = std::count(line.begin(), line.end(), '\t');
    if (tabs != 1) {
      throw DataError(cat(place, ": ", tabs, " tabs, expected 1 (source TAB target)"));
    }
    std::string source = line.substr(0, line.find('\t'));
    std::string target = line.substr(line.find('\t') + 1);
    check(source, place);
    check(target, place);
    pairs.source.push_back(std::move(source));
    pairs.target.push_back(std::move(target));
  }

  void read_window(ParallelText& pairs) {
    if (files) {
      std::size_t bytes = 0;
      while (pairs.source.size() < kWindowLines && bytes < kWindowBytes && read_file_pair(pairs)) {
        bytes += pairs.source.back().size() + pairs.target.back().size();
      }
      return;
    }
    std::int64_t number = input->next_number();
    for (const std::string& line : input->take(kWindowLines, kWindowBytes)) {
      split_line(line, number++, pairs);
    }
  }
};

void add_pairs_options(CLI::App& command, GivenPairsOptions& options) {
  command.add_option("--source", options.source, "file of source sentences");
  command.add_option("--target", options.target, "file of target sentences, line for line");
  command.add_option("--tsv", options.tsv, "file of source TAB target; - is standard input")
      ->capture_default_str();
  add_utf8_option(command, options.invalid_utf8);
}

GivenPairs::GivenPairs(const GivenPairsOptions& options) : impl_(std::make_unique<Impl>()) {
  if (options.source.empty() != options.target.empty()) {
    throw UsageError(cat("--", options.source.empty() ? "target" : "source", " needs --",
                         options.source.empty() ? "source" : "target", " beside it"));
  }
  impl_->rule = options.invalid_utf8;
  if (options.source.empty() && options.tsv == "-") {
    impl_->input.emplace();
    return;
  }
  CorpusConfig corpus;
  corpus.source = options.source;
  corpus.target = options.target;
  if (options.source.empty()) corpus.tsv = options.tsv;
  impl_->files.emplace(corpus);
}

GivenPairs::~GivenPairs() = default;

ParallelText GivenPairs::next() {
  if (impl_->problem) std::rethrow_exception(impl_->problem);
  ParallelText pairs;
  try {
    impl_->read_window(pairs);
  } catch (const DataError&) {
    if (pairs.source.empty()) throw;
    impl_->problem = std::current_exception();
  }
  return pairs;
}

}  // namespace verso
