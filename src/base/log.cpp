#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace verso::log {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

class Log {
 public:
  void to_stderr(Level level) {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_st>();
    const std::lock_guard lock(mutex_);
    stderr_ = make_logger(std::move(sink), "%v", to_spdlog(level));
  }

  void to_file(const std::string& path) {
    std::shared_ptr<spdlog::sinks::sink> sink;
    try {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_st>(path, /*truncate=*/false);
    } catch (const spdlog::spdlog_ex& problem) {
      throw DataError(cat(path, ": the log cannot be opened: ", problem.what()));
    }
    const std::lock_guard lock(mutex_);
    file_ = make_logger(std::move(sink), "%Y-%m-%d %H:%M:%S %v", spdlog::level::info);
  }

  void set_before_message(void (*before)()) {
    const std::lock_guard lock(mutex_);
    before_message_ = before;
  }

  void write(Level level, const char* label, const std::string& message) {
    const spdlog::level::level_enum severity = to_spdlog(level);
    const std::lock_guard lock(mutex_);
    if (stderr_ && stderr_->should_log(severity)) {
      if (before_message_ != nullptr) before_message_();
      stderr_->log(severity, cat(*label == '\0' ? "" : "verso: ", label, message));
    }
    if (file_) file_->log(severity, cat(label, message));
  }

  void to_file_only(const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (file_) file_->log(spdlog::level::info, message);
  }

  bool shows_info() {
    const std::lock_guard lock(mutex_);
    return stderr_ && stderr_->should_log(spdlog::level::info);
  }

  bool first_time(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return seen_.insert(key).second;
  }

 private:
  static std::shared_ptr<spdlog::logger> make_logger(std::shared_ptr<spdlog::sinks::sink> sink,
                                                     const char* pattern,
                                                     spdlog::level::level_enum level) {
    auto logger = std::make_shared<spdlog::logger>("verso", std::move(sink));
    logger->set_pattern(pattern);
    logger->set_level(level);
    logger->flush_on(level);
    // A log that cannot be written (full disk) must not end a run, nor repeat itself.
    logger->set_error_handler([](const std::string&) {});
    return logger;
  }

  std::mutex mutex_;
  std::shared_ptr<spdlog::logger> stderr_, file_;
  void (*before_message_)() = nullptr;
  std::set<std::string> seen_;
};

Log& the_log() {
  static Log instance;
  return instance;
}

}  // namespace

void to_stderr(Level level) { the_log().to_stderr(level); }
void to_file(const std::string& path) { the_log().to_file(path); }
void set_before_message(void (*before)()) { the_log().set_before_message(before); }
void debug(const std::string& message) { the_log().write(Level::kDebug, "", message); }
void info(const std::string& message) { the_log().write(Level::kInfo, "", message); }
void warning(const std::string& message) { the_log().write(Level::kWarning, "warning: ", message); }
void error(const std::string& message) { the_log().write(Level::kError, "error: ", message); }
void to_file_only(const std::string& message) { the_log().to_file_only(message); }
bool shows_info() { return the_log().shows_info(); }
void warning_once(const std::string& key, const std::string& message) {
  if (the_log().first_time(key)) warning(message);
}

}  // namespace verso::log
