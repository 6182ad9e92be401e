#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/random.h"

namespace verso {

/// What SentencePiece puts before the first piece of a word: U+2581.
inline constexpr std::string_view kWordMark = "\xe2\x96\x81";

/// The pieces of a SentencePiece model with their scores, and the two ways to cut a word into them.
/// Made from the serialised model (ModelProto) by a reader of our own, because SentencePiece's
/// loader trusts what it is given, and because its sampling draws from a generator of the process,
/// which can neither be saved nor seeded a second time.
class PieceTable {
 public:
  /// Throws DataError naming `where` when `model` is damaged or not one that Verso makes: the four
  /// special ids in our order, then normal pieces only, all different, in valid UTF-8.
  PieceTable(std::string_view model, const std::string& where);
  PieceTable(const PieceTable&) = delete;
  PieceTable& operator=(const PieceTable&) = delete;

  [[nodiscard]] std::int64_t size() const noexcept;
  [[nodiscard]] const std::string& piece(std::int32_t id) const;
  /// 1 unigram, 2 BPE (TrainerSpec.ModelType).
  [[nodiscard]] std::int64_t model_type() const noexcept { return model_type_; }

  /// Byte pair encoding: neighbours are merged, best score first, while their union is a piece;
  /// what is no piece in the end is kUnknownId. Each merge is left out with probability `dropout`
  /// (Provilkov et al. 2020, arXiv:1910.13267); `random` may be null when that is 0.
  void segment_bpe(std::string_view word, double dropout, Random* random,
                   std::vector<std::int32_t>& ids) const;

  /// Unigram model: the segmentation with the largest sum of scores (Viterbi); with `random` one
  /// drawn with probability proportional to exp(alpha * sum of scores) (Kudo 2018,
  /// arXiv:1804.10959).
  void segment_unigram(std::string_view word, double alpha, Random* random,
                       std::vector<std::int32_t>& ids) const;

 private:
  struct Edge {
    std::size_t begin;
    std::int32_t id;
    double score;
  };
  void add_piece(std::string_view record, const std::string& where);
  [[nodiscard]] std::int32_t find(std::string_view piece) const;
  /// Calls use(Edge) for each piece that ends at word[end - 1], the unknown one included.
  template <class Use>
  void for_each_edge(std::string_view word, std::size_t end, const Use& use) const;

  std::vector<std::string> pieces_;
  std::vector<float> scores_;
  std::unordered_map<std::string_view, std::int32_t> ids_;  // views into pieces_
  std::size_t longest_ = 1;                                 // bytes of the longest piece
  double unknown_score_ = 0;
  std::int64_t model_type_ = 1;
};

}  // namespace verso
