#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/data/support.h"

namespace verso {
namespace {

using std::string_literals::operator""s;
using Lines = std::vector<std::string>;

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  const std::size_t size = stream.total_out;
  deflateEnd(&stream);
  return packed.substr(0, size);
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

class LineReaderTest : public testing::Test {
 protected:
  Lines lines_of_file(const std::string& content) {
    return read_lines(folder_.write("text", content));
  }
  std::string error_of_file(const std::string& content) {
    const std::string path = folder_.write("text", content);
    return data_error_of([&] { (void)read_lines(path); });
  }
  TemporaryFolder folder_;
};

TEST_F(LineReaderTest, R003OnlyLineFeedEndsALine) {
  // U+2028, U+2029, U+0085, VT, FF, FS, CR are what others take for line ends.
  const std::string odd = "a\xe2\x80\xa8"s + "b\xe2\x80\xa9" + "c\xc2\x85" + "d\ve\ff\x1cg\rh";
  EXPECT_EQ(lines_of_file(odd + "\nnext\n"), (Lines{odd, "next"}));
}

TEST_F(LineReaderTest, R005CarriageReturnsBeforeLineFeedAreDropped) {
  EXPECT_EQ(lines_of_file("a b\r\nc\r\r\n\r\nd\re\n"), (Lines{"a b", "c", "", "d\re"}));
}

TEST_F(LineReaderTest, R009NulIsContent) {
  EXPECT_EQ(lines_of_file("a\0b c\nd\n\0\n"s), (Lines{"a\0b c"s, "d", "\0"s}));
}

TEST_F(LineReaderTest, ByteOrderMarkIsDroppedAtTheStartOfTheFileOnly) {
  EXPECT_EQ(lines_of_file("\xef\xbb\xbf"
                          "a\n\xef\xbb\xbf"
                          "b\n"),
            (Lines{"a",
                   "\xef\xbb\xbf"
                   "b"}));
  EXPECT_EQ(lines_of_file("\xef\xbb\xbf"), Lines{});
  EXPECT_EQ(lines_of_file("\xef\xbb\xbf\n"), Lines{""});
}

TEST_F(LineReaderTest, LastLineWithoutLineFeedCounts) {
  EXPECT_EQ(lines_of_file(""), Lines{});
  EXPECT_EQ(lines_of_file("\n"), Lines{""});
  EXPECT_EQ(lines_of_file("a\n\nb"), (Lines{"a", "", "b"}));
}

TEST_F(LineReaderTest, ArchivesAreToldByTheirFirstBytes) {
  const std::string text = "eins\nzwei\n";
  const Lines expected{"eins", "zwei"};
  EXPECT_EQ(lines_of_file(gzip(text)), expected);
  EXPECT_EQ(lines_of_file(zstd(text)), expected);
  EXPECT_EQ(lines_of_file(gzip("")), Lines{});
  EXPECT_EQ(lines_of_file(zstd("")), Lines{});
  // Beginnings of the magic bytes are text.
  EXPECT_EQ(lines_of_file("\x1f"), Lines{"\x1f"});
  EXPECT_EQ(lines_of_file("("), Lines{"("});
  EXPECT_EQ(lines_of_file("P*"), Lines{"P*"});
}

TEST_F(LineReaderTest, ArchivesOfSeveralPartsAreReadToTheEnd) {
  EXPECT_EQ(lines_of_file(gzip("ei") + gzip("") + gzip("ns\nzwei\n") + "\0\0\0\0"s),
            (Lines{"eins", "zwei"}));
  EXPECT_EQ(lines_of_file(zstd("ei") + zstd("") + zstd("ns\nzwei\n")), (Lines{"eins", "zwei"}));
  const std::string skippable = "\x50\x2a\x4d\x18\x04\x00\x00\x00wxyz"s;
  EXPECT_EQ(lines_of_file(skippable + zstd("eins\n")), Lines{"eins"});
}

TEST_F(LineReaderTest, DamagedArchivesAreErrorsWithFileAndLine) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += cat("line ", i * 7919 % 20011, "\n");
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    const std::string truncated = error_of_file(packed.substr(0, packed.size() - 5));
    EXPECT_NE(truncated.find("ends early"), std::string::npos) << truncated;
    EXPECT_NE(truncated.find("/text:"), std::string::npos) << truncated;
    EXPECT_NE(error_of_file(packed.substr(0, packed.size() / 2)).find("truncated"),
              std::string::npos);
    std::string changed = packed;
    for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 64; ++i) changed[i] ^= 0x55;
    EXPECT_NE(error_of_file(changed).find("damaged"), std::string::npos);
    EXPECT_NE(error_of_file(packed + "rubbish").find("/text:20001: "), std::string::npos);
  }
}

