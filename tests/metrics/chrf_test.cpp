#include "metrics/chrf.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/metrics/test_data.h"

namespace verso {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

ChrfOptions options_from(const Json& json) {
  return {.char_order = json["char_order"],
          .word_order = json["word_order"],
          .beta = json["beta"],
          .lowercase = json["lowercase"],
          .whitespace = json["whitespace"],
          .eps_smoothing = json["eps_smoothing"]};
}

void check_fixture(const std::string& name) {
  const Json file = test::read_json(test::tests_folder() / "fixtures/metrics" / name);
  for (std::size_t i = 0; i < file["cases"].size(); ++i) {
    SCOPED_TRACE(name + ", case " + std::to_string(i));
    const Json& item = file["cases"][i];
    const Json& expected = item["chrf"]["expected"];
    const ChrfOptions options = options_from(item["chrf"]["options"]);
    const auto references = item["references"].get<std::vector<Lines>>();
    const double score = corpus_chrf(item["hypotheses"].get<Lines>(), references, options).score;
    EXPECT_NEAR(score, expected["score"].get<double>(), 1e-8);
    EXPECT_EQ(chrf_name(options), expected["name"]);
    EXPECT_EQ(chrf_signature(static_cast<std::int64_t>(references.size()), options),
              expected["signature"].get<std::string>() + "|version:verso-0.1.0");
  }
}

TEST(Chrf, EqualsSacrebleuOnInventedSentences) { check_fixture("sentences.json"); }
TEST(Chrf, EqualsSacrebleuOnInventedCorpora) { check_fixture("corpora.json"); }

TEST(Chrf, PassesEverySacrebleuTestCase) {
  const auto path = test::shared_data() / "bleu_sacrebleu_cases/cases.json";
  SKIP_WITHOUT(path);
  int seen = 0;
  for (const Json& item : test::read_json(path)) {
    const bool sentence = item["metric"] == "sentence-chrf";
    if (item["metric"] != "chrf" && !sentence) continue;
    ++seen;
    SCOPED_TRACE(item.dump());
    const std::string settings = item["settings"];
    ChrfOptions options{.beta = 3};
    if (settings == "chrF2 (beta 2), eps smoothing") {
      options = {.beta = 2, .eps_smoothing = true};
    } else if (settings == "beta 3, char 6, word 0, eps smoothing") {
      options.eps_smoothing = true;
    } else if (settings == "beta 3, char 6, word 0, white space kept") {
      options.whitespace = true;
    } else {
      ASSERT_EQ(settings, "beta 3, char 6, word 0, no eps smoothing (effective order)");
    }
    const auto hypotheses = item["hyp"].get<Lines>();
    const auto references = item["refs"].get<std::vector<Lines>>();
    const double score = sentence ? sentence_chrf(hypotheses[0], references[0], options).score
                                  : corpus_chrf(hypotheses, references, options).score;
    EXPECT_NEAR(score, item["expected"].get<double>(), item["tol"].get<double>());
  }
  EXPECT_EQ(seen, 25);
}

/// Expected numbers from sacreBLEU 2.6.0.
TEST(Chrf, EqualsSacrebleuOnARealTestSet) {
  const auto folder = test::shared_data() / "bleu_tensorflow_nmt";
  SKIP_WITHOUT(folder);
  const Lines hypotheses = test::read_lines(folder / "deen_output");
  Lines references = test::read_lines(folder / "deen_ref_bpe");
  for (std::string& line : references) {
    for (std::size_t at; (at = line.find("@@ ")) != std::string::npos;) line.erase(at, 3);
  }
  const auto score = [&](const ChrfOptions& options) {
    return corpus_chrf(hypotheses, {references}, options).score;
  };
  EXPECT_NEAR(score({}), 49.2216105493155, 1e-9);
  EXPECT_NEAR(score({.word_order = 2}), 47.53617964692479, 1e-9);
  EXPECT_NEAR(score({.whitespace = true, .eps_smoothing = true}), 55.27800079906465, 1e-9);
}

TEST(Chrf, NothingToCompareScoresZero) {
  EXPECT_EQ(corpus_chrf({}, {{}}).score, 0);
  EXPECT_EQ(corpus_chrf({""}, {{""}}).score, 0);
  EXPECT_EQ(corpus_chrf({"a"}, {{""}}, {.word_order = 2}).score, 0);
}

TEST(Chrf, BadInputIsAnError) {
  EXPECT_THROW((void)corpus_chrf({"a"}, {{"a", "b"}}), DataError);
  EXPECT_THROW((void)corpus_chrf({"a"}, {{"a"}}, {.char_order = 0}), UsageError);
  EXPECT_THROW((void)corpus_chrf({"a"}, {{"a"}}, {.word_order = -1}), UsageError);
  EXPECT_THROW((void)corpus_chrf({"a"}, {{"a"}}, {.beta = 0}), UsageError);
}

RC_GTEST_PROP(Chrf, AnyBytesGiveAFiniteScore, ()) {
  const auto hypothesis = *rc::gen::string<std::string>();
  const auto reference = *rc::gen::string<std::string>();
  for (const bool smoothed : {false, true}) {
    const ChrfOptions options{.word_order = 2, .eps_smoothing = smoothed};
    const double score = corpus_chrf({hypothesis}, {{reference}}, options).score;
    RC_ASSERT(score >= 0 && score <= 100 + 1e-9);
  }
}

}  // namespace
}  // namespace verso
