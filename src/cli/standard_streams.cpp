#include "cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

[[noreturn]] void fail(int code) {
  throw DataError(
      cat("standard output cannot be written: ", std::generic_category().message(code)));
}

}  // namespace

void write_out(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail(errno);
}

int flush_out() {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
    fail(errno != 0 ? errno : EIO);
  }
  return 0;
}

void prepare_standard_streams() {
  std::signal(SIGPIPE, SIG_DFL);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is `fd`. Opened for the wrong direction, its use is an error as
    // before.
    static_cast<void>(::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

}  // namespace verso
