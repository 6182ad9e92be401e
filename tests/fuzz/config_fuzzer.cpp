// Configurations from files and --set: an error or a configuration that is read back equal.
#include "base/error.h"
#include "config/load.h"
#include "config/override.h"
#include "config/write.h"
#include "tests/fuzz/fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verso;
  const std::string_view text = fuzz::text_of(data, size);
  Config config;
  try {
    if (text.starts_with("--set ")) {
      apply_overrides(config, {std::string(text.substr(6))});
    } else {
      config = parse_config(text, "config.json");
    }
  } catch (const ConfigError&) {
    return 0;
  }
  const std::string written = write_config(config);
  fuzz::check(write_config(parse_config(written, "written.json")) == written);
  return 0;
}
