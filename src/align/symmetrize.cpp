#include "align/symmetrize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace verso {
namespace {

using Point = std::pair<std::int64_t, std::int64_t>;  // wide, so that neighbours never overflow
using Points = std::set<Point>;

constexpr Point kDirect[] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}};
constexpr Point kDiagonal[] = {{-1, 1}, {-1, -1}, {1, -1}, {1, 1}};

Points points_of(const std::vector<Link>& links) {
  Points points;
  for (const Link& link : links) points.emplace(link.source, link.target);
  return points;
}

/// When a link may be added.
enum class Free { kEither, kBoth };

/// A growing set of links that knows which words have one.
class Alignment {
 public:
  explicit Alignment(const Points& points) {
    for (const Point& point : points) add(point);
  }

  [[nodiscard]] const Points& points() const { return points_; }

  bool add_if_free(const Point& point, Free rule) {
    const bool source = !sources_.contains(point.first), target = !targets_.contains(point.second);
    if (rule == Free::kBoth ? !(source && target) : !(source || target)) return false;
    add(point);
    return true;
  }

  void grow(const Points& candidates, Free rule) {
    bool grown = true;
    while (grown) {
      grown = false;
      // A set's iterators outlive insertions, and what is added further on is still visited.
      for (auto point = points_.begin(); point != points_.end(); ++point) {
        const auto try_neighbour = [&](const Point& step) {
          const Point next{point->first + step.first, point->second + step.second};
          if (candidates.contains(next)) grown |= add_if_free(next, rule);
        };
        for (const Point& step : kDirect) try_neighbour(step);
        for (const Point& step : kDiagonal) try_neighbour(step);
      }
    }
  }

  void finish(const Points& points, Free rule) {
    for (const Point& point : points) add_if_free(point, rule);
  }

 private:
  void add(const Point& point) {
    points_.insert(point);
    sources_.insert(point.first);
    targets_.insert(point.second);
  }

  Points points_;
  std::set<std::int64_t> sources_, targets_;
};

std::vector<Link> links_of(const Points& points) {
  std::vector<Link> links;
  for (const auto& [source, target] : points) {
    links.push_back({static_cast<std::int32_t>(source), static_cast<std::int32_t>(target)});
  }
  return links;
}

}  // namespace

std::vector<Link> symmetrize(const std::vector<Link>& forward, const std::vector<Link>& reverse,
                             Symmetrization method) {
  const Points ahead = points_of(forward), back = points_of(reverse);
  Points both, either = ahead;
  for (const Point& point : back) {
    if (ahead.contains(point)) both.insert(point);
    either.insert(point);
  }
  if (method == Symmetrization::kIntersection) return links_of(both);
  if (method == Symmetrization::kUnion) return links_of(either);

  Alignment alignment(both);
  const bool one_to_one =
      method == Symmetrization::kGrowDiagonal || method == Symmetrization::kGrowDiagonalFinal;
  alignment.grow(either, one_to_one ? Free::kBoth : Free::kEither);
  if (method != Symmetrization::kGrowDiag && method != Symmetrization::kGrowDiagonal) {
    const Free rule = method == Symmetrization::kGrowDiagFinal ? Free::kEither : Free::kBoth;
    alignment.finish(ahead, rule);
    alignment.finish(back, rule);
  }
  return links_of(alignment.points());
}

std::vector<Link> agreeing_links(const std::vector<Link>& forward, const std::vector<Link>& reverse,
                                 float threshold) {
  std::map<Point, std::pair<float, float>> weights;
  const auto take = [&weights](const std::vector<Link>& given,
                               float std::pair<float, float>::*side) {
    for (const Link& link : given) {
      float& weight = weights[{link.source, link.target}].*side;
      weight = std::max(weight, link.weight);
    }
  };
  take(forward, &std::pair<float, float>::first);
  take(reverse, &std::pair<float, float>::second);
  std::vector<Link> links;
  for (const auto& [point, both] : weights) {
    const auto weight = static_cast<float>(
        std::sqrt(static_cast<double>(both.first) * static_cast<double>(both.second)));
    if (weight < threshold) continue;
    links.push_back(
        {static_cast<std::int32_t>(point.first), static_cast<std::int32_t>(point.second), weight});
  }
  return links;
}

std::vector<Link> swap_sides(std::vector<Link> links) {
  for (Link& link : links) std::swap(link.source, link.target);
  return links;
}

}  // namespace verso
