// The machine: what the program says of threads, BLAS and devices, and what it takes of memory.
#include "tests/cli/toy.h"

namespace verso::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

/// What doctor says, asked once.
const std::string& doctor() {
  static const std::string text = run_well({"doctor"}).out;
  return text;
}

TEST(Machine, R087_ThreadsAndSpeedAreShown) {
  EXPECT_THAT(doctor(), AllOf(ContainsRegex("physical cores +[0-9]+"),
                              ContainsRegex("threads +[0-9]+ set, [0-9]+ used"),
                              ContainsRegex("matrix products +[0-9.]+ GFLOP/s")));
  const TempFolder folder;
  Json config = toy_config(folder);
  config["training"]["max_updates"] = 3;
  config["training"]["log_every"] = 1;
  for (const int threads : {1, 2}) {
    config["threads"] = threads;
    const std::string log = train_well(config, {"--overwrite"}).err;
    EXPECT_THAT(log, HasSubstr(threads == 1 ? ", 1 thread," : ", 2 threads,"));
    EXPECT_THAT(log, ContainsRegex("update 2 .*tokens/s"));
    EXPECT_GT(metrics(folder / "run", "train").at(1)["tokens_per_second"].get<double>(), 0);
  }
}

TEST(Machine, R089_WhatIsKnownOfCudaIsSaid) {
  EXPECT_THAT(doctor(), ContainsRegex("LibTorch +[0-9]+\\.[0-9]+"));
  EXPECT_THAT(doctor(), ContainsRegex("CUDA +(this LibTorch is built without it|built in, but no "
                                      "device is seen|[0-9]+ device)"));
}

TEST(Machine, R093_TheBlasIsNamed) {
  EXPECT_THAT(doctor(), ContainsRegex("BLAS +(/|inside LibTorch)"));
  EXPECT_THAT(doctor(), ContainsRegex("vector units +[A-Z]"));
  EXPECT_THAT(doctor(), HasSubstr("to mend"));
}

// AddressSanitizer keeps freed memory back, so that only the plain build can tell.
#ifndef __SANITIZE_ADDRESS__
TEST(Machine, R091_MemoryDoesNotGrowWithUpdatesOrLines) {
  const TempFolder folder;
  Json config = toy_config(folder);
  config["threads"] = 2;
  config["training"]["max_updates"] = 50;
  const long few = train_well(config).peak_kib;
  config["training"]["max_updates"] = 400;
  EXPECT_LT(train_well(config, {"--overwrite"}).peak_kib, few + 50 * 1024);

  const Lines options = {"translate", SharedModels::get().toy(), "--beam",
                         "2",         "--batch-tokens",          "1"};
  const Lines lines = toy_sentences(800, kLetters, 6, 17);
  const long first = run_well(options, joined(Lines(lines.begin(), lines.begin() + 200))).peak_kib;
  EXPECT_LT(run_well(options, joined(lines)).peak_kib, first + 50 * 1024);
}
#endif

}  // namespace
}  // namespace verso::cli
