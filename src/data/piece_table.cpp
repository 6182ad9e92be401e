#include "data/piece_table.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "data/vocabulary.h"

namespace verso {
namespace {

// Field numbers of sentencepiece_model.proto, and the types of pieces.
constexpr std::uint64_t kModelPieces = 1, kModelTrainerSpec = 2;
constexpr std::uint64_t kPieceText = 1, kPieceScore = 2, kPieceType = 3;
constexpr std::uint64_t kTrainerModelType = 3;
constexpr std::uint64_t kNormal = 1, kUnknown = 2, kControl = 3;

// An unknown character costs as much more than the worst piece as in SentencePiece.
constexpr double kUnknownPenalty = 10.0;

/// One field after the other of a message in protocol buffers' wire format.
class FieldReader {
 public:
  FieldReader(std::string_view message, const std::string& where) : left_(message), where_(where) {}

  /// Next field: `number`, and its content in `value` (numbers) or `text` (bytes and messages).
  bool next() {
    if (left_.empty()) return false;
    const std::uint64_t tag = take_varint();
    number = tag >> 3;
    text = {};
    value = 0;
    switch (tag & 7) {
      case 0:
        value = take_varint();
        break;
      case 1:
        text = take(8);
        break;
      case 2:
        text = take(take_varint());
        break;
      case 5:
        text = take(4);
        break;
      default:
        fail();
    }
    return true;
  }
  [[nodiscard]] float as_float() const {
    if (text.size() != sizeof(float)) fail();
    float result;
    std::memcpy(&result, text.data(), sizeof result);
    return result;
  }

  std::uint64_t number = 0, value = 0;
  std::string_view text;

 private:
  [[noreturn]] void fail() const { throw DataError(cat(where_, ": damaged SentencePiece model")); }
  std::string_view take(std::uint64_t count) {
    if (count > left_.size()) fail();
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  std::uint64_t take_varint() {
    std::uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return result;
    }
    fail();
  }

  std::string_view left_;
  const std::string& where_;
};

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

PieceTable::PieceTable(std::string_view model, const std::string& where) {
  FieldReader field(model, where);
  while (field.next()) {
    if (field.number == kModelPieces) add_piece(field.text, where);
    if (field.number != kModelTrainerSpec) continue;
    FieldReader spec(field.text, where);
    while (spec.next()) {
      if (spec.number == kTrainerModelType) model_type_ = static_cast<std::int64_t>(spec.value);
    }
  }
  if (size() <= kSpecialIds) {
    throw DataError(cat(where, ": SentencePiece model with ", size(),
                        " pieces, expected more than the ", kSpecialIds, " special ones"));
  }
  ids_.reserve(pieces_.size());
  for (std::size_t id = kSpecialIds; id < pieces_.size(); ++id) {
    if (!ids_.emplace(pieces_[id], static_cast<std::int32_t>(id)).second) {
      throw DataError(cat(where, ": SentencePiece model with piece \"", pieces_[id], "\" twice"));
    }
    longest_ = std::max(longest_, pieces_[id].size());
  }
  unknown_score_ =
      *std::min_element(scores_.begin() + kSpecialIds, scores_.end()) - kUnknownPenalty;
}

void PieceTable::add_piece(std::string_view record, const std::string& where) {
  FieldReader field(record, where);
  std::string_view text;
  float score = 0;
  std::uint64_t type = kNormal;
  while (field.next()) {
    if (field.number == kPieceText) text = field.text;
    if (field.number == kPieceScore) score = field.as_float();
    if (field.number == kPieceType) type = field.value;
  }
  const std::int64_t id = size();
  const std::uint64_t expected =
      id == kUnknownId ? kUnknown : (id < kSpecialIds ? kControl : kNormal);
  if (type != expected) {
    throw DataError(cat(where, ": SentencePiece model whose piece ", id, " is of type ", type,
                        ", expected ", expected,
                        " (ids 0 to 3: pad, unknown, begin, end; then normal pieces only)"));
  }
  if (text.empty() || find_invalid_utf8(text) || !std::isfinite(score)) {
    throw DataError(cat(where, ": SentencePiece model whose piece ", id, " is damaged"));
  }
  pieces_.emplace_back(text);
  scores_.push_back(score);
}

std::int64_t PieceTable::size() const noexcept { return static_cast<std::int64_t>(pieces_.size()); }

const std::string& PieceTable::piece(std::int32_t id) const {
  return pieces_[static_cast<std::size_t>(id)];
}

std::int32_t PieceTable::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? kUnknownId : found->second;
}

// Symbols are runs of bytes, linked; a merge is kept in a heap and is stale when one of its two
// symbols has grown or vanished since.
void PieceTable::segment_bpe(std::string_view word, double dropout, Random* random,
                             std::vector<std::int32_t>& ids) const {
  struct Symbol {
    std::int32_t previous, next;
    std::uint32_t begin, size;
  };
  struct Merge {
    float score;
    std::int32_t left, right;
    std::uint32_t size;
    bool operator<(const Merge& other) const {
      return score != other.score ? score < other.score : left > other.left;
    }
  };
  std::vector<Symbol> symbols;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (!starts_character(word[i]) && !symbols.empty()) {
      ++symbols.back().size;
      continue;
    }
    const auto index = static_cast<std::int32_t>(symbols.size());
    symbols.push_back({index - 1, index + 1, static_cast<std::uint32_t>(i), 1});
  }
  if (symbols.empty()) return;
  symbols.back().next = -1;
  const auto text = [&](std::int32_t i) -> std::string_view {
    return word.substr(symbols[static_cast<std::size_t>(i)].begin,
                       symbols[static_cast<std::size_t>(i)].size);
  };
  std::vector<Merge> heap;
  const auto consider = [&](std::int32_t left, std::int32_t right) {
    if (left < 0 || right < 0) return;
    const std::size_t size = text(left).size() + text(right).size();
    if (size > longest_) return;
    const std::int32_t id = find({text(left).data(), size});
    if (id == kUnknownId) return;
    heap.push_back(
        {scores_[static_cast<std::size_t>(id)], left, right, static_cast<std::uint32_t>(size)});
    std::push_heap(heap.begin(), heap.end());
  };
  for (std::int32_t i = 1; i < static_cast<std::int32_t>(symbols.size()); ++i) consider(i - 1, i);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Merge merge = heap.back();
    heap.pop_back();
    Symbol& left = symbols[static_cast<std::size_t>(merge.left)];
    Symbol& right = symbols[static_cast<std::size_t>(merge.right)];
    if (left.size == 0 || right.size == 0 || left.size + right.size != merge.size) continue;
    if (dropout > 0 && random->uniform() < dropout) continue;
    left.size = merge.size;
    left.next = right.next;
    if (right.next >= 0) symbols[static_cast<std::size_t>(right.next)].previous = merge.left;
    right.size = 0;
    consider(left.previous, merge.left);
    consider(merge.left, left.next);
  }
  for (std::int32_t i = 0; i >= 0; i = symbols[static_cast<std::size_t>(i)].next) {
    ids.push_back(find(text(i)));
  }
}

