#include "align/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <sstream>

#include "align/display.h"
#include "base/error.h"
#include "base/text.h"
#include "tests/metrics/test_data.h"

namespace verso {
namespace {

using testing::HasSubstr;
using testing::Not;
using Tokens = std::vector<std::string>;

SoftAlignment small() {
  return {.source = {"das", "Haus"},
          .target = {"the", "house"},
          .weights = {0.875F, 0.125F, 0.0F, 1.0F},
          .score = -0.25};
}

SoftAlignment uniform(Tokens source, Tokens target) {
  SoftAlignment alignment{.source = std::move(source), .target = std::move(target)};
  const auto columns = static_cast<float>(alignment.source_columns());
  alignment.weights.assign(alignment.source.size() * alignment.target.size(), 1 / columns);
  return alignment;
}

/// Markup, quotes, comment and CDATA ends, controls, an escape sequence, scripts from right to
/// left, marks that turn text around, noncharacters, invalid UTF-8, a very long word.
SoftAlignment nasty() {
  return uniform({"<b>", "&", "\"", "'", "]]>", "-->", "&amp;", "</script>", "你", "مر",
                  std::string("\0", 1), "\x1b[31m", "\x7f", "\xc2\x85", "\xe2\x80\xa8"},
                 {"<!--",
                  "\xe2\x80\xae"
                  "abc",
                  "\xef\xbf\xbf", "\xff\xfe", "|||", "שלום", "👩‍👩‍👧", "é́", "\\",
                  std::string(500, 'x'), "<![CDATA["});
}

/// Runs `text` through xmllint; "" when it is well-formed, else what xmllint says.
std::string xml_faults(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("verso_export_test." + std::to_string(::getpid()) + ".xml");
  std::ofstream(path, std::ios::binary) << text;
  const std::string command = "xmllint --huge --noout '" + path.string() + "' 2>&1";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  for (char buffer[4096]; std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr;) {
    output += buffer;
  }
  std::filesystem::remove(path);
  return output;
}

bool has_xmllint() { return std::system("xmllint --version >/dev/null 2>&1") == 0; }

std::string page_of(const std::vector<SoftAlignment>& pairs) {
  std::string page = html_begin("a <b> & \"c\"");
  std::int64_t id = 0;
  for (const SoftAlignment& pair : pairs) page += html_pair(pair, id++);
  return page + html_end();
}

TEST(JsonRecord, HoldsTokensMatrixAndScoreInOneLine) {
  EXPECT_EQ(json_record(small(), 7),
            "{\"id\":7,\"source\":[\"das\",\"Haus\"],\"target\":[\"the\",\"house\"],"
            "\"source_end\":false,\"target_end\":false,\"score\":-0.25,"
            "\"matrix\":[[0.875000,0.125000],[0.000000,1.000000]]}\n");
}

TEST(JsonRecord, SaysWhetherEndSymbolsAreThere) {
  SoftAlignment alignment{.source = {"a"},
                          .target = {},
                          .source_end = true,
                          .target_end = true,
                          .weights = {0.5F, 0.5F}};
  const auto json = nlohmann::json::parse(json_record(alignment, 0));
  EXPECT_EQ(json["source_end"], true);
  EXPECT_EQ(json["target_end"], true);
  EXPECT_EQ(json["matrix"], nlohmann::json::parse("[[0.5,0.5]]"));
}

TEST(JsonRecord, AnEmptyPairIsAnEmptyValidRecord) {
  const auto json = nlohmann::json::parse(json_record({}, 3));
  EXPECT_EQ(json["id"], 3);
  EXPECT_TRUE(json["source"].empty() && json["target"].empty() && json["matrix"].empty());
}

TEST(JsonRecord, ScoresThatAreNotFiniteAreNull) {
  SoftAlignment alignment = small();
  alignment.score = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(nlohmann::json::parse(json_record(alignment, 0))["score"].is_null());
}

TEST(JsonRecord, AnyTokenStaysValidJsonOnOneLine) {
  const std::string record = json_record(nasty(), 0);
  EXPECT_EQ(record.find('\n'), record.size() - 1);
  const auto json = nlohmann::json::parse(record);
  EXPECT_EQ(json["source"][0], "<b>");
  EXPECT_EQ(json["source"][10], std::string("\0", 1));
  EXPECT_EQ(json["matrix"].size(), 11U);
  EXPECT_EQ(json["matrix"][0].size(), 15U);
}

TEST(NematusRecord, HasEndRowsAndColumnsAlways) {
  EXPECT_EQ(nematus_record(small(), 5),
            "5 ||| the house ||| -0.250000 ||| das Haus ||| 3 3\n"
            "0.875000 0.125000 0.000000 \n"
            "0.000000 1.000000 0.000000 \n"
            "0.000000 0.000000 0.000000 \n"
            "\n");
  EXPECT_EQ(nematus_record({}, 0), "0 |||  ||| 0.000000 |||  ||| 1 1\n0.000000 \n\n");
}

TEST(NematusRecord, FieldSeparatorsInTheTextAreEscaped) {
  EXPECT_THAT(nematus_record(uniform({"|||"}, {"a|||b"}), 0),
              HasSubstr("0 ||| a|||b ||| 0.000000 ||| &#124;&#124;&#124; ||| 2 2\n"));
}

Tokens split_at(const std::string& text, const std::string& separator) {
  Tokens parts;
  std::size_t start = 0;
  for (std::size_t at; (at = text.find(separator, start)) != std::string::npos;
       start = at + separator.size()) {
    parts.push_back(text.substr(start, at - start));
  }
  parts.push_back(text.substr(start));
  return parts;
}

Tokens words(const std::string& text) {
  Tokens out;
  for (const auto word : split_tokens(text)) out.emplace_back(word);
  return out;
}

/// A file that Nematus wrote, read and written again, is the same but for the digits.
TEST(NematusRecord, KeepsTheFormOfAFileWrittenByNematus) {
  const auto path = test::shared_data() / "peer_alignment_formats/nematus.alignments.txt";
  SKIP_WITHOUT(path);
  const Tokens lines = test::read_lines(path);
  std::size_t at = 0;
  int records = 0;
  while (at < lines.size()) {
    const Tokens fields = split_at(lines[at++], " ||| ");
    ASSERT_EQ(fields.size(), 5U);
    SoftAlignment alignment{.source = words(fields[3]),
                            .target = words(fields[1]),
                            .source_end = true,
                            .target_end = true,
                            .score = std::stod(fields[2])};
    const std::size_t first = at;
    for (; at < lines.size() && !lines[at].empty(); ++at) {
      for (const auto& number : words(lines[at])) alignment.weights.push_back(std::stof(number));
    }
    const Tokens ours = split_at(nematus_record(alignment, std::stoll(fields[0])), "\n");
    Tokens header = split_at(ours[0], " ||| ");
    header[2] = fields[2];  // the score: 0 there, with decimals here
    EXPECT_EQ(header, fields);
    for (std::size_t i = first; i < at; ++i) {
      const std::string& line = ours[i - first + 1];
      EXPECT_EQ(line.back(), lines[i].back());
      const Tokens numbers = words(line), theirs = words(lines[i]);
      ASSERT_EQ(numbers.size(), theirs.size());
      for (std::size_t j = 0; j < numbers.size(); ++j) {
        EXPECT_NEAR(std::stod(numbers[j]), std::stod(theirs[j]), 1e-6);
      }
    }
    EXPECT_EQ(ours[at - first + 1], "");
    ++at;
    ++records;
  }
  EXPECT_EQ(records, 3);
}

TEST(SvgPicture, ShowsWordsAndValues) {
  const std::string svg = svg_picture(small());
  EXPECT_THAT(svg, HasSubstr(">Haus</text>"));
  EXPECT_THAT(svg, HasSubstr(">house</text>"));
  EXPECT_THAT(
      svg,
      HasSubstr("fill-opacity=\"0.875\"><title>\u2068the\u2069 ← \u2068das\u2069  0.8750</title>"));
}

TEST(SvgPicture, MarkupInTokensIsEscapedAndLongTokensAreCut) {
  const std::string svg = svg_picture(nasty(), "<title> & \x01");
  EXPECT_THAT(svg, HasSubstr(">&lt;b&gt;</text>"));
  EXPECT_THAT(svg, HasSubstr(">&amp;</text>"));
  EXPECT_THAT(svg, HasSubstr(">&quot;</text>"));
  EXPECT_THAT(svg, HasSubstr(">你</text>"));
  EXPECT_THAT(svg, HasSubstr(">مر</text>"));
  EXPECT_THAT(svg, HasSubstr(">␀</text>"));
  EXPECT_THAT(svg, HasSubstr("</title>" + std::string(27, 'x') + "…</text>"));
}

TEST(SvgPicture, IsWellFormedForAnyPair) {
  if (!has_xmllint()) GTEST_SKIP() << "xmllint is not here";
  EXPECT_EQ(xml_faults(svg_picture(nasty())), "");
  EXPECT_EQ(xml_faults(svg_picture({})), "");
  EXPECT_EQ(xml_faults(svg_picture(uniform({"a"}, {}))), "");
  EXPECT_EQ(xml_faults(svg_picture(uniform({}, {"a"}))), "");
  EXPECT_EQ(xml_faults(svg_picture(uniform(Tokens(60, "word"), Tokens(60, "Wort")))), "");
}

TEST(HtmlPage, IsWellFormedAndFetchesNothing) {
  const std::string page = page_of(
      {small(), nasty(), {}, uniform({"a"}, {}), uniform(Tokens(60, "s"), Tokens(60, "t"))});
  EXPECT_THAT(page, HasSubstr("data-weights=\"8750 1250 0 10000\""));
  EXPECT_THAT(page, HasSubstr("<span>&lt;b&gt;</span> <span>&amp;</span>"));
  EXPECT_THAT(page, HasSubstr("<h1>a &lt;b&gt; &amp; &quot;c&quot;</h1>"));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  if (!has_xmllint()) GTEST_SKIP() << "xmllint is not here";
  EXPECT_EQ(xml_faults(page), "");
}

TEST(HeatMap, HasAStrokeFromEachSourceWordToItsColumn) {
  EXPECT_EQ(heat_map(small()),
            "das\n"
            "│ Haus\n"
            "██░░  the\n"
            " ·██  house\n");
}

TEST(HeatMap, ColoursAreResetAtTheEndOfEachRow) {
  EXPECT_EQ(heat_map(uniform({"a"}, {"x"}), Colour::kAnsi), "a\n\x1b[48;5;18m  \x1b[0m  x\n");
}

TEST(HeatMap, TokensCannotSendControlsToTheTerminal) {
  const std::string map = heat_map(nasty());
  EXPECT_EQ(map.find('\x1b'), std::string::npos);
  EXPECT_EQ(map.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_FALSE(find_invalid_utf8(map));
  EXPECT_EQ(heat_map({}), "");
}

TEST(Export, EveryWriterRefusesNumbersThatAreNotFinite) {
  SoftAlignment alignment = small();
  alignment.weights[2] = std::numeric_limits<float>::infinity();
  EXPECT_THROW((void)json_record(alignment, 0), NumericError);
  EXPECT_THROW((void)nematus_record(alignment, 0), NumericError);
  EXPECT_THROW((void)svg_picture(alignment), NumericError);
  EXPECT_THROW((void)html_pair(alignment, 0), NumericError);
  EXPECT_THROW((void)heat_map(alignment), NumericError);
}

rc::Gen<Tokens> any_tokens() {
  return rc::gen::container<Tokens>(rc::gen::nonEmpty(rc::gen::string<std::string>()));
}

RC_GTEST_PROP(Export, AnyBytesStayValidJson, ()) {
  const SoftAlignment pair = uniform(*any_tokens(), *any_tokens());
  const auto json = nlohmann::json::parse(json_record(pair, 0));
  RC_ASSERT(json["source"].size() == pair.source.size());
  RC_ASSERT(json["matrix"].size() == pair.target.size());
}

TEST(Export, PagesAndPicturesOfAnyBytesAreWellFormed) {
  if (!has_xmllint()) GTEST_SKIP() << "xmllint is not here";
  std::vector<SoftAlignment> pairs;
  std::string pictures = "<all>";
  rc::check("gathers pairs", [&] {
    pairs.push_back(uniform(*any_tokens(), *any_tokens()));
    if (pairs.size() % 5 == 0) pictures += svg_picture(pairs.back());
  });
  EXPECT_EQ(xml_faults(page_of(pairs)), "");
  EXPECT_EQ(xml_faults(pictures + "</all>"), "");
}

TEST(Display, WidthsAreThoseOfATerminal) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("你好"), 4);
  EXPECT_EQ(display_width("é́"), 1);
  EXPECT_EQ(display_width("한국"), 4);
  EXPECT_EQ(display_width("👍"), 2);
  EXPECT_EQ(shorten("你好世界", 5), "你好…");
  EXPECT_EQ(shorten("abcde", 5), "abcde");
  EXPECT_EQ(shorten("abcdef", 5), "abcd…");
}

TEST(Display, NumbersHaveNoNegativeZero) {
  std::string out;
  append_fixed(out, -0.00001, 4);
  append_fixed(out, -0.5, 2);
  append_fixed(out, 1e-9, 3);
  EXPECT_EQ(out, "0.0000-0.500.000");
}

}  // namespace
}  // namespace verso
