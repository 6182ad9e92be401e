#pragma once

namespace verso {

/// Of the program and of what it writes; the same as project() in CMakeLists.txt.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace verso
