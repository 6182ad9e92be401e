#include "checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>

#include "base/random.h"
#include "checkpoint/checksum.h"
#include "tests/checkpoint/support.h"

namespace verso {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A whole file: length of `json`, `json`, then `data` zeros.
std::string raw_file(const std::string& json, std::size_t data) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(json.size()) >> (8 * i) & 0xFF);
  }
  return bytes + json + std::string(data, '\0');
}

SafetensorsHeader read_header(const std::string& bytes,
                              Integrity integrity = Integrity::kStructure) {
  return read_safetensors_header(std::as_bytes(std::span(bytes)), "some.file", integrity);
}

/// What is wrong with a file of this header.
std::string header_error(const std::string& json, std::size_t data) {
  return test::checkpoint_error([&] { static_cast<void>(read_header(raw_file(json, data))); });
}

TensorFile example() {
  TensorFile file;
  file.metadata = {{"note", "ä \"quoted\" \\ \n\x01 𝄞"}, {"", "empty key"}, {"empty text", ""}};
  file.tensors = {{"flag", torch::tensor({true, false, true})},
                  {"byte", torch::arange(7, torch::kUInt8)},
                  {"half", torch::arange(3, torch::kFloat32).to(torch::kHalf)},
                  {"brain", torch::arange(5, torch::kFloat32).to(torch::kBFloat16)},
                  {"int", torch::arange(3, torch::kInt32)},
                  {"long", torch::arange(4, torch::kInt64)},
                  {"float", torch::arange(6, torch::kFloat32).reshape({2, 3})},
                  {"double", torch::arange(2, torch::kFloat64)},
                  {"scalar", torch::tensor(2.5F)},
                  {"none", torch::zeros({0, 3})},
                  {"turned", torch::arange(6, torch::kFloat32).reshape({2, 3}).t()},
                  {"ключ \"\\", torch::ones({1})}};
  return file;
}

TEST(Safetensors, EveryTypeAndShapeComesBackEqual) {
  const test::Folder folder;
  const std::string path = folder.file("a.safetensors");
  const TensorFile written = example();
  write_safetensors(path, written);
  TensorFile read = read_safetensors(path, Integrity::kChecksum);
  read.metadata.erase(std::string(kChecksumKey));
  EXPECT_EQ(read.metadata, written.metadata);
  ASSERT_EQ(read.tensors.size(), written.tensors.size());
  for (const auto& [name, tensor] : written.tensors) {
    const auto found = std::find_if(read.tensors.begin(), read.tensors.end(),
                                    [&](const auto& item) { return item.first == name; });
    ASSERT_NE(found, read.tensors.end()) << name;
    EXPECT_EQ(found->second.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(found->second.equal(tensor)) << name;
  }
}

TEST(Safetensors, EveryTensorIsAlignedForItsTypeAndTheDataForEight) {
  const test::Folder folder;
  write_safetensors(folder.file("a"), example());
  const std::string bytes = read_file(folder.file("a"));
  const SafetensorsHeader header = read_header(bytes);
  EXPECT_EQ(header.data_begin % 8, 0U);
  for (const TensorEntry& entry : header.tensors) {
    EXPECT_EQ(entry.begin % dtype_size(entry.dtype), 0U) << entry.name;
  }
}

TEST(Safetensors, TensorsOutliveTheFileAndTheOtherTensors) {
  const test::Folder folder;
  write_safetensors(folder.file("a"), example());
  Tensor kept;
  {
    const TensorFile file = read_safetensors(folder.file("a"), Integrity::kStructure);
    for (const auto& [name, tensor] : file.tensors) {
      if (name == "float") kept = tensor;
    }
  }
  std::filesystem::remove(folder.file("a"));
  EXPECT_TRUE(kept.equal(torch::arange(6, torch::kFloat32).reshape({2, 3})));
}

TEST(Safetensors, WritingWhatWasReadGivesTheSameBytes) {
  const test::Folder folder;
  write_safetensors(folder.file("a"), example());
  write_safetensors(folder.file("b"), read_safetensors(folder.file("a"), Integrity::kChecksum));
  EXPECT_EQ(read_file(folder.file("a")), read_file(folder.file("b")));
}

TEST(Safetensors, ForeignFilesMayBeUnalignedAndUnpaddedAndInAnyOrder) {
  const test::Folder folder;
  std::string bytes = raw_file(
      R"({"b":{"data_offsets":[1,5],"dtype":"F32","shape":[1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}} )",
      5);
  const float value = 1.5F;
  std::memcpy(bytes.data() + bytes.size() - 4, &value, 4);
  write_file_atomically(folder.file("a"), bytes);
  const TensorFile file = read_safetensors(folder.file("a"), Integrity::kStructure);
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0].first, "a");
  EXPECT_EQ(file.tensors[1].second.item<float>(), 1.5F);
  EXPECT_THAT(test::checkpoint_error([&] {
                static_cast<void>(read_safetensors(folder.file("a"), Integrity::kChecksum));
              }),
              HasSubstr("no checksum"));
  EXPECT_TRUE(read_header(raw_file("{}", 0)).tensors.empty());
}

