// Headers of checkpoints: an error, or tensors that lie inside the file.
#include <string>

#include "base/error.h"
#include "checkpoint/checksum.h"
#include "checkpoint/safetensors_header.h"
#include "tests/fuzz/fuzzer.h"

namespace {

void read(std::string_view bytes, verso::Integrity integrity) {
  using namespace verso;
  try {
    const auto file = std::as_bytes(std::span(bytes));
    const SafetensorsHeader header = read_safetensors_header(file, "a.safetensors", integrity);
    for (const TensorEntry& entry : header.tensors) {
      fuzz::check(entry.begin <= entry.end && header.data_begin + entry.end <= bytes.size());
    }
  } catch (const CheckpointError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verso;
  const std::string_view bytes = fuzz::text_of(data, size);
  read(bytes, Integrity::kStructure);
  read(bytes, Integrity::kChecksum);
  // What comes after the eight bytes of length, which chance hardly hits, with the right ones.
  std::string framed(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) framed[i] = static_cast<char>(size >> (8 * i));
  framed += bytes;
  read(framed, Integrity::kStructure);
  return 0;
}
