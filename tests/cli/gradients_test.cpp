// verso gradients: the same attention as align's, its gradients, and how exact they are.
#include "tests/cli/toy.h"

namespace verso::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPairs = "a b c\tA B C\nd\tD\n\tA\nh g\tH G A\n";

double largest(const Json& differences) {
  double most = 0;
  for (const auto& value : differences) most = std::max(most, value.get<double>());
  return most;
}

TEST(Gradients, GiveARecordForEachPairWithTheAttentionOfAlign) {
  const std::string& model = SharedModels::get().toy();
  const Result found = run({"gradients", model, "--format", "json"}, kPairs);
  ASSERT_EQ(found.code, 0) << found.err;
  const Result aligned = run({"align", model, "--format", "json", "--with-end"}, kPairs);
  const Lines records = split_lines(found.out), alignments = split_lines(aligned.out);
  ASSERT_EQ(records.size(), 4U);
  ASSERT_EQ(alignments.size(), 4U);
  for (std::size_t i : {0, 1, 3}) {
    const Json record = Json::parse(records[i]), alignment = Json::parse(alignments[i]);
    EXPECT_EQ(record["id"], i);
    EXPECT_EQ(record["target"], alignment["target"]);
    const Json &alpha = record["alpha"], &matrix = alignment["matrix"];
    ASSERT_EQ(alpha.size(), matrix.size());
    for (std::size_t t = 0; t < alpha.size(); ++t) {
      ASSERT_EQ(alpha[t].size(), matrix[t].size());
      for (std::size_t j = 0; j < alpha[t].size(); ++j) {
        EXPECT_NEAR(alpha[t][j].get<double>(), matrix[t][j].get<double>(), 1e-5);
      }
    }
    EXPECT_NEAR(record["loss"].get<double>(), -alignment["score"].get<double>(), 1e-4);
    EXPECT_EQ(record["from_autograd"].size(), 8U);
    EXPECT_LE(largest(record["from_autograd"]), 1e-10);
    EXPECT_FALSE(record.contains("from_central"));
  }
  const Json empty = Json::parse(records[2]);
  EXPECT_TRUE(empty["source"].empty());
  EXPECT_EQ(empty["target"], Json({"A"}));
  EXPECT_TRUE(empty["alpha"].empty());
}

TEST(Gradients, AreCheckedByCentralDifferencesOnRequest) {
  const std::string& model = SharedModels::get().toy();
  const Result found = run({"gradients", model, "--format", "json", "--check"}, "a b\tA B\n");
  ASSERT_EQ(found.code, 0) << found.err;
  const Json record = Json::parse(found.out);
  EXPECT_EQ(record["from_central"].size(), 10U);
  EXPECT_LE(largest(record["from_central"]), 1e-6);
  EXPECT_EQ(run({"gradients", model, "--check", "--precision", "float"}, "a\tA\n").code, 2);
}

TEST(Gradients, AreExactToFloatInFloat) {
  const std::string& model = SharedModels::get().toy();
  const Result found =
      run({"gradients", model, "--format", "json", "--precision", "float"}, "a b\tA B\n");
  ASSERT_EQ(found.code, 0) << found.err;
  const double difference = largest(Json::parse(found.out)["from_autograd"]);
  EXPECT_LE(difference, 1e-4);
  EXPECT_GT(difference, 1e-10);
}

TEST(Gradients, AreTablesForPeople) {
  const std::string& model = SharedModels::get().toy();
  const Result found = run({"gradients", model}, "a b\tA B\n\tA\n");
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out,
              AllOf(HasSubstr("pair 0\nL = -log p(target | source) = "), HasSubstr("alpha_tj"),
                    HasSubstr("advantage_tj"), HasSubstr("recurrent"), HasSubstr("</s>"),
                    HasSubstr("largest relative difference from autograd"),
                    HasSubstr("pair 1\na side has no token")));
}

TEST(Gradients, ArePicturesOnOnePage) {
  const std::string& model = SharedModels::get().toy();
  const Result found = run({"gradients", model, "--format", "html"}, kPairs);
  ASSERT_EQ(found.code, 0) << found.err;
  const std::string begin = "id=\"data\">\n";
  const std::size_t at = found.out.find(begin);
  ASSERT_NE(at, std::string::npos);
  const std::size_t from = at + begin.size();
  const Json data = Json::parse(found.out.substr(from, found.out.find("</script>", from) - from));
  ASSERT_EQ(data["pairs"].size(), 4U);
  EXPECT_EQ(data["pairs"][1]["target"], Json({"D", "</s>"}));
  EXPECT_EQ(data["pairs"][0]["snapshots"].size(), 1U);
  EXPECT_THAT(found.out, AllOf(HasSubstr("<!DOCTYPE html>"), Not(HasSubstr("id=\"curves\""))));
}

TEST(Gradients, AreThoseOfOneModel) {
  const std::string& model = SharedModels::get().toy();
  const Result found = run({"gradients", model, model}, "a\tA\n");
  EXPECT_EQ(found.code, 2);
  EXPECT_EQ(run({"gradients", model, "--kernels", "fused"}, "a\tA\n").code, 2);
}

}  // namespace
}  // namespace verso::cli
