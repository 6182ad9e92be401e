#include "train/gradient_record.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace verso {

namespace {

/// Which row or column each token goes to, the end symbol as the last one; -1 = none.
struct Places {
  std::vector<std::int64_t> of;
  std::size_t count = 0;       ///< rows or columns
  std::vector<double> pieces;  ///< [count]

  Places(const PieceWords& side, std::int64_t tokens) : count(side.words.size() + 1) {
    for (const std::int32_t word : side.word_of) {
      if (word < -1 || word >= std::ssize(side.words)) {
        throw ShapeError(cat("a piece of word ", word, ", but there are ", side.words.size()));
      }
      of.push_back(word);
    }
    of.push_back(std::ssize(side.words));
    if (std::ssize(of) != tokens) {
      throw ShapeError(cat("gradients of ", tokens, " tokens, but ", of.size(), " pieces"));
    }
    pieces.resize(count);
    for (const std::int64_t place : of) {
      if (place >= 0) pieces[static_cast<std::size_t>(place)] += 1;
    }
  }
};

std::vector<double> numbers(const Tensor& tensor) {
  const Tensor plain = tensor.to(torch::kDouble).contiguous();
  const double* data = plain.data_ptr<double>();
  return {data, data + plain.numel()};
}

double norm_of(const Tensor& tensor) { return tensor.to(torch::kDouble).norm().item<double>(); }

/// Token by token -> place by place, added up.
std::vector<double> add_up(const std::vector<double>& tokens, const Places& places) {
  std::vector<double> sums(places.count);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (places.of[i] >= 0) sums[static_cast<std::size_t>(places.of[i])] += tokens[i];
  }
  return sums;
}

/// [target tokens][source tokens] -> [rows][columns]: sums over source, means over target pieces.
std::vector<double> merge(const Tensor& tokens, const Places& rows, const Places& columns) {
  const std::vector<double> values = numbers(tokens);
  std::vector<double> merged(rows.count * columns.count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t row = rows.of[i / columns.of.size()];
    const std::int64_t column = columns.of[i % columns.of.size()];
    if (row < 0 || column < 0) continue;
    const auto at = static_cast<std::size_t>(row);
    merged[at * columns.count + static_cast<std::size_t>(column)] += values[i] / rows.pieces[at];
  }
  return merged;
}

void fill_matrices(const AttentionGradients& gradients, const Places& rows, const Places& columns,
                   GradientRecord& record) {
  record.alpha = merge(gradients.alpha, rows, columns);
  record.advantage = merge(gradients.energy, rows, columns);
  std::vector<double> means = add_up(numbers((gradients.alpha * gradients.g).sum(1)), rows);
  record.g.resize(record.alpha.size());
  for (std::size_t i = 0; i < record.alpha.size(); ++i) {
    const std::size_t row = i / columns.count;
    const double alpha = record.alpha[i];
    record.advantage[i] = alpha > 0 ? record.advantage[i] / alpha : 0;
    record.g[i] = record.advantage[i] + (rows.pieces[row] > 0 ? means[row] / rows.pieces[row] : 0);
  }
}

void fill_paths(const AttentionGradients& gradients, const Places& columns,
                GradientRecord& record) {
  const Tensor& whole = gradients.states;
  const std::vector<double> squares = add_up(numbers((whole * whole).sum(1)), columns);
  for (const double square : squares) record.state_gradient.push_back(std::sqrt(square));
  record.shares.resize(columns.count);
  const std::array paths = {&gradients.value_path, &gradients.key_path, &gradients.start_path,
                            &gradients.recurrent_path};
  for (std::size_t path = 0; path < paths.size(); ++path) {
    const std::vector<double> along = add_up(numbers((*paths[path] * whole).sum(1)), columns);
    for (std::size_t j = 0; j < along.size(); ++j) {
      record.shares[j][path] = squares[j] > 0 ? along[j] / squares[j] : 0;
    }
  }
}

