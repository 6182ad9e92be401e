#pragma once

#include <chrono>
#include <cstddef>
#include <limits>

#include "train/reporter.h"

namespace verso {

/// Shows training on stderr: on a terminal a live line, redrawn in place, elsewhere plain lines.
/// Both go to the run's log as plain lines. Nothing is written to stdout.
class ConsoleReporter : public Reporter {
 public:
  ConsoleReporter();
  ~ConsoleReporter() override;
  ConsoleReporter(const ConsoleReporter&) = delete;
  ConsoleReporter& operator=(const ConsoleReporter&) = delete;

  void progress(const Progress& progress) override;
  void tick(const Progress& progress) override;
  void validation(const Validation& validation) override;

 private:
  bool terminal_;
  std::chrono::steady_clock::time_point drawn_{};
};

/// One progress line: "update 1200  epoch 3.41  loss 2.913  perplexity 8.02 …". Where it is longer
/// than `width`, what matters least is left out.
[[nodiscard]] std::string progress_line(
    const Progress& progress, std::size_t width = std::numeric_limits<std::size_t>::max());

/// Seconds as people read them: "42 s", "3:07", "1:02:11".
[[nodiscard]] std::string duration(double seconds);

/// The lines of a validation: scores, best, patience, samples.
[[nodiscard]] std::vector<std::string> validation_lines(const Validation& validation);

}  // namespace verso