TEST_F(LineReaderTest, AnEndlessLineIsAnErrorNotAFullMemory) {
  std::string packed = gzip("a\n");
  const std::string part = gzip(std::string(8 << 20, 'x'));
  for (int i = 0; i < 9; ++i) packed += part;
  const std::string message = error_of_file(packed);
  EXPECT_NE(message.find("/text:2: line of more than 64 MiB"), std::string::npos) << message;
}

TEST_F(LineReaderTest, FoldersAndMissingFilesAreErrors) {
  EXPECT_NE(data_error_of([&] { LineReader reader(folder_.path("")); }).find("is a folder"),
            std::string::npos);
  const std::string missing = data_error_of([&] { LineReader reader(folder_.path("none")); });
  EXPECT_NE(missing.find("none: cannot be opened: No such file"), std::string::npos) << missing;
}

TEST_F(LineReaderTest, LinesOfAPipeComeAsSoonAsTheyAreComplete) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto send = [&](std::string_view text) {
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), std::ssize(text));
  };
  LineReader reader(cat("/proc/self/fd/", ends[0]));
  std::string line;
  // The other end stays open: a reader that waits for a full block would hang here.
  send("P\n");
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "P");
  send("two\nthr");
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "two");
  send("ee\n");
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line, "three");
  EXPECT_EQ(reader.line_number(), 3);
  ::close(ends[1]);
  EXPECT_FALSE(reader.next(line));
  EXPECT_FALSE(reader.next(line));
  ::close(ends[0]);
}

RC_GTEST_FIXTURE_PROP(LineReaderTest, AnyLinesComeBackFromEveryFormat, (const Lines& drawn)) {
  Lines lines = drawn;
  std::string text;
  for (std::string& line : lines) {
    std::erase(line, '\n');
    while (line.ends_with('\r')) line.pop_back();
    text += line + "\n";
  }
  if (text.starts_with("\xef\xbb\xbf") || text.starts_with("\x1f\x8b")) return;
  RC_ASSERT(lines_of_file(text) == lines);
  RC_ASSERT(lines_of_file(gzip(text)) == lines);
  RC_ASSERT(lines_of_file(zstd(text)) == lines);
}

RC_GTEST_FIXTURE_PROP(LineReaderTest, AnyBytesAreReadOrRefused, (std::string bytes, int kind)) {
  const std::string heads[] = {"", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\x50\x2a\x4d\x18"};
  try {
    (void)lines_of_file(heads[kind & 3] + bytes);
  } catch (const DataError&) {
  }
}

TEST_F(LineReaderTest, ProseWithByteOrderMarkAndCarriageReturns) {
  const std::string path = shared_file("messy_text_bom_crlf/botchan.txt");
  VERSO_SKIP_WITHOUT(path);
  const Lines lines = read_lines(path);
  EXPECT_EQ(lines.size(), 4288u);
  for (const std::string& line : lines) EXPECT_EQ(line.find_first_of("\r\xef"), std::string::npos);
}

}  // namespace
}  // namespace verso
