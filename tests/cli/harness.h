#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Runs the real executable (VERSO_EXECUTABLE) as a user would, and keeps what it did.
namespace verso::cli {

using Lines = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_all(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Each line must end in a line feed; EXPECTed.
inline Lines split_lines(const std::string& text) {
  Lines lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  EXPECT_EQ(begin, text.size()) << "the last line has no end: " << text.substr(begin);
  return lines;
}

inline Lines words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

/// A folder that is gone with the object.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "verso_cli_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// How the executable is started, where that differs from the usual.
struct Limits {
  std::string output;        ///< file for standard output instead of a pipe
  rlim_t file_bytes = 0;     ///< largest file it may write (writes over it fail, no signal); 0: any
  rlim_t address_bytes = 0;  ///< largest address space; 0: any
  bool one_start = false;    ///< spare the start again that sets the environment of OpenMP
  double timeout = 180;      ///< seconds until it is killed
};

/// What a finished process left.
struct Result {
  int code = -1;  ///< exit code; minus the signal's number when a signal killed it
  std::string out, err;
  double seconds = 0;
  long peak_kib = 0;  ///< largest resident set
  [[nodiscard]] Lines lines() const { return split_lines(out); }
};

/// A running executable with pipes on its three streams.
class Process {
 public:
  explicit Process(const Lines& arguments, const Limits& limits = {}) : limits_(limits) {
    if (getenv("VERSO_EXECUTABLE") == nullptr) {
      throw std::runtime_error("VERSO_EXECUTABLE is not set; expected the path of verso");
    }
    int in[2], out[2], err[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
      throw std::runtime_error("no pipe");
    }
    pid_ = fork();
    if (pid_ == 0) start(arguments, in[0], out[1], err[1]);
    for (const int fd : {in[0], out[1], err[1]}) close(fd);
    in_ = in[1];
    out_ = out[0];
    err_ = err[0];
    fcntl(in_, F_SETFL, O_NONBLOCK);
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    for (const int fd : {in_, out_, err_}) {
      if (fd >= 0) close(fd);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void send(const std::string& text) { waiting_ += text; }
  /// As a reader that goes away.
  void close_output() {
    close(out_);
    out_ = -1;
  }
  void send_signal(int number) const { kill(pid_, number); }
  [[nodiscard]] const std::string& output() const { return result_.out; }
  [[nodiscard]] const std::string& error_output() const { return result_.err; }

  /// Feeds and reads until `done()`; false when its streams or `seconds` end first.
  template <class Done>
  bool run_until(const Done& done, double seconds) {
    const auto start = Clock::now();
    while (!done()) {
      if (seconds_since(start) > seconds || !step()) return done();
    }
    return true;
  }

  /// Closes standard input once all is sent, and waits for the end.
  Result finish() {
    closing_ = true;
    while (step()) {
      if (seconds_since(start_) < limits_.timeout) continue;
      ADD_FAILURE() << "killed after " << limits_.timeout << " s; stderr: " << result_.err;
      kill(pid_, SIGKILL);
    }
    int status = 0;
    rusage usage{};
    wait4(pid_, &status, 0, &usage);
    pid_ = -1;
    result_.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    result_.peak_kib = usage.ru_maxrss;
    result_.seconds = seconds_since(start_);
    return result_;
  }

 private:
  [[noreturn]] void start(const Lines& arguments, int in, int out, int err) const {
    if (!limits_.output.empty()) out = open(limits_.output.c_str(), O_WRONLY);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    setenv("OMP_NUM_THREADS", "1", 0);
    if (limits_.one_start) setenv("GOMP_SPINCOUNT", "20000", 0);
    rlimit limit{0, 0};
    setrlimit(RLIMIT_CORE, &limit);
    if (limits_.file_bytes > 0) {
      signal(SIGXFSZ, SIG_IGN);
      limit = {limits_.file_bytes, limits_.file_bytes};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (limits_.address_bytes > 0) {
      limit = {limits_.address_bytes, limits_.address_bytes};
      setrlimit(RLIMIT_AS, &limit);
    }
    std::vector<char*> argv{const_cast<char*>("verso")};
    for (const std::string& argument : arguments) {
      argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    execv(getenv("VERSO_EXECUTABLE"), argv.data());
    _exit(127);
  }

  /// Waits a moment for a stream to be ready and serves it; false when all output has ended.
  bool step() {
    if (in_ >= 0 && waiting_.empty() && closing_) {
      close(in_);
      in_ = -1;
    }
    pollfd ready[] = {
        {waiting_.empty() ? -1 : in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}};
    if (out_ < 0 && err_ < 0) return false;
    poll(ready, 3, 50);
    if (ready[0].revents != 0) feed();
    if (ready[1].revents != 0) take(out_, result_.out);
    if (ready[2].revents != 0) take(err_, result_.err);
    return true;
  }

  void feed() {
    signal(SIGPIPE, SIG_IGN);
    const ssize_t count = write(in_, waiting_.data(), waiting_.size());
    if (count > 0) {
      waiting_.erase(0, static_cast<std::size_t>(count));
    } else if (errno != EAGAIN) {
      waiting_.clear();  // it does not read any more
    }
  }

  static void take(int& fd, std::string& text) {
    char block[65536];
    const ssize_t count = read(fd, block, sizeof block);
    if (count > 0) {
      text.append(block, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      close(fd);
      fd = -1;
    }
  }

  Limits limits_;
  Clock::time_point start_ = Clock::now();
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  bool closing_ = false;
  std::string waiting_;
  Result result_;
};

/// verso ARGUMENTS < input
inline Result run(const Lines& arguments, const std::string& input = {}, Limits limits = {}) {
  limits.one_start = true;  // as a rule, to save time; Process starts as for a user
  Process process(arguments, limits);
  process.send(input);
  return process.finish();
}

/// run(), which must succeed: EXPECTed.
inline Result run_well(const Lines& arguments, const std::string& input = {}) {
  Result result = run(arguments, input);
  std::string command;
  for (const std::string& argument : arguments) command += " " + argument;
  EXPECT_EQ(result.code, 0) << "verso" << command << "\n" << result.err;
  return result;
}

/// No byte of `text` moves a cursor or sets a colour.
inline void expect_no_control_codes(const std::string& text) {
  for (const char c : text) {
    EXPECT_TRUE(static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t')
        << "control code " << static_cast<int>(c) << " in " << text;
  }
}

/// Exit code `code`, one readable message holding all of `parts`, and nothing on standard output.
inline void expect_clean_error(const Result& result, int code, const Lines& parts) {
  SCOPED_TRACE("stderr: " + result.err);
  EXPECT_EQ(result.code, code);
  EXPECT_EQ(result.out, "");
  const std::size_t begin = result.err.find("verso: error: ");
  ASSERT_NE(begin, std::string::npos);
  const std::string message = result.err.substr(begin);
  for (const std::string& part : parts) EXPECT_THAT(message, testing::HasSubstr(part));
  EXPECT_EQ(message.find("verso: error: ", 1), std::string::npos) << "more than one message";
  for (const char* sign : {"terminate called", "what():", "c10::Error", "frame #", "std::"}) {
    EXPECT_EQ(message.find(sign), std::string::npos) << sign;
  }
  EXPECT_EQ(message.back(), '\n');
  expect_no_control_codes(result.err);
}

}  // namespace verso::cli
