#include "metrics/bleu.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/metrics/test_data.h"

namespace verso {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

BleuOptions options_from(const Json& json) {
  BleuOptions options;
  const std::string tokenizer = json.value("tokenize", "13a");
  options.tokenizer = tokenizer == "13a"    ? BleuTokenizer::k13a
                      : tokenizer == "none" ? BleuTokenizer::kNone
                      : tokenizer == "intl" ? BleuTokenizer::kIntl
                                            : BleuTokenizer::kChar;
  EXPECT_EQ(tokenizer_name(options.tokenizer), tokenizer);
  const std::string smoothing = json.value("smooth_method", "exp");
  options.smoothing = smoothing == "exp"     ? BleuSmoothing::kExp
                      : smoothing == "floor" ? BleuSmoothing::kFloor
                      : smoothing == "add-k" ? BleuSmoothing::kAddK
                                             : BleuSmoothing::kNone;
  if (json.contains("smooth_value") && !json["smooth_value"].is_null()) {
    options.smoothing_value = json["smooth_value"].get<double>();
  }
  options.lowercase = json.value("lowercase", false);
  options.effective_order = json.value("effective_order", false);
  options.max_order = json.value("max_ngram_order", 4);
  return options;
}

void expect_close(double value, double expected, double tolerance) {
  EXPECT_NEAR(value, expected, std::max(tolerance, tolerance * std::abs(expected)));
}

void check_fixture(const std::string& name) {
  const Json file = test::read_json(test::tests_folder() / "fixtures/metrics" / name);
  for (std::size_t i = 0; i < file["cases"].size(); ++i) {
    SCOPED_TRACE(name + ", case " + std::to_string(i));
    const Json& item = file["cases"][i];
    const Json& expected = item["bleu"]["expected"];
    const BleuOptions options = options_from(item["bleu"]["options"]);
    const auto references = item["references"].get<std::vector<Lines>>();
    const BleuScore score = corpus_bleu(item["hypotheses"].get<Lines>(), references, options);
    expect_close(score.score, expected["score"], 1e-9);
    expect_close(score.brevity_penalty, expected["bp"], 1e-12);
    EXPECT_EQ(score.counts, expected["counts"].get<std::vector<std::int64_t>>());
    EXPECT_EQ(score.totals, expected["totals"].get<std::vector<std::int64_t>>());
    EXPECT_EQ(score.sys_len, expected["sys_len"].get<std::int64_t>());
    EXPECT_EQ(score.ref_len, expected["ref_len"].get<std::int64_t>());
    ASSERT_EQ(score.precisions.size(), expected["precisions"].size());
    for (std::size_t n = 0; n < score.precisions.size(); ++n) {
      expect_close(score.precisions[n], expected["precisions"][n], 1e-12);
    }
    EXPECT_EQ(bleu_signature(static_cast<std::int64_t>(references.size()), options),
              expected["signature"].get<std::string>() + "|version:verso-0.1.0");
  }
}

TEST(Bleu, EqualsSacrebleuOnInventedSentences) { check_fixture("sentences.json"); }
TEST(Bleu, EqualsSacrebleuOnInventedCorpora) { check_fixture("corpora.json"); }

/// Reads the `settings` text of a case of sacreBLEU's own tests.
BleuOptions options_from_words(const std::string& settings) {
  std::istringstream in(settings);
  Json json = Json::object();
  if (settings.starts_with("raw_corpus_bleu")) {
    json = {{"tokenize", "none"},
            {"smooth_method", "floor"},
            {"smooth_value", 0.01},
            {"effective_order", true}};
  } else if (const auto brace = settings.find('{'); brace != std::string::npos) {
    json = Json::parse(settings.substr(brace));
  } else if (settings.starts_with("smooth")) {
    std::string word, method, value, lower, tokenizer;
    in >> word >> method >> word >> value >> word >> lower >> word >> tokenizer;
    json = {{"smooth_method", method},
            {"tokenize", tokenizer},
            {"lowercase", lower == "True"},
            {"effective_order", true}};
    if (value != "None") json["smooth_value"] = std::stod(value);
  } else if (settings.starts_with("max_ngram_order")) {
    std::string word;
    int order = 0;
    in >> word >> order;
    json["max_ngram_order"] = order;
  } else if (!settings.starts_with("corpus_bleu default")) {
    ADD_FAILURE() << "a case with settings the test does not know: " << settings;
  }
  return options_from(json);
}

TEST(Bleu, PassesEverySacrebleuTestCase) {
  const auto path = test::shared_data() / "bleu_sacrebleu_cases/cases.json";
  SKIP_WITHOUT(path);
  int seen = 0;
  for (const Json& item : test::read_json(path)) {
    if (item["metric"] != "bleu" && item["metric"] != "sentence-bleu") continue;
    ++seen;
    SCOPED_TRACE(item.dump());
    const BleuOptions options = options_from_words(item["settings"]);
    const double expected = item["expected"], tolerance = item["tol"];
    const auto hypotheses = item["hyp"].get<Lines>();
    const auto references = item["refs"].get<std::vector<Lines>>();
    EXPECT_NEAR(corpus_bleu(hypotheses, references, options).score, expected, tolerance);
    if (item["metric"] == "sentence-bleu") {
      EXPECT_NEAR(sentence_bleu(hypotheses[0], references[0], options).score, expected, tolerance);
    }
  }
  EXPECT_EQ(seen, 36);
}

/// 3000 lines of German-English output; expected numbers from sacreBLEU 2.6.0 and, for white space
/// only, from the set's own description.
TEST(Bleu, EqualsSacrebleuOnARealTestSet) {
  const auto folder = test::shared_data() / "bleu_tensorflow_nmt";
  SKIP_WITHOUT(folder);
  const Lines hypotheses = test::read_lines(folder / "deen_output");
  Lines references = test::read_lines(folder / "deen_ref_bpe");
  for (std::string& line : references) {
    for (std::size_t at; (at = line.find("@@ ")) != std::string::npos;) line.erase(at, 3);
  }
  const auto score = [&](const BleuOptions& options) {
    return corpus_bleu(hypotheses, {references}, options).score;
  };
  EXPECT_NEAR(score({.tokenizer = BleuTokenizer::kNone, .smoothing = BleuSmoothing::kNone}),
              22.584677521248828, 1e-9);
  EXPECT_NEAR(score({}), 22.426748946784404, 1e-9);
  EXPECT_NEAR(score({.tokenizer = BleuTokenizer::kIntl}), 23.845299676522473, 1e-9);
  EXPECT_NEAR(score({.tokenizer = BleuTokenizer::kChar}), 54.65218063524971, 1e-9);
  EXPECT_NEAR(score({.lowercase = true}), 23.548409857594965, 1e-9);
}

TEST(Bleu, PartsArePrintedAsSacrebleuDoes) {
  const BleuScore score =
      corpus_bleu({"the cat sat on the mat today ."}, {{"the cat sat on a mat ."}}, BleuOptions{});
  EXPECT_EQ(bleu_details(score),
            "75.0/42.9/33.3/20.0 (BP = 1.000 ratio = 1.143 hyp_len = 8 ref_len = 7)");
}

TEST(Bleu, NothingToCompareScoresZero) {
  EXPECT_EQ(corpus_bleu({}, {{}}).score, 0);
  EXPECT_EQ(corpus_bleu({""}, {{""}}).score, 0);
  EXPECT_EQ(corpus_bleu({""}, {{"a b"}}).score, 0);
  EXPECT_EQ(corpus_bleu({"a b"}, {{""}}).score, 0);
  EXPECT_EQ(bleu_details(corpus_bleu({""}, {{""}})),
            "0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)");
}

TEST(Bleu, CountsHypothesesThatLookTokenized) {
  EXPECT_EQ(corpus_bleu({"a .", "a.", "."}, {{"a", "a", "a"}}).tokenized_hypotheses, 1);
}

TEST(Bleu, UnequalLineCountsAreAnError) {
  try {
    (void)corpus_bleu({"a", "b"}, {{"a", "b"}, {"a"}});
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(),
                 "reference set 2 has 1 lines, but there are 2 hypotheses: expected one reference "
                 "a hypothesis");
  }
  EXPECT_THROW((void)corpus_bleu({"a"}, {}), DataError);
}

