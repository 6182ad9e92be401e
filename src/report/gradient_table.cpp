#include "report/gradient_table.h"

#include <algorithm>
#include <cstdio>

#include "align/display.h"
#include "base/text.h"

namespace verso {

namespace {

constexpr std::int64_t kMostLabel = 20;  // columns; longer words are cut

std::vector<std::string> labels_of(const std::vector<std::string>& words) {
  std::vector<std::string> labels;
  for (const std::string& word : words) labels.push_back(shorten(visible(word), kMostLabel));
  labels.emplace_back(kEndLabel);
  return labels;
}

std::int64_t widest(const std::vector<std::string>& labels) {
  std::int64_t width = 6;
  for (const std::string& label : labels) width = std::max(width, display_width(label));
  return width;
}

/// Padded by what the terminal shows, not by bytes.
std::string left(const std::string& text, std::int64_t width) {
  return text +
         std::string(
             static_cast<std::size_t>(std::max<std::int64_t>(0, width - display_width(text))), ' ');
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string number(double value, const char* format) {
  char digits[40];
  std::snprintf(digits, sizeof digits, format, value);
  return digits;
}

std::string source_lines(const GradientRecord& record) {
  const std::vector<std::string> labels = labels_of(record.source);
  const std::int64_t width = widest(labels);
  std::string out = cat("   j  ", left("source", width), "   |dL/dh|");
  for (const std::string_view path : kPathNames) out += right(std::string(path), 11);
  out += '\n';
  for (std::size_t j = 0; j < labels.size(); ++j) {
    out += cat(right(cat(j), 4), "  ", left(labels[j], width),
               right(number(record.state_gradient[j], "%.3g"), 10));
    for (const double share : record.shares[j]) out += right(number(share, "%.3f"), 11);
    out += '\n';
  }
  out += cat("      ", left("all", width), std::string(10, ' '));
  for (const double share : whole_shares({record})) out += right(number(share, "%.3f"), 11);
  return out + "\n";
}

std::string matrix_lines(const GradientRecord& record, const std::string& title,
                         const std::vector<double>& values, const char* format) {
  const std::vector<std::string> labels = labels_of(record.target);
  const std::int64_t width = widest(labels);
  const std::size_t columns = record.columns();
  std::string out = cat("\n", title, "\n   t  ", left("target", width), "   |dL/dc|");
  for (std::size_t j = 0; j < columns; ++j) out += right(cat("j=", j), 10);
  out += '\n';
  for (std::size_t t = 0; t < labels.size(); ++t) {
    out += cat(right(cat(t), 4), "  ", left(labels[t], width),
               right(number(record.context_gradient[t], "%.3g"), 10));
    for (std::size_t j = 0; j < columns; ++j) {
      out += right(number(values[t * columns + j], format), 10);
    }
    out += '\n';
  }
  return out;
}

}  // namespace

std::string gradient_table(const GradientRecord& record) {
  if (record.empty()) return "a side has no token: there is nothing to attend to\n";
  return cat("L = -log p(target | source) = ", number(record.loss, "%.4f"), " nats over ",
             record.target_tokens, " tokens; entropy of alpha ", number(record.entropy, "%.4f"),
             " nats\n|dL/dv| ", number(record.energy_gradient, "%.4g"), "  |dL/dW| ",
             number(record.query_gradient, "%.4g"), "  |dL/dU| ",
             number(record.key_gradient, "%.4g"), "\n\nshares of the paths in dL/dh_j\n",
             source_lines(record), matrix_lines(record, "alpha_tj", record.alpha, "%.4f"),
             matrix_lines(record, "g_tj = dL/dalpha_tj", record.g, "%.3g"),
             matrix_lines(record,
                          "advantage_tj = g_tj - sum_k alpha_tk g_tk; descent gives weight to "
                          "where it is below 0",
                          record.advantage, "%.3g"));
}

std::string largest_difference(const std::vector<Difference>& differences,
                               const std::string& from) {
  const auto largest =
      std::max_element(differences.begin(), differences.end(),
                       [](const auto& a, const auto& b) { return a.relative < b.relative; });
  return cat("largest relative difference from ", from, " ", number(largest->relative, "%.1e"),
             " (", largest->gradient, ")");
}

}  // namespace verso
