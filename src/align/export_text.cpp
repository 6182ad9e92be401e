#include <algorithm>
#include <array>

#include "align/display.h"
#include "align/export.h"
#include "base/json.h"
#include "base/text.h"

namespace verso {
namespace {

constexpr int kMatrixDigits = 6;

void append_row(std::string& out, const SoftAlignment& alignment, std::int64_t row,
                std::string_view separator) {
  for (std::int64_t column = 0; column < alignment.source_columns(); ++column) {
    if (column > 0) out += separator;
    append_fixed(out, alignment.at(row, column), kMatrixDigits);
  }
}

std::string json_strings(const std::vector<std::string>& tokens) {
  std::string out = "[";
  for (const std::string& token : tokens) {
    if (out.size() > 1) out += ',';
    out += json_quote(token);
  }
  return out + "]";
}

std::string nematus_tokens(const std::vector<std::string>& tokens) {
  std::string out;
  for (const std::string& token : tokens) {
    if (!out.empty()) out += ' ';
    out += token == "|||" ? "&#124;&#124;&#124;" : token;
  }
  return out;
}

/// `alignment` with both end symbols; zeros for those that it has not.
SoftAlignment with_ends(const SoftAlignment& alignment) {
  SoftAlignment out;
  out.source = alignment.source;
  out.target = alignment.target;
  out.source_end = out.target_end = true;
  out.score = alignment.score;
  for (std::int64_t row = 0; row < out.target_rows(); ++row) {
    for (std::int64_t column = 0; column < out.source_columns(); ++column) {
      const bool known = row < alignment.target_rows() && column < alignment.source_columns();
      out.weights.push_back(known ? alignment.at(row, column) : 0.0F);
    }
  }
  return out;
}

/// A cell without colour: a dot keeps the eye in its row where the weight is too small for a shade.
std::string_view shade(float weight) {
  if (weight < 0.05F) return " ·";
  if (weight < 0.3F) return "░░";
  if (weight < 0.55F) return "▒▒";
  return weight < 0.8F ? "▓▓" : "██";
}

/// Background of the 256-colour palette, white to dark blue: set outright, so that it means the
/// same on light and on dark terminals.
std::string ansi_cell(float weight) {
  constexpr std::array<int, 9> kRamp = {255, 254, 189, 153, 111, 75, 33, 26, 18};
  const float level = std::clamp(weight, 0.0F, 1.0F) * static_cast<float>(kRamp.size() - 1);
  return cat("\x1b[48;5;", kRamp[static_cast<std::size_t>(level + 0.5F)], "m  ");
}

}  // namespace

std::string json_record(const SoftAlignment& alignment, std::int64_t id) {
  check_alignment(alignment);
  std::string out = cat("{\"id\":", id, ",\"source\":", json_strings(alignment.source),
                        ",\"target\":", json_strings(alignment.target),
                        ",\"source_end\":", alignment.source_end ? "true" : "false",
                        ",\"target_end\":", alignment.target_end ? "true" : "false",
                        ",\"score\":", json_number(alignment.score), ",\"matrix\":[");
  for (std::int64_t row = 0; row < alignment.target_rows(); ++row) {
    out += row == 0 ? "[" : ",[";
    append_row(out, alignment, row, ",");
    out += ']';
  }
  return out + "]}\n";
}

std::string nematus_record(const SoftAlignment& alignment, std::int64_t id) {
  check_alignment(alignment);
  const SoftAlignment full = with_ends(alignment);
  std::string out = cat(id, " ||| ", nematus_tokens(full.target), " ||| ");
  append_fixed(out, full.score, kMatrixDigits);
  out += cat(" ||| ", nematus_tokens(full.source), " ||| ", full.source_columns(), ' ',
             full.target_rows(), '\n');
  for (std::int64_t row = 0; row < full.target_rows(); ++row) {
    append_row(out, full, row, " ");
    out += " \n";
  }
  return out + "\n";
}

std::string heat_map(const SoftAlignment& alignment, Colour colour) {
  check_alignment(alignment);
  std::string out, strokes;
  const auto add_source = [&](std::string_view token) {
    out += cat(strokes, visible(token), '\n');
    strokes += "│ ";
  };
  for (const std::string& token : alignment.source) add_source(token);
  if (alignment.source_end) add_source(kEndLabel);
  for (std::int64_t row = 0; row < alignment.target_rows(); ++row) {
    for (std::int64_t column = 0; column < alignment.source_columns(); ++column) {
      const float weight = alignment.at(row, column);
      out += colour == Colour::kAnsi ? ansi_cell(weight) : std::string(shade(weight));
    }
    if (colour == Colour::kAnsi && alignment.source_columns() > 0) out += "\x1b[0m";
    const auto word = static_cast<std::size_t>(row);
    out += cat(
        "  ",
        word < alignment.target.size() ? visible(alignment.target[word]) : std::string(kEndLabel),
        '\n');
  }
  return out;
}

}  // namespace verso
