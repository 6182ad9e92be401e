#include "align/display.h"
#include "align/export.h"
#include "align/look.css.h"
#include "align/pairs.css.h"
#include "align/pairs.js.h"
#include "base/text.h"

namespace verso {
namespace {

constexpr int kWeightScale = 10000;  // the page's script divides by it

constexpr std::string_view kIntroduction =
    "<p class=\"note\">Source above, target below it. Point at or tap a word to see the words it "
    "is "
    "aligned to, or a cell to see its weight. Rows are target words, columns source words; each "
    "target word's strongest source word is framed.</p>\n"
    "<noscript><p class=\"note\">The pictures need JavaScript, which is off.</p></noscript>\n";

std::string words_line(const std::vector<std::string>& tokens, std::string_view side) {
  std::string out = cat("<p class=\"", side, "\" dir=\"auto\">");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) out += ' ';
    out += cat("<span>", escape_markup(tokens[i]), "</span>");
  }
  return out + "</p>\n";
}

/// Weights as integers: a third of the size of decimals, and short for the many that are next to 0.
std::string weight_list(const SoftAlignment& alignment) {
  std::string out;
  for (const float weight : alignment.weights) {
    if (!out.empty()) out += ' ';
    append_fixed(out, static_cast<double>(weight) * kWeightScale, 0);
  }
  return out;
}

}  // namespace

std::string html_begin(std::string_view title) {
  const std::string shown = escape_markup(title);
  return cat(
      "<!DOCTYPE html>\n"
      "<html xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<title>",
      shown, "</title>\n<style>\n", kLookCss, kPairsCss, "</style>\n</head>\n<body>\n<h1>", shown,
      "</h1>\n", kIntroduction);
}

std::string html_pair(const SoftAlignment& alignment, std::int64_t id) {
  check_alignment(alignment);
  std::string score;
  if (alignment.target_rows() > 0) score = cat("log probability ", fixed(alignment.score, 2));
  // Room is kept for the picture, so that the page does not jump while pictures come.
  const std::int64_t height = 24 * alignment.target_rows() + 90;
  return cat("<div class=\"pair\" id=\"pair-", id, "\" data-source-end=\"",
             alignment.source_end ? 1 : 0, "\" data-target-end=\"", alignment.target_end ? 1 : 0,
             "\" data-weights=\"", weight_list(alignment), "\">\n<h2><a href=\"#pair-", id,
             "\">pair ", id, "</a> <small>", score, "</small></h2>\n",
             words_line(alignment.source, "source"), words_line(alignment.target, "target"),
             "<div class=\"picture\" style=\"min-height:", alignment.weights.empty() ? 0 : height,
             "px\"></div>\n</div>\n");
}

std::string html_end() {
  return cat("<script>\n//<![CDATA[\n", kPairsJs, "//]]>\n</script>\n</body>\n</html>\n");
}

}  // namespace verso