struct BadHeader {
  const char* json;
  std::size_t data;
  const char* message;
};

TEST(Safetensors, WhateverIsWrongInAHeaderIsNamed) {
  const BadHeader cases[] = {
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "need 8"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7, "from 0 to 8 of 7"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9, "the file has 9"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8, "from 8 to 0"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2, "behind a hole from 0"},
      {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
       R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, "inside the tensor before it"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
       R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2, "\"a\" is there twice"},
      {R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1, "twice"},
      {R"({"__metadata__":{"k":"1","k":"2"}})", 0, "\"k\" is there twice"},
      {R"({"__metadata__":{},"__metadata__":{}})", 0, "__metadata__ is there twice"},
      {R"({"__metadata__":{"k":1}})", 0, "a number"},
      {R"({"__metadata__":{"k":{}}})", 0, "an object"},
      {R"({"__metadata__":[]})", 0, "a list"},
      {R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1, "\"F8_E4M3\", expected"},
      {R"({"a":{"dtype":3,"shape":[1],"data_offsets":[0,1]}})", 1, "a number at dtype of \"a\""},
      {R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1, "negative"},
      {R"({"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,1]}})", 1, "fractional"},
      {R"({"a":{"dtype":"U8","shape":[1e400],"data_offsets":[0,1]}})", 1, "valid JSON"},
      {R"({"a":{"dtype":"U8","shape":[18446744073709551616],"data_offsets":[0,1]}})", 1, "large"},
      {R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]}})", 1, "large"},
      {R"({"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
       "overflows"},
      {R"({"a":{"dtype":"F64","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0,
       "overflows"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0,
       "overflows"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551615]}})", 1, "of 1"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1, "too many"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1]}})", 1, "1 numbers, expected 2"},
      {R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", 1, "a list"},
      {R"({"a":{"dtype":"U8","shape":[1]}})", 1, "\"a\" lacks data_offsets"},
      {R"({"a":{}})", 0, "\"a\" lacks dtype"},
      {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"more":"x"}})", 1, "\"more\""},
      {R"({"a":null})", 0, "null at \"a\""},
      {R"({"a":true})", 0, "true or false at \"a\""},
      {R"({"a":"text"})", 0, "a text at \"a\""},
      {"{\"\xFF\":{}}", 0, "UTF-8"},
      {R"({"a)", 0, "valid JSON"},
      {"{}}", 0, "valid JSON"},
      {"{}{}", 0, "valid JSON"},
  };
  for (const BadHeader& bad : cases) {
    EXPECT_THAT(header_error(bad.json, bad.data),
                AllOf(HasSubstr("some.file: damaged: "), HasSubstr(bad.message)))
        << bad.json;
  }
}

TEST(Safetensors, DeepNestingAndHugeShapesAreRefusedAtOnce) {
  const std::string deep = "{\"a\":" + std::string(5'000'000, '[');
  EXPECT_THAT(header_error(deep, 0), HasSubstr("a list"));
  std::string shape = "{\"a\":{\"shape\":[";
  for (int i = 0; i < 1'000'000; ++i) shape += "1,";
  EXPECT_THAT(header_error(shape, 0), HasSubstr("more than 32 dimensions"));
}

TEST(Safetensors, FilesOfOtherKindsAreRecognised) {
  const auto error = [](const std::string& bytes) {
    return test::checkpoint_error([&] { static_cast<void>(read_header(bytes)); });
  };
  EXPECT_THAT(error("PK\x03\x04 and so on, archive/data.pkl"), HasSubstr("PyTorch's .pt"));
  EXPECT_THAT(error("\x80\x02}q\x01 and so on"), HasSubstr("pickle"));
  EXPECT_THAT(error("{\"output\": \"run\"}\n"), HasSubstr("looks like a text file"));
  EXPECT_THAT(error("\x1F\x8B\x08 and so on"), HasSubstr("gzip"));
  EXPECT_THAT(error(""), HasSubstr("empty"));
  EXPECT_THAT(error("abc"), HasSubstr("ends after 3 bytes"));
  EXPECT_THAT(error(raw_file("{}", 0).substr(0, 9)), HasSubstr("its header alone has 2"));
  std::string huge = raw_file("{}", 0);
  huge[7] = '\x7F';
  EXPECT_THAT(error(huge), HasSubstr("damaged"));
}

TEST(Safetensors, TruthValuesOtherThanZeroAndOneAreRefused) {
  const test::Folder folder;
  std::string bytes = raw_file(R"({"a":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}})", 1);
  bytes.back() = 2;
  write_file_atomically(folder.file("a"), bytes);
  EXPECT_THAT(test::checkpoint_error([&] {
                static_cast<void>(read_safetensors(folder.file("a"), Integrity::kStructure));
              }),
              HasSubstr("neither 0 nor 1"));
}

