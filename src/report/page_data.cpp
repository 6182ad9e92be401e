#include "report/page_data.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

#include "align/alignment.h"
#include "align/display.h"
#include "base/json.h"
#include "base/text.h"

namespace verso {

namespace {

/// Six figures: curves and bars show no more, and pages stay small.
std::string short_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6);
  return {text, end.ptr};
}

/// "[a,b,c]" of what `element` makes of each.
template <class List, class Element>
std::string list_of(const List& list, const Element& element) {
  std::string out = "[";
  for (const auto& item : list) {
    if (out.size() > 1) out += ',';
    out += element(item);
  }
  return out + "]";
}

std::string numbers(const std::vector<double>& values) { return list_of(values, short_number); }

std::string base64(const std::vector<std::int16_t>& values) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  bytes.reserve(values.size() * 2);
  for (const std::int16_t value : values) {
    const auto bits = static_cast<std::uint16_t>(value);
    bytes += static_cast<char>(bits & 0xFF);
    bytes += static_cast<char>(bits >> 8);
  }
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : kDigits[group >> (18 - 6 * k) & 63];
    }
  }
  return out;
}

double mean_of_finite(const double* begin, const double* end) {
  double sum = 0, count = 0;
  for (; begin != end; ++begin) {
    if (!std::isfinite(*begin)) continue;
    sum += *begin;
    ++count;
  }
  return sum / count;  // NaN when there is none
}

/// At most kMostPoints means of equally many neighbours; an update stands for those up to it.
std::string curves_object(const Curves& curves) {
  const std::size_t count = curves.updates.size();
  const std::size_t step = std::max<std::size_t>(1, (count + kMostPoints - 1) / kMostPoints);
  std::vector<double> updates;
  for (std::size_t i = 0; i < count; i += step) {
    updates.push_back(static_cast<double>(curves.updates[std::min(i + step, count) - 1]));
  }
  const auto whole = [](double update) { return fixed(update, 0); };
  std::string out = "{\"update\":" + list_of(updates, whole);
  for (std::size_t column = 0; column < curves.names.size(); ++column) {
    const double* values = curves.columns[column].data();
    std::vector<double> means;
    for (std::size_t i = 0; i < count; i += step) {
      means.push_back(mean_of_finite(values + i, values + std::min(i + step, count)));
    }
    out += cat(",\"", curves.names[column], "\":", numbers(means));
  }
  return out + "}";
}

std::string words(const std::vector<std::string>& tokens, bool end) {
  std::vector<std::string> labels;
  for (const std::string& token : tokens) labels.push_back(visible(token));
  if (end) labels.emplace_back(kEndLabel);
  return list_of(labels, json_quote);
}

std::string snapshot_object(const ProbeSnapshot& s) {
  return cat("{\"update\":", s.update, ",\"loss\":", short_number(s.loss), ",\"alpha\":\"",
             base64(s.alpha.numbers), "\",\"advantage\":\"", base64(s.advantage.numbers),
             "\",\"scale\":", short_number(s.advantage.scale), ",\"mean\":", numbers(s.mean),
             ",\"context\":", numbers(s.context_gradient), ",\"state\":", numbers(s.state_gradient),
             ",\"shares\":", list_of(s.shares, numbers), "}");
}

std::string pair_object(const ProbePair& pair, const std::vector<std::int64_t>& updates) {
  const auto link = [](const Link& gold) {
    return cat('[', gold.source, ',', gold.target, ',', gold.sure ? 1 : 0, ']');
  };
  std::string snapshots;
  for (const ProbeSnapshot& snapshot : pair.snapshots) {
    if (!std::binary_search(updates.begin(), updates.end(), snapshot.update)) continue;
    snapshots += cat(snapshots.empty() ? "" : ",\n", snapshot_object(snapshot));
  }
  return cat("{\"id\":", pair.id, ",\"note\":", json_quote(pair.note),
             ",\"source\":", words(pair.source, pair.source_end),
             ",\"target\":", words(pair.target, pair.target_end),
             ",\"gold\":", list_of(pair.gold, link), ",\"snapshots\":[\n", snapshots, "]}");
}

std::string escape_for_element(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> shown_updates(const std::vector<ProbePair>& pairs) {
  std::set<std::int64_t> found;
  for (const ProbePair& pair : pairs) {
    for (const ProbeSnapshot& snapshot : pair.snapshots) found.insert(snapshot.update);
  }
  const std::vector<std::int64_t> all(found.begin(), found.end());
  if (all.size() <= kMostSnapshots) return all;
  std::vector<std::int64_t> some;
  for (std::size_t i = 0; i < kMostSnapshots; ++i) {
    some.push_back(all[i * (all.size() - 1) / (kMostSnapshots - 1)]);
  }
  return some;
}

std::string page_data(const RunRecord& run) {
  const std::vector<std::int64_t> updates = shown_updates(run.pairs);
  const auto pair = [&](const ProbePair& p) { return pair_object(p, updates); };
  return escape_for_element(cat(
      "{\"train\":", curves_object(run.train), ",\n\"validation\":", curves_object(run.validation),
      ",\n\"probe\":", curves_object(run.probe), ",\n\"pairs\":", list_of(run.pairs, pair), "}\n"));
}

}  // namespace verso