TEST(Bleu, BadOptionsAreAnError) {
  EXPECT_THROW((void)corpus_bleu({"a"}, {{"a"}}, {.max_order = 0}), UsageError);
  EXPECT_THROW((void)corpus_bleu({"a"}, {{"a"}}, {.max_order = 17}), UsageError);
  EXPECT_THROW((void)corpus_bleu({"a"}, {{"a"}}, {.smoothing_value = -1.0}), UsageError);
  EXPECT_THROW((void)corpus_bleu({"a"}, {{"a"}},
                                 {.smoothing_value = std::numeric_limits<double>::quiet_NaN()}),
               UsageError);
}

RC_GTEST_PROP(Bleu, AnyBytesGiveAFiniteScore, ()) {
  const auto hypothesis = *rc::gen::string<std::string>();
  const auto reference = *rc::gen::string<std::string>();
  for (const auto tokenizer : {BleuTokenizer::k13a, BleuTokenizer::kIntl, BleuTokenizer::kChar}) {
    for (const auto smoothing :
         {BleuSmoothing::kExp, BleuSmoothing::kFloor, BleuSmoothing::kAddK, BleuSmoothing::kNone}) {
      const BleuOptions options{
          .tokenizer = tokenizer, .smoothing = smoothing, .smoothing_value = 0.0};
      const double score = corpus_bleu({hypothesis}, {{reference}}, options).score;
      RC_ASSERT(score >= 0 && score <= 100 + 1e-9);
    }
  }
}

RC_GTEST_PROP(Bleu, ALongLineScores100AgainstItself, ()) {
  const auto words = *rc::gen::suchThat(
      rc::gen::container<Lines>(rc::gen::nonEmpty(
          rc::gen::container<std::string>(rc::gen::element('a', 'b', '1', '.', ',', '-', '&')))),
      [](const Lines& list) { return list.size() >= 4; });
  std::string line;
  for (const std::string& word : words) line += word + " ";
  RC_ASSERT(std::abs(corpus_bleu({line}, {{line}}).score - 100) < 1e-9);
}

}  // namespace
}  // namespace verso
