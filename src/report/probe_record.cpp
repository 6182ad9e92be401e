#include "report/probe_record.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"

namespace verso {

namespace {

using nlohmann::json;
using Matrix = std::vector<std::vector<double>>;

std::vector<double> read_vector(const json& list, std::size_t size) {
  if (!list.is_array() || list.size() != size) {
    throw DataError(cat(list.size(), " numbers, expected ", size));
  }
  std::vector<double> numbers;
  numbers.reserve(size);
  for (const json& value : list) numbers.push_back(number_or_nan(value));
  return numbers;
}

Matrix read_matrix(const json& list, std::size_t rows, std::size_t columns) {
  if (!list.is_array() || list.size() != rows) {
    throw DataError(cat(list.size(), " rows, expected ", rows));
  }
  Matrix matrix;
  matrix.reserve(rows);
  for (const json& row : list) matrix.push_back(read_vector(row, columns));
  return matrix;
}

PackedMatrix pack(const Matrix& matrix, double scale) {
  constexpr double kLargest = INT16_MAX;
  PackedMatrix packed{{}, scale};
  for (const auto& row : matrix) {
    for (const double value : row) {
      const double number = std::clamp(value / scale, -1.0, 1.0) * kLargest;
      packed.numbers.push_back(std::isnan(number) ? PackedMatrix::kMissing
                                                  : static_cast<std::int16_t>(std::lround(number)));
    }
  }
  return packed;
}

/// Largest absolute value; 1 when there is none but 0.
double largest(const Matrix& matrix) {
  double most = 0;
  for (const auto& row : matrix) {
    for (const double value : row) {
      if (std::isfinite(value)) most = std::max(most, std::abs(value));
    }
  }
  return most > 0 ? most : 1;
}

/// g - advantage, the same for all columns of a row but for rounding.
std::vector<double> row_means(const Matrix& g, const Matrix& advantage) {
  std::vector<double> means;
  for (std::size_t row = 0; row < g.size(); ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < g[row].size(); ++column) {
      sum += g[row][column] - advantage[row][column];
    }
    means.push_back(sum / static_cast<double>(g[row].size()));
  }
  return means;
}

/// The pair without its snapshot. Throws as nlohmann, DataError for links past the words.
ProbePair read_words(const json& record) {
  ProbePair pair;
  pair.id = whole_number(record, "pair");
  pair.source = record.at("source").get<std::vector<std::string>>();
  pair.target = record.at("target").get<std::vector<std::string>>();
  pair.source_end = record.at("source_end").get<bool>();
  pair.target_end = record.at("target_end").get<bool>();
  if (record.contains("links")) {
    pair.gold = parse_links(record["links"].get<std::string>(), "links");
    check_links(pair.gold, static_cast<std::int64_t>(pair.source.size()),
                static_cast<std::int64_t>(pair.target.size()), "links");
  }
  return pair;
}

bool same_words(const ProbePair& a, const ProbePair& b) {
  return a.source == b.source && a.target == b.target && a.source_end == b.source_end &&
         a.target_end == b.target_end;
}

ProbeSnapshot read_snapshot(const json& record, const ProbePair& pair) {
  const std::size_t rows = pair.rows(), columns = pair.columns();
  ProbeSnapshot snapshot;
  snapshot.update = whole_number(record, "update");
  snapshot.loss = number_or_nan(record, "loss");
  if (rows == 0 || columns == 0) return snapshot;  // no gradient where a side has no token
  snapshot.alpha = pack(read_matrix(record.at("alpha"), rows, columns), 1);
  const Matrix g = read_matrix(record.at("g"), rows, columns);
  const Matrix advantage = read_matrix(record.at("advantage"), rows, columns);
  snapshot.advantage = pack(advantage, largest(advantage));
  snapshot.mean = row_means(g, advantage);
  snapshot.context_gradient = read_vector(record.at("context_gradient"), rows);
  snapshot.state_gradient = read_vector(record.at("state_gradient"), columns);
  for (std::size_t path = 0; path < kPathShares.size(); ++path) {
    snapshot.shares[path] = read_vector(record.at(kPathShares[path]), columns);
  }
  return snapshot;
}

void insert(std::vector<ProbeSnapshot>& snapshots, ProbeSnapshot snapshot) {
  const auto before = [](const ProbeSnapshot& a, std::int64_t update) { return a.update < update; };
  const auto place = std::lower_bound(snapshots.begin(), snapshots.end(), snapshot.update, before);
  if (place != snapshots.end() && place->update == snapshot.update) {
    *place = std::move(snapshot);
  } else {
    snapshots.insert(place, std::move(snapshot));
  }
}

}  // namespace

ProbePair read_probed_pair(const std::string& line) {
  try {
    const json record = json::parse(line);
    ProbePair pair = read_words(record);
    pair.snapshots.push_back(read_snapshot(record, pair));
    return pair;
  } catch (const json::exception& problem) {
    throw DataError(cat("no record of a probed pair: ", problem.what()));
  }
}

std::vector<ProbePair> read_probe(const std::string& path, DamagedLines& damaged) {
  std::map<std::int64_t, ProbePair> pairs;
  damaged = read_json_lines(path, [&](const json& record) {
    ProbePair words = read_words(record);
    ProbeSnapshot snapshot = read_snapshot(record, words);
    const auto [place, inserted] = pairs.try_emplace(words.id, words);
    ProbePair& pair = place->second;
    if (!inserted && !same_words(pair, words)) throw DataError("other words than before");
    pair.gold = std::move(words.gold);
    insert(pair.snapshots, std::move(snapshot));
  });
  std::vector<ProbePair> ordered;
  ordered.reserve(pairs.size());
  for (auto& [id, pair] : pairs) ordered.push_back(std::move(pair));
  return ordered;
}

}  // namespace verso