TEST(Safetensors, NamesThatTheFormatCannotHoldAreNotWritten) {
  const test::Folder folder;
  const auto error = [&](TensorFile file) {
    return test::checkpoint_error([&] { write_safetensors(folder.file("a"), file); });
  };
  const Tensor one = torch::ones({1});
  EXPECT_THAT(error({{}, {{"a", one}, {"a", one}}}), HasSubstr("\"a\""));
  EXPECT_THAT(error({{}, {{"__metadata__", one}}}), HasSubstr("reserved"));
  EXPECT_THAT(error({{}, {{"\xFF", one}}}), HasSubstr("UTF-8"));
  EXPECT_THAT(error({{{"k", "\xFF"}}, {}}), HasSubstr("UTF-8"));
  EXPECT_THAT(error({{}, {{"a", Tensor()}}}), HasSubstr("type"));
  EXPECT_THAT(error({{}, {{"a", torch::ones({1}, torch::kInt16)}}}), HasSubstr("type"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// A small file as bytes, and what reading it says after a change.
class Damage : public testing::Test {
 protected:
  Damage() {
    TensorFile file;
    file.metadata = {{"note", "hello"}};
    file.tensors = {{"x", torch::arange(10, torch::kFloat32)},
                    {"y", torch::ones({3}, torch::kUInt8)}};
    const test::Folder folder;
    write_safetensors(folder.file("small"), file);
    good_ = read_file(folder.file("small"));
  }
  static std::string error_of(const std::string& bytes) {
    return test::checkpoint_error(
        [&] { static_cast<void>(read_header(bytes, Integrity::kChecksum)); });
  }
  std::string good_;
};

TEST_F(Damage, AnyFlippedBitIsNoticed) {
  ASSERT_EQ(error_of(good_), "");
  for (std::size_t i = 0; i < good_.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good_;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << bit));
      ASSERT_THAT(error_of(bytes), AllOf(HasSubstr("some.file"), HasSubstr("damaged")))
          << i << " " << bit;
    }
  }
}

/// `good` cut, overwritten, flipped, with bytes put in, taken out or moved.
std::string damage(const std::string& good, Random& random) {
  std::string bytes = good;
  const std::size_t at = random.below(bytes.size());
  const std::size_t length = 1 + random.below(64);
  std::string noise(length, '\0');
  for (char& c : noise) c = static_cast<char>(random.below(256));
  switch (random.below(6)) {
    case 0:
      return bytes.substr(0, at);
    case 1:
      return bytes.replace(at, length, noise);
    case 2:
      return bytes.insert(at, noise);
    case 3:
      return bytes.erase(at, length);
    case 4:
      return bytes.substr(at) + bytes.substr(0, at);
    default:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      return bytes;
  }
}

TEST_F(Damage, TenThousandRandomDamagesAreNoticed) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const std::string bytes = damage(good_, random);
    if (bytes == good_) continue;
    ASSERT_NE(error_of(bytes), "") << "damage " << i;
  }
}

TEST_F(Damage, HeadersWithoutChecksumToProtectThemGiveAnErrorOrASoundHeader) {
  Random random(2);
  for (int i = 0; i < 20000; ++i) {
    const std::string bytes = damage(good_, random);
    try {
      const SafetensorsHeader header = read_header(bytes);
      for (const TensorEntry& entry : header.tensors) {
        ASSERT_LE(header.data_begin + entry.end, bytes.size());
      }
    } catch (const CheckpointError&) {
    }
  }
}

RC_GTEST_PROP(SafetensorsProperty, AnyBytesGiveAHeaderOrAnError, (const std::string& bytes)) {
  for (const std::string& file : {bytes, raw_file(bytes, 3), raw_file("{" + bytes, 3)}) {
    try {
      static_cast<void>(read_header(file));
    } catch (const CheckpointError&) {
    }
  }
}

RC_GTEST_PROP(SafetensorsProperty, TensorsAndTextsComeBack,
              (const std::map<std::string, std::string>& texts, std::vector<float> values)) {
  TensorFile file;
  for (const auto& [key, text] : texts) {
    file.metadata[cat("k", replace_invalid_utf8(key))] = replace_invalid_utf8(text);
  }
  const Tensor tensor = torch::tensor(values);
  file.tensors = {{"values", tensor}};
  const test::Folder folder;
  write_safetensors(folder.file("a"), file);
  TensorFile read = read_safetensors(folder.file("a"), Integrity::kChecksum);
  read.metadata.erase(std::string(kChecksumKey));
  RC_ASSERT(read.metadata == file.metadata);
  RC_ASSERT(read.tensors.at(0).second.equal(tensor));
}

}  // namespace
}  // namespace verso
