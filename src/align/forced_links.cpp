#include "align/forced_links.h"

#include "base/text.h"

namespace verso {
namespace {

std::vector<std::string> words_of_line(const std::string& line) {
  const auto views = split_tokens(line);
  return {views.begin(), views.end()};
}

}  // namespace

SoftAlignment word_alignment(const ForcedPair& pair, const std::string& source,
                             const std::string& target) {
  if (!pair.alpha.empty()) {
    return merge_pieces(pair.alpha, {words_of_line(source), pair.source.word_of}, true,
                        {words_of_line(target), pair.target.word_of}, true, pair.log_prob);
  }
  SoftAlignment nothing;
  nothing.source = words_of_line(source);
  nothing.target = words_of_line(target);
  nothing.weights.resize(nothing.source.size() * nothing.target.size());
  return nothing;
}

std::vector<AlignmentErrors> errors_by_shift(const std::vector<const TranslationModel*>& models,
                                             const ParallelText& gold, const LinkOptions& options) {
  std::vector<AlignmentErrors> errors;
  for (std::int64_t shift = 0; shift <= kMostShift; ++shift) {
    ForcedOptions forced;
    forced.shift = shift;
    const auto pairs = forced_decode(models, gold.source, gold.target, forced);
    errors.emplace_back();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const SoftAlignment words =
          without_ends(word_alignment(pairs[i], gold.source[i], gold.target[i]));
      add_links(errors.back(), extract_links(words, options.rule, options.threshold),
                gold.links[i]);
    }
  }
  return errors;
}

}  // namespace verso