template <class Use>
void PieceTable::for_each_edge(std::string_view word, std::size_t end, const Use& use) const {
  const std::size_t first = end > longest_ ? end - longest_ : 0;
  bool last_character = true;
  for (std::size_t begin = end; begin-- > 0;) {
    if (!starts_character(word[begin])) continue;
    if (!last_character && begin < first) return;
    const std::int32_t id = find(word.substr(begin, end - begin));
    if (id != kUnknownId) {
      use(Edge{begin, id, scores_[static_cast<std::size_t>(id)]});
    } else if (last_character) {
      use(Edge{begin, kUnknownId, unknown_score_});
    }
    last_character = false;
  }
}

void PieceTable::segment_unigram(std::string_view word, double alpha, Random* random,
                                 std::vector<std::int32_t>& ids) const {
  // total[i]: of all segmentations of the first i bytes, the largest sum of scores, or the
  // logarithm of the sum of their probabilities when one is to be drawn.
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<double> total(word.size() + 1, kNone);
  std::vector<Edge> best(word.size() + 1);
  total[0] = 0;
  const auto ends_here = [&](std::size_t i) {
    return i == word.size() || starts_character(word[i]);
  };
  for (std::size_t end = 1; end <= word.size(); ++end) {
    if (!ends_here(end)) continue;
    for_each_edge(word, end, [&](const Edge& edge) {
      const double sum = total[edge.begin] + (random ? alpha : 1.0) * edge.score;
      const double high = std::max(total[end], sum), low = std::min(total[end], sum);
      if (sum > total[end]) best[end] = edge;
      total[end] = random ? high + std::log1p(std::exp(low - high)) : high;
    });
  }
  std::vector<std::int32_t> reversed;
  for (std::size_t end = word.size(); end > 0;) {
    Edge chosen = best[end];
    if (random) {
      double left = random->uniform();
      bool found = false;
      for_each_edge(word, end, [&](const Edge& edge) {
        if (found) return;
        chosen = edge;  // the last one stands where rounding leaves a rest
        left -= std::exp(total[edge.begin] + alpha * edge.score - total[end]);
        found = left < 0;
      });
    }
    reversed.push_back(chosen.id);
    end = chosen.begin;
  }
  ids.insert(ids.end(), reversed.rbegin(), reversed.rend());
}

}  // namespace verso
