#pragma once

#include <cstdint>
#include <vector>

#include "align/links.h"
#include "config/fields.h"

/// One set of links from two: those of a model for each direction.
namespace verso {

/// Methods, from the fewest links to the most. F and R are the links of the two directions.
///   intersection         F and R
///   union                F or R
///   grow-diag            the intersection, grown into the union: a link is added that touches a
///                        present one, diagonals included, and whose source or target word has no
///                        link yet (Koehn, Och and Marcu 2003, N03-1017)
///   grow-diag-final      then links of F, then of R, whose source or target word has none
///   grow-diag-final-and  then links of F, then of R, whose source and target word both have none
///   grow-diagonal        as grow-diag, but both words must be without a link
///   grow-diagonal-final  grow-diagonal, then as grow-diag-final-and
/// The last two link no word that has a link, so that they are one-to-one where the intersection
/// is; they equal the published files of that name of the RWTH and NAACL test sets.
///
/// Order, on which the result depends: present links are visited by source, then target, word;
/// a link added behind the one that is visited is still visited in the same pass, and passes go on
/// until one adds nothing. The neighbours of a link (source, target): first, where they can be
/// added at all, (-1,0) (0,-1) (1,0) (0,1), then (-1,1) (-1,-1) (1,-1) (1,1). What is added counts
/// at once. The final steps go through F, then R, by source, then target, word.
enum class Symmetrization {
  kIntersection,
  kUnion,
  kGrowDiag,
  kGrowDiagFinal,
  kGrowDiagFinalAnd,
  kGrowDiagonal,
  kGrowDiagonalFinal,
};

template <>
inline constexpr EnumNames<Symmetrization, 7> enum_names<Symmetrization>{{
    {Symmetrization::kIntersection, "intersection"},
    {Symmetrization::kUnion, "union"},
    {Symmetrization::kGrowDiag, "grow-diag"},
    {Symmetrization::kGrowDiagFinal, "grow-diag-final"},
    {Symmetrization::kGrowDiagFinalAnd, "grow-diag-final-and"},
    {Symmetrization::kGrowDiagonal, "grow-diagonal"},
    {Symmetrization::kGrowDiagonalFinal, "grow-diagonal-final"},
}};

/// Both sets with the source index first (see swap_sides). Weights and possible marks are not
/// looked at; the result has neither. Sorted by source, then target. Cost: links * log(links).
[[nodiscard]] std::vector<Link> symmetrize(const std::vector<Link>& forward,
                                           const std::vector<Link>& reverse, Symmetrization method);

/// The links on which both directions agree: the geometric mean of their weights is at least
/// `threshold`, where a link that a side does not have weighs 0 there (after Liang, Taskar and
/// Klein 2006, "Alignment by agreement", N06-1014, who multiply posterior probabilities). That
/// mean is the weight of the result's links. REQUIRES weights not below 0, threshold over 0. Sorted
/// by source, then target; of a link given twice the heavier counts.
[[nodiscard]] std::vector<Link> agreeing_links(const std::vector<Link>& forward,
                                               const std::vector<Link>& reverse, float threshold);

/// Source and target exchanged: what a model of the other direction wrote, made source first.
[[nodiscard]] std::vector<Link> swap_sides(std::vector<Link> links);

}  // namespace verso
