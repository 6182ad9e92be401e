// Damaged and hostile checkpoints: an error that names the file, memory in proportion, never a
// crash. safetensors_test.cpp does the same to the header alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <set>

#include "base/random.h"
#include "checkpoint/checksum.h"
#include "checkpoint/format.h"
#include "checkpoint/safetensors.h"
#include "tests/checkpoint/support.h"

namespace verso {
namespace {

using testing::AllOf;
using testing::HasSubstr;

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/// Damage must not cost memory: not more than the file and what reads it.
void expect_little_memory_since([[maybe_unused]] long before) {
#ifndef __SANITIZE_ADDRESS__  // which keeps what was freed
  EXPECT_LT(peak_kib() - before, 100'000);
#endif
}

/// The file with the checksum that its content wants, as someone who means harm would write it.
std::string sealed(std::string bytes) {
  if (bytes.size() < kChecksumOffset + kChecksumDigits) return bytes;
  bytes.replace(kChecksumOffset, kChecksumDigits, std::string(kChecksumDigits, '0'));
  const std::string checksum = make_checksum(std::as_bytes(std::span(bytes)), 0, 0);
  return bytes.replace(kChecksumOffset, kChecksumDigits, checksum);
}

/// A checkpoint that can resume, as bytes, and what loading it says after a change.
class DamagedCheckpoint : public testing::Test {
 protected:
  DamagedCheckpoint() : path_(folder_.file("run.safetensors")) {
    const TrainingState state = test::some_state();
    save_checkpoint(path_, test::word_model(), {10, 1.5, {{"bleu", 12.5}}}, &state);
    good_ = read_file(path_);
    std::uint64_t length = 0;
    std::memcpy(&length, good_.data(), sizeof length);
    header_end_ = 8 + length;
  }

  /// "" when it loads. Written without the flush of a save, which would take most of the time.
  std::string error_of(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return test::checkpoint_error([&] { static_cast<void>(load_checkpoint(path_, torch::kCPU)); });
  }

  test::Folder folder_;
  std::string path_, good_;
  std::size_t header_end_ = 0;
};

TEST_F(DamagedCheckpoint, R076_CutAnywhereItIsCalledDamaged) {
  ASSERT_EQ(error_of(good_), "");
  std::set<std::size_t> sizes;
  for (std::size_t size = 0; size < good_.size(); size += size < 200 ? 1 : 97) sizes.insert(size);
  for (std::size_t near = 0; near < 20; ++near) {
    sizes.insert(header_end_ - 10 + near);
    sizes.insert(good_.size() - 1 - near);
  }
  for (const std::size_t size : sizes) {
    ASSERT_THAT(error_of(good_.substr(0, size)), AllOf(HasSubstr(path_), HasSubstr("damaged")))
        << size;
    ASSERT_NE(error_of(sealed(good_.substr(0, size))), "") << size;
  }
}

TEST_F(DamagedCheckpoint, R076_TenThousandRandomDamagesNeverCrash) {
  const long before = peak_kib();
  Random random(4);
  int loaded = 0;
  for (int i = 0; i < 10000; ++i) {
    std::string bytes = good_;
    const auto changes = 1 + random.below(3);
    for (std::uint64_t change = 0; change < changes; ++change) {
      // The header is where lengths, names and numbers are.
      const std::size_t at = random.below(random.below(4) == 0 ? bytes.size() : header_end_);
      switch (random.below(4)) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
          break;
        case 1:
          bytes[at] = "0123456789{}[]\",:-eE"[random.below(20)];
          break;
        case 2:
          bytes[at] = static_cast<char>(random.below(256));
          break;
        default:  // two parts change places
          std::swap(bytes[at], bytes[random.below(header_end_)]);
      }
    }
    if (bytes == good_) continue;
    ASSERT_THAT(error_of(bytes), AllOf(HasSubstr(path_), HasSubstr("damaged"))) << i;
    const std::string error = error_of(sealed(bytes));
    loaded += error.empty() ? 1 : 0;
    if (!error.empty()) {
      ASSERT_THAT(error, HasSubstr(path_)) << i;
    }
  }
  EXPECT_GT(loaded, 100) << "the seal must be good, else nothing behind it is reached";
  expect_little_memory_since(before);
}

/// Each number of the header, one after the other, becomes one that someone who means harm picks.
TEST_F(DamagedCheckpoint, R076_EveryNumberOfTheHeaderWrongIsAnError) {
  const long before = peak_kib();
  const std::string digits = "0123456789";
  int tried = 0;
  for (std::size_t at = kChecksumOffset + kChecksumDigits; at < header_end_; ++at) {
    const std::size_t end = good_.find_first_not_of(digits, at);
    if (end == at || digits.find(good_[at - 1]) != std::string::npos) continue;
    for (const char* number : {"0", "1", "4294967296", "9223372036854775807", "-1", "1e999"}) {
      std::string bytes = good_;
      bytes.replace(at, end - at, number);
      const std::uint64_t length = header_end_ - 8 + bytes.size() - good_.size();
      std::memcpy(bytes.data(), &length, sizeof length);
      const std::string error = error_of(sealed(bytes));
      if (!error.empty()) {
        ASSERT_THAT(error, HasSubstr(path_)) << at << " " << number;
      }
      ++tried;
    }
    at = end;
  }
  EXPECT_GT(tried, 1000);
  expect_little_memory_since(before);
}

}  // namespace
}  // namespace verso