double mean_entropy(const Tensor& alpha) {
  const std::vector<double> weights = numbers(alpha);
  double sum = 0;
  for (const double weight : weights) {
    if (weight > 0) sum -= weight * std::log(weight);
  }
  return sum / static_cast<double>(alpha.size(0));
}

// The shortest digits that give the same float.
void append_number(std::string& out, double value) {
  if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max()))) {
    out += "null";
    return;
  }
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), static_cast<float>(value));
  out.append(digits, end.ptr);
}

std::string json_list(std::span<const double> values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append_number(out, values[i]);
  }
  return out + "]";
}

std::string json_list(const std::vector<std::string>& words) {
  std::string out = "[";
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += cat(i > 0 ? "," : "", json_quote(words[i]));
  }
  return out + "]";
}

std::string json_matrix(const std::vector<double>& values, std::size_t columns) {
  std::string out = "[";
  for (std::size_t first = 0; first < values.size(); first += columns) {
    out += cat(first > 0 ? "," : "", json_list(std::span(values).subspan(first, columns)));
  }
  return out + "]";
}

std::string json_number_of_float(double value) {
  std::string out;
  append_number(out, value);
  return out;
}

}  // namespace

GradientRecord gradient_record(const AttentionGradients& gradients, const PieceWords& source,
                               const PieceWords& target) {
  const Places rows(target, gradients.alpha.size(0)), columns(source, gradients.alpha.size(1));
  GradientRecord record;
  record.source = source.words;
  record.target = target.words;
  record.loss = gradients.loss;
  record.target_tokens = gradients.alpha.size(0);
  fill_matrices(gradients, rows, columns, record);
  fill_paths(gradients, columns, record);
  const Tensor& context = gradients.context;
  for (const double square : add_up(numbers((context * context).sum(1)), rows)) {
    record.context_gradient.push_back(std::sqrt(square));
  }
  record.entropy = mean_entropy(gradients.alpha);
  record.energy_gradient = norm_of(gradients.v);
  record.query_gradient = norm_of(gradients.query_weight);
  record.key_gradient = norm_of(gradients.key_weight);
  return record;
}

PathShares whole_shares(const std::vector<GradientRecord>& records) {
  PathShares sums{};
  double all = 0;
  for (const GradientRecord& record : records) {
    for (std::size_t j = 0; j < record.shares.size(); ++j) {
      const double square = record.state_gradient[j] * record.state_gradient[j];
      all += square;
      for (std::size_t path = 0; path < sums.size(); ++path) {
        sums[path] += record.shares[j][path] * square;
      }
    }
  }
  for (double& sum : sums) sum = all > 0 ? sum / all : 0;
  return sums;
}

std::string json_fields(const GradientRecord& record) {
  const std::string ends = record.empty() ? "false" : "true";
  const std::size_t columns = record.columns();
  std::string out = cat(
      "\"source\":", json_list(record.source), ",\"target\":", json_list(record.target),
      ",\"source_end\":", ends, ",\"target_end\":", ends,
      ",\"loss\":", json_number_of_float(record.loss),
      ",\"alpha\":", json_matrix(record.alpha, columns), ",\"g\":", json_matrix(record.g, columns),
      ",\"advantage\":", json_matrix(record.advantage, columns),
      ",\"context_gradient\":", json_list(std::span<const double>(record.context_gradient)),
      ",\"state_gradient\":", json_list(std::span<const double>(record.state_gradient)));
  for (std::size_t path = 0; path < kPathNames.size(); ++path) {
    std::vector<double> shares;
    for (const PathShares& of_column : record.shares) shares.push_back(of_column[path]);
    out += cat(",\"", kPathNames[path], "_share\":", json_list(std::span<const double>(shares)));
  }
  return out + cat(",\"entropy\":", json_number_of_float(record.entropy),
                   ",\"energy_gradient\":", json_number_of_float(record.energy_gradient),
                   ",\"query_gradient\":", json_number_of_float(record.query_gradient),
                   ",\"key_gradient\":", json_number_of_float(record.key_gradient));
}

}  // namespace verso
