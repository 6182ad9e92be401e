#pragma once

#include <string_view>

namespace verso {

/// Standard output, with errors. A reader that has gone away ends the program by SIGPIPE, as with
/// other tools; anything else that keeps output from being written throws DataError.
void write_out(std::string_view text);

/// Writes what is still buffered; gives 0, the exit code of success. Throws DataError.
int flush_out();

/// Called once at the start of main: restores SIGPIPE, and fills closed standard descriptors so
/// that no file of ours takes their place (a closed stdout is an error at the first write).
void prepare_standard_streams();

}  // namespace verso
