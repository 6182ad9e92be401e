#include "tests/fixtures/reference.h"

#include <gtest/gtest.h>

#include "search/beam_search.h"

// Greedy and beam search against an independent implementation in Python's torch, in double.
namespace verso {
namespace {

class SearchReference : public testing::TestWithParam<std::string> {
 protected:
  test::Reference reference = test::load_reference(GetParam());
  Seq2Seq model = test::make_model(reference);
  std::vector<std::vector<std::int32_t>> sources =
      test::sentences(reference.at("input.source"), reference.at("input.source_lengths"));

  std::vector<std::vector<Hypothesis>> search(int64_t beam, double penalty) {
    SearchOptions options;
    options.beam = beam;
    options.length_penalty = penalty;
    options.max_length_factor = 0;
    options.max_length_extra = reference.sizes["max_len"];
    std::vector<SearchInput> inputs;
    for (const auto& source : sources) inputs.push_back({source, {}, 0});
    return beam_search({model}, inputs, options);
  }

  /// The best hypothesis of each sentence is the fixture's first row for it. (Longer lists differ
  /// by the width that a beam keeps once hypotheses have ended, where search algorithms differ.)
  void expect_best(const std::vector<std::vector<Hypothesis>>& found, const std::string& name) {
    const Tensor sentence = reference.at(name + ".sentence");
    int64_t last = -1;
    for (int64_t row = 0; row < sentence.size(0); ++row) {
      const int64_t s = sentence[row].item<int64_t>();
      if (s == last) continue;
      last = s;
      const Hypothesis& best = found[static_cast<std::size_t>(s)].front();
      std::vector<std::int32_t> ids = best.ids;
      if (best.finished) ids.push_back(3);
      std::vector<std::int32_t> expected;
      for (int64_t i = 0; i < reference.at(name + ".lengths")[row].item<int64_t>(); ++i) {
        expected.push_back(
            static_cast<std::int32_t>(reference.at(name + ".ids")[row][i].item<int64_t>()));
      }
      EXPECT_EQ(ids, expected) << name << " sentence " << s;
      EXPECT_EQ(best.finished, reference.at(name + ".finished")[row].item<int64_t>() == 1);
      EXPECT_NEAR(best.log_prob, reference.at(name + ".logp")[row].item<double>(), 1e-5);
      EXPECT_NEAR(best.score, reference.at(name + ".score")[row].item<double>(), 1e-5);
    }
    EXPECT_EQ(last + 1, static_cast<int64_t>(sources.size()));
  }
};

TEST_P(SearchReference, GreedyIsTheReferences) { expect_best(search(1, 1.0), "greedy"); }

TEST_P(SearchReference, BeamIsTheReferences) {
  const int64_t beam = reference.sizes["beam"];
  expect_best(search(beam, 1.0), "beam");
  expect_best(search(beam, 0.0), "beam_penalty0");
}

INSTANTIATE_TEST_SUITE_P(All, SearchReference, testing::ValuesIn(test::reference_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace verso
