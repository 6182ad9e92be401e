#include "cli/console_reporter.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/log.h"
#include "base/text.h"

namespace verso {

namespace {

constexpr std::chrono::milliseconds kRedraw{200};
constexpr const char* kEraseLine = "\r\033[K";

bool line_shown = false;

void erase_line() {
  if (!line_shown) return;
  std::fputs(kEraseLine, stderr);
  std::fflush(stderr);
  line_shown = false;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return cat(whole, " s");
  const auto two = [](long long n) { return cat(n < 10 ? "0" : "", n); };
  if (whole < 3600) return cat(whole / 60, ":", two(whole % 60));
  return cat(whole / 3600, ":", two(whole / 60 % 60), ":", two(whole % 60));
}

std::string progress_line(const Progress& p, std::size_t width) {
  struct Field {
    int rank;  // the highest goes first where there is no room
    std::string text;
  };
  std::vector<Field> fields = {{0, cat("update ", p.update)},
                               {2, cat("epoch ", fixed(p.epoch, 2))},
                               {1, cat("loss ", fixed(p.loss, 3))},
                               {4, cat("perplexity ", fixed(p.perplexity, 2))}};
  if (p.guided) fields.push_back({5, cat("guided ", fixed(*p.guided, 3))});
  fields.push_back({3, cat(fixed(p.tokens_per_second, 0), " tokens/s")});
  fields.push_back({7, cat("rate ", p.learning_rate)});
  fields.push_back({8, cat("gradient ", fixed(p.gradient_norm, 2))});
  fields.push_back({6, cat("elapsed ", duration(p.elapsed))});
  if (p.left) fields.push_back({2, cat("left ", duration(*p.left))});
  if (p.left_to_validation) {
    fields.push_back({5, cat("validation in ", duration(*p.left_to_validation))});
  }
  if (p.skipped > 0) fields.push_back({1, cat("left out ", p.skipped)});
  const auto line = [&fields] {
    std::string text;
    for (const Field& field : fields) text += (text.empty() ? "" : "  ") + field.text;
    return text;
  };
  const auto by_rank = [](const Field& a, const Field& b) { return a.rank < b.rank; };
  while (line().size() > width && fields.size() > 1) {
    fields.erase(std::max_element(fields.begin(), fields.end(), by_rank));
  }
  return line().substr(0, width);
}

std::vector<std::string> validation_lines(const Validation& v) {
  std::vector<std::string> lines = {
      cat("validation at update ", v.update, " (epoch ", fixed(v.epoch, 2), ", ",
          duration(v.seconds), "): teacher-forced loss ", fixed(v.loss, 4), ", perplexity ",
          fixed(v.perplexity, 3), "; decoded BLEU ", fixed(v.bleu, 2), " (", v.bleu_signature,
          "), chrF ", fixed(v.chrf, 2), " (", v.chrf_signature, ")")};
  lines.push_back(cat("  attention: ", v.aer ? cat("AER ", fixed(*v.aer, 4), ", ") : "", "entropy ",
                      fixed(v.entropy, 3), " nats, coverage ", fixed(v.coverage, 3)));
  std::string verdict = cat(v.gained ? "  best so far in " : "  no gain in ", enum_name(v.metric),
                            ": best ", fixed(v.best, 3), " at update ", v.best_update);
  if (v.patience > 0) verdict += cat("; patience ", v.without_gain, " of ", v.patience, " used");
  lines.push_back(verdict);
  for (const SampleTranslation& sample : v.samples) {
    lines.push_back("  source:     " + sample.source);
    lines.push_back("  reference:  " + sample.reference);
    lines.push_back("  translation: " + sample.hypothesis);
  }
  return lines;
}

ConsoleReporter::ConsoleReporter() : terminal_(isatty(STDERR_FILENO) != 0) {
  if (terminal_) log::set_before_message(erase_line);
}

ConsoleReporter::~ConsoleReporter() {
  erase_line();
  if (terminal_) log::set_before_message(nullptr);
}

void ConsoleReporter::progress(const Progress& progress) {
  if (terminal_) {
    log::to_file_only(progress_line(progress));
  } else {
    log::info(progress_line(progress));
  }
}

void ConsoleReporter::tick(const Progress& progress) {
  if (!terminal_ || !log::shows_info()) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < kRedraw) return;
  drawn_ = now;
  const std::string line = progress_line(progress, terminal_width() - 1);
  std::fputs(kEraseLine, stderr);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  line_shown = true;
}

void ConsoleReporter::validation(const Validation& validation) {
  for (const std::string& line : validation_lines(validation)) log::info(line);
}

}  // namespace verso
