#pragma once

#include <string>

/// The program's log: plain lines on stderr, and in train.log once a run opens it. The library logs
/// through these functions and never writes to stdout or stderr itself; with no sink set (tests),
/// messages go nowhere.
namespace verso::log {

enum class Level { kDebug, kInfo, kWarning, kError };

/// Writes to stderr from now on; called once by main. Messages below `level` are dropped.
void to_stderr(Level level);

/// Appends to `path` as well (with time stamps). Throws DataError when it cannot be opened.
void to_file(const std::string& path);

/// A live line on a terminal asks the log to go quiet while it is redrawn: `before` is called
/// before each message printed on stderr.
void set_before_message(void (*before)());

void debug(const std::string& message);
void info(const std::string& message);
void warning(const std::string& message);
void error(const std::string& message);

/// To the file, as info, but never on stderr: what a live line shows on a terminal already.
void to_file_only(const std::string& message);

/// True when info messages are shown on stderr.
[[nodiscard]] bool shows_info();

/// As warning, but only the first time this `key` is seen in the process.
void warning_once(const std::string& key, const std::string& message);

}  // namespace verso::log
