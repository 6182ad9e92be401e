#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/page_data.h"
#include "tests/report/support.h"

namespace verso {
namespace {

using nlohmann::json;
using test::Folder;
using test::probe_line;
using test::some_record;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kHostile = {"</script><script>alert(1)</script>",
                                           "<!--",
                                           "]]>",
                                           "&",
                                           "\"",
                                           "\x01",
                                           "\xe2\x80\xae"
                                           "abc",
                                           "\xe2\x80\xa8"};

RunRecord hostile_run() {
  RunRecord run;
  run.folder = "runs/<b>&\"";
  run.config = "{\n  \"note\": \"</pre><script>\x02\"\n}\n";
  run.end = {3, "</dd><script>"};
  run.pairs = {read_probed_pair(probe_line(1, 0, some_record(kHostile, kHostile)))};
  return run;
}

json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = page.find(begin) + begin.size();
  return json::parse(page.substr(from, page.find("</script>", from) - from));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

TEST(ReportPage, HostileWordsStayWordsAndNothingIsFetched) {
  const std::string page = report_page(hostile_run());
  EXPECT_EQ(count(page, "<script"), 2U);  // data and program
  EXPECT_EQ(count(page, "</script>"), 2U);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("src=")), Not(HasSubstr("https:"))));
  const json pair = data_of(page)["pairs"][0];
  EXPECT_EQ(pair["source"][0], kHostile[0]);
  EXPECT_EQ(pair["source"].size(), kHostile.size() + 1);
  EXPECT_EQ(page.find('\x01'), std::string::npos);
  EXPECT_EQ(page.find('\x02'), std::string::npos);
}

TEST(ReportPage, IsWellFormed) {
  if (std::system("xmllint --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no xmllint here";
  const Folder folder("page");
  folder.write("hostile", report_page(hostile_run()));
  folder.write("empty", report_page({}));
  folder.write("gradients", gradients_page(hostile_run().pairs));
  for (const char* name : {"hostile", "empty", "gradients"}) {
    EXPECT_EQ(std::system(cat("xmllint --noout --huge ", folder.path(name)).c_str()), 0) << name;
  }
}

TEST(ReportPage, TellsWhatIsMissing) {
  const std::string page = report_page({});
  EXPECT_THAT(page, HasSubstr("Nothing has been recorded yet"));
  EXPECT_THAT(page, HasSubstr("config.json is empty or missing"));
  EXPECT_THAT(page, HasSubstr("This run was not probed"));
  EXPECT_THAT(page, Not(HasSubstr("id=\"slider\"")));
}

TEST(ReportPage, SumsUpTheRun) {
  const Folder folder("sum");
  folder.write("config.json", "{}");
  folder.write("metrics.jsonl",
               "{\"kind\":\"train\",\"update\":5,\"epoch\":0.5,\"loss\":4.25,\"perplexity\":70.1,"
               "\"tokens_per_second\":1000,\"elapsed\":3725}\n"
               "{\"kind\":\"validation\",\"update\":5,\"bleu\":12.345,\"metric\":\"bleu\","
               "\"best\":12.345,\"best_update\":5,\"bleu_signature\":\"nrefs:1\"}\nnonsense\n");
  const std::string page = report_page(read_run(folder.path() + "/"));
  EXPECT_THAT(page, AllOf(HasSubstr("loss 4.2500, perplexity 70.10 (update 5)"),
                          HasSubstr("bleu 12.35"), HasSubstr("1 h 02 min"),
                          HasSubstr("1000 target tokens/s"), HasSubstr("bleu 12.3450 at update 5"),
                          HasSubstr("1 damaged line of metrics.jsonl is left out"),
                          HasSubstr("no end is recorded")));
  EXPECT_THAT(page, HasSubstr("<h1>Report: verso-report-sum"));
}

TEST(PageData, LongRunsAreThinnedWithTheirEndsKept) {
  RunRecord run;
  run.train.names = {"loss"};
  run.train.columns.resize(1);
  for (std::int64_t update = 1; update <= 5001; ++update) {
    run.train.updates.push_back(update);
    run.train.columns[0].push_back(static_cast<double>(update));
  }
  ProbePair pair = read_probed_pair(probe_line(0, 0, some_record({"a"}, {"x"})));
  for (std::int64_t update = 1; update < 1000; ++update) {
    pair.snapshots.push_back(pair.snapshots[0]);
    pair.snapshots.back().update = update;
  }
  run.pairs = {pair};
  const json data = json::parse(page_data(run));
  EXPECT_EQ(data["train"]["update"].size(), 1667U);  // means of three
  EXPECT_EQ(data["train"]["update"][0], 3);
  EXPECT_EQ(data["train"]["loss"][0], 2);
  EXPECT_EQ(data["train"]["update"].back(), 5001);
  const auto& snapshots = data["pairs"][0]["snapshots"];
  ASSERT_EQ(snapshots.size(), kMostSnapshots);
  EXPECT_EQ(snapshots.front()["update"], 0);
  EXPECT_EQ(snapshots.back()["update"], 999);
}

TEST(PageData, MatricesArePackedInTwoBytesANumber) {
  RunRecord run;
  run.pairs = {read_probed_pair(probe_line(1, 0, some_record({}, {}), ""))};
  run.pairs[0].snapshots[0].alpha = {{0, 32767, PackedMatrix::kMissing, -1}, 1};
  const json data = json::parse(page_data(run));
  EXPECT_EQ(data["pairs"][0]["snapshots"][0]["alpha"], "AAD/fwCA//8=");
}

TEST(GradientsPage, OfNoPairsSaysSo) {
  const std::string page = gradients_page({});
  EXPECT_THAT(page, AllOf(HasSubstr("No pairs were given"), Not(HasSubstr("id=\"slider\""))));
}

TEST(GradientsPage, HasPicturesAndNoCurves) {
  const std::string page =
      gradients_page({read_probed_pair(probe_line(0, 0, some_record({"a", "b"}, {"x"})))});
  EXPECT_THAT(page, AllOf(HasSubstr("id=\"pairs\""), Not(HasSubstr("id=\"curves\"")),
                          Not(HasSubstr("pair of the probe"))));
  EXPECT_THAT(data_of(page)["pairs"][0]["target"].get<std::vector<std::string>>(),
              ElementsAre("x", "</s>"));
}

}  // namespace
}  // namespace verso
