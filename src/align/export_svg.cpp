#include <algorithm>
#include <cmath>

#include "align/display.h"
#include "align/export.h"
#include "base/text.h"

namespace verso {
namespace {

constexpr std::int64_t kLabelColumns = 28;  // longer tokens are cut; their tooltip has the whole
constexpr double kGap = 6;                  // between labels and matrix
constexpr double kMargin = 10;
constexpr double kLegendHeight = 30;
constexpr double kLegendWidth = 290;
constexpr double kLabelDegrees = 60;
// Around a token in running text, so that it does not turn what stands beside it.
constexpr std::string_view kIsolate = "\u2068", kEndIsolate = "\u2069";

constexpr std::string_view kStyle = R"(<style>
.paper{fill:#fff}
.word{fill:#1f2328}
.note{fill:#6a737d;font-size:11px}
.cell{fill:#174ea6;stroke:#d5dbe1;stroke-width:.6}
.best{fill:none;stroke:#e8710a;stroke-width:1.6}
text{font-family:system-ui,"Noto Sans",sans-serif}
@media (prefers-color-scheme:dark){
.paper{fill:#15181c}
.word{fill:#e6e9ed}
.note{fill:#98a1ab}
.cell{fill:#8ab4f8;stroke:#333a42}
.best{stroke:#fdae61}
}
</style>
)";

struct Label {
  std::string shown, whole;  // both fit for markup
  double width = 0;
};

struct Layout {
  double cell, font;
  double left, top;  // of the matrix
  double width, height;
};

/// Sizes cannot be measured here: letters are taken a little wider than usual fonts have them.
std::vector<Label> labels_of(const std::vector<std::string>& tokens, bool end, double font) {
  std::vector<Label> out;
  const auto add = [&](std::string_view token) {
    const std::string text = visible(token);
    const std::string shown = shorten(text, kLabelColumns);
    out.push_back({escape_markup(shown), escape_markup(text),
                   static_cast<double>(display_width(shown)) * 0.64 * font + 2});
  };
  for (const std::string& token : tokens) add(token);
  if (end) add(kEndLabel);
  return out;
}

double widest(const std::vector<Label>& labels) {
  double width = 0;
  for (const Label& label : labels) width = std::max(width, label.width);
  return width;
}

/// `value` with at most two decimals, for coordinates.
std::string number(double value) {
  std::string out;
  append_fixed(out, value, 2);
  while (out.ends_with('0')) out.pop_back();
  if (out.ends_with('.')) out.pop_back();
  return out;
}

Layout lay_out(const std::vector<Label>& sources, const std::vector<Label>& targets, double cell,
               double font) {
  const double lean = kLabelDegrees * std::acos(-1.0) / 180;
  Layout layout{cell, font, 0, 0, 0, 0};
  layout.left = kMargin + widest(targets) + kGap;
  layout.top = kMargin + widest(sources) * std::sin(lean) + font + kGap;
  double right = static_cast<double>(sources.size()) * cell;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const double start = (static_cast<double>(i) + 0.5) * cell;
    right = std::max(right, start + sources[i].width * std::cos(lean) + font / 2);
  }
  layout.width = std::max(layout.left + right, kLegendWidth) + kMargin;
  layout.height = layout.top + static_cast<double>(targets.size()) * cell + kLegendHeight + kMargin;
  return layout;
}

std::string label_text(const Label& label, double x, double y, std::string_view anchor, double font,
                       double degrees) {
  const std::string where = degrees == 0 ? cat("x=\"", number(x), "\" y=\"", number(y), '"')
                                         : cat("transform=\"translate(", number(x), ' ', number(y),
                                               ") rotate(", number(degrees), ")\"");
  const std::string tooltip =
      label.shown == label.whole ? "" : cat("<title>", label.whole, "</title>");
  return cat("<text class=\"word\" ", where, " text-anchor=\"", anchor, "\" font-size=\"",
             number(font), "\">", tooltip, label.shown, "</text>\n");
}

std::string cell_box(std::string_view kind, double x, double y, double size) {
  return cat("<rect class=\"", kind, "\" x=\"", number(x), "\" y=\"", number(y), "\" width=\"",
             number(size), "\" height=\"", number(size), '"');
}

std::string cells(const SoftAlignment& alignment, const std::vector<Label>& sources,
                  const std::vector<Label>& targets, const Layout& layout) {
  std::string out, frames;
  const auto real_columns = static_cast<std::int64_t>(alignment.source.size());
  for (std::int64_t row = 0; row < alignment.target_rows(); ++row) {
    const double y = layout.top + static_cast<double>(row) * layout.cell;
    std::int64_t best = 0;
    for (std::int64_t column = 0; column < alignment.source_columns(); ++column) {
      const float weight = alignment.at(row, column);
      if (column < real_columns && weight > alignment.at(row, best)) best = column;
      std::string value, opacity;
      append_fixed(value, weight, 4);
      append_fixed(opacity, std::clamp(weight, 0.0F, 1.0F), 3);
      out += cat(
          cell_box("cell", layout.left + static_cast<double>(column) * layout.cell, y, layout.cell),
          " fill-opacity=\"", opacity, "\"><title>", kIsolate,
          targets[static_cast<std::size_t>(row)].whole, kEndIsolate, " ← ", kIsolate,
          sources[static_cast<std::size_t>(column)].whole, kEndIsolate, "  ", value,
          "</title></rect>\n");
    }
    const bool is_word = row < static_cast<std::int64_t>(alignment.target.size());
    if (is_word && real_columns > 0) {
      // Inside its cell, and deaf to the pointer: the cell's tooltip has to be reachable.
      frames += cat(cell_box("best", layout.left + static_cast<double>(best) * layout.cell + 1.5,
                             y + 1.5, layout.cell - 3),
                    " pointer-events=\"none\"/>\n");
    }
  }
  return out + frames;
}

std::string legend(const Layout& layout) {
  const double y = layout.height - kMargin - 14;
  std::string out = cat("<text class=\"note\" x=\"", number(kMargin), "\" y=\"", number(y + 11),
                        "\">columns: source, rows: target, weight 0</text>\n");
  double x = kMargin + 212;
  for (int step = 0; step <= 4; ++step, x += 12) {
    out += cat(cell_box("cell", x, y + 1, 12), " fill-opacity=\"", number(step / 4.0), "\"/>\n");
  }
  return out + cat("<text class=\"note\" x=\"", number(x + 4), "\" y=\"", number(y + 11),
                   "\">1</text>\n");
}

}  // namespace

std::string svg_picture(const SoftAlignment& alignment, std::string_view title) {
  check_alignment(alignment);
  const std::int64_t longest = std::max(alignment.source_columns(), alignment.target_rows());
  const double cell = longest > 40 ? 15 : longest > 20 ? 19 : 24;
  const double font = cell > 20 ? 13 : 12;
  const auto sources = labels_of(alignment.source, alignment.source_end, font);
  const auto targets = labels_of(alignment.target, alignment.target_end, font);
  const Layout layout = lay_out(sources, targets, cell, font);
  const std::string size = cat(number(layout.width), ' ', number(layout.height));

  std::string out = cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number(layout.width),
                        "\" height=\"", number(layout.height), "\" viewBox=\"0 0 ", size,
                        "\" role=\"img\">\n", "<title>", escape_markup(title), "</title>\n", kStyle,
                        "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const double x = layout.left + (static_cast<double>(i) + 0.5) * cell + font * 0.3;
    out += label_text(sources[i], x, layout.top - kGap, "start", font, -kLabelDegrees);
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double y = layout.top + (static_cast<double>(i) + 0.5) * cell + font * 0.35;
    out += label_text(targets[i], layout.left - kGap, y, "end", font, 0);
  }
  return out + cells(alignment, sources, targets, layout) + legend(layout) + "</svg>\n";
}

}  // namespace verso
