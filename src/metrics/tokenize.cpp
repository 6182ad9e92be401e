#include "metrics/tokenize.h"

#include "metrics/unicode.h"

namespace verso {
namespace {

bool is_ascii_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_stop(char32_t c) { return c == U'.' || c == U','; }

/// ASCII punctuation that 13a always separates: all but the apostrophe and "-", ",", ".".
bool is_always_separate(char32_t c) {
  return (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') || c == U'/' ||
         (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}

std::u32string replace_all(std::u32string_view text, std::u32string_view from,
                           std::u32string_view to) {
  std::u32string out;
  std::size_t start = 0;
  for (std::size_t at; (at = text.find(from, start)) != text.npos; start = at + from.size()) {
    out.append(text, start, at - start);
    out += to;
  }
  out.append(text, start);
  return out;
}

/// One pass of a rule about two neighbours, from left to right: where `applies(a, b)` holds,
/// `write` puts both out and the pass goes on after b, as a regular expression of two characters
/// would.
template <class Applies, class Write>
std::u32string rewrite_pairs(std::u32string_view text, Applies applies, Write write) {
  std::u32string out;
  out.reserve(text.size() + text.size() / 4);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && applies(text[i], text[i + 1])) {
      write(out, text[i], text[i + 1]);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

void space_around_second(std::u32string& out, char32_t first, char32_t second) {
  out += {first, U' ', second, U' '};
}
void space_around_first(std::u32string& out, char32_t first, char32_t second) {
  out += {U' ', first, U' ', second};
}

template <class Class>
std::u32string separate_each(std::u32string_view text, Class belongs) {
  std::u32string out;
  out.reserve(text.size() + text.size() / 4);
  for (const char32_t c : text) {
    if (belongs(c)) {
      out += {U' ', c, U' '};
    } else {
      out += c;
    }
  }
  return out;
}

std::u32string apply_13a(std::u32string_view line) {
  std::u32string text = replace_all(line, U"<skipped>", U"");
  text = replace_all(text, U"-\n", U"");
  text = replace_all(text, U"\n", U" ");
  // In this order: "&amp;lt;" ends as "<", as in mteval.
  text = replace_all(text, U"&quot;", U"\"");
  text = replace_all(text, U"&amp;", U"&");
  text = replace_all(text, U"&lt;", U"<");
  text = replace_all(text, U"&gt;", U">");
  text = U' ' + text + U' ';
  text = separate_each(text, is_always_separate);
  text = rewrite_pairs(
      text, [](char32_t a, char32_t b) { return !is_ascii_digit(a) && is_stop(b); },
      space_around_second);
  text = rewrite_pairs(
      text, [](char32_t a, char32_t b) { return is_stop(a) && !is_ascii_digit(b); },
      space_around_first);
  return rewrite_pairs(
      text, [](char32_t a, char32_t b) { return is_ascii_digit(a) && b == U'-'; },
      space_around_second);
}

std::u32string apply_intl(std::u32string_view line) {
  using namespace unicode;
  // No blanks are put around the line: a stop after a number at its end stays with the number.
  std::u32string text = rewrite_pairs(
      line, [](char32_t a, char32_t b) { return !is_number(a) && is_punctuation(b); },
      space_around_second);
  text = rewrite_pairs(
      text, [](char32_t a, char32_t b) { return is_punctuation(a) && !is_number(b); },
      space_around_first);
  return separate_each(text, is_symbol);
}

}  // namespace

std::string_view tokenizer_name(BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::k13a:
      return "13a";
    case BleuTokenizer::kNone:
      return "none";
    case BleuTokenizer::kIntl:
      return "intl";
    case BleuTokenizer::kChar:
      return "char";
  }
  return "";
}

std::vector<std::u32string> bleu_tokens(std::u32string_view line, BleuTokenizer tokenizer) {
  // White space at the end goes first: it would be the neighbour that some rules look at.
  while (!line.empty() && unicode::is_space(line.back())) line.remove_suffix(1);
  std::u32string text;
  switch (tokenizer) {
    case BleuTokenizer::k13a:
      text = apply_13a(line);
      break;
    case BleuTokenizer::kNone:
      text = line;
      break;
    case BleuTokenizer::kIntl:
      text = apply_intl(line);
      break;
    case BleuTokenizer::kChar:
      text = separate_each(line, [](char32_t) { return true; });
      break;
  }
  std::vector<std::u32string> tokens;
  for (const std::u32string_view word : unicode::split(text)) tokens.emplace_back(word);
  return tokens;
}

}  // namespace verso
