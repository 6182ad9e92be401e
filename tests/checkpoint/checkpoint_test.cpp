#include "checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "base/random.h"
#include "checkpoint/format.h"
#include "checkpoint/safetensors.h"
#include "config/write.h"
#include "tests/checkpoint/support.h"

namespace verso {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string load_error(const std::string& path) {
  return test::checkpoint_error([&] { static_cast<void>(load_checkpoint(path, torch::kCPU)); });
}

Checkpoint load(const std::string& path) { return load_checkpoint(path, torch::kCPU); }

void expect_same_model(const TranslationModel& a, const TranslationModel& b) {
  EXPECT_EQ(write_config(a.config), write_config(b.config));
  EXPECT_EQ(a.vocabularies.source->bytes(), b.vocabularies.source->bytes());
  EXPECT_EQ(a.vocabularies.target->bytes(), b.vocabularies.target->bytes());
  EXPECT_EQ(a.vocabularies.source == a.vocabularies.target,
            b.vocabularies.source == b.vocabularies.target);
  const auto first = a.network->named_parameters();
  const auto second = b.network->named_parameters();
  ASSERT_EQ(first.size(), second.size());
  for (const auto& item : first) {
    ASSERT_TRUE(second.contains(item.key())) << item.key();
    EXPECT_TRUE(item.value().equal(second[item.key()])) << item.key();
  }
}

/// Writes a checkpoint's file anew, with its checksum, after `change`.
void rewrite(const std::string& path, const std::function<void(TensorFile&)>& change) {
  TensorFile file = read_safetensors(path, Integrity::kChecksum);
  change(file);
  write_safetensors(path, file);
}

/// As another program would: not atomic, not flushed (which makes it quick).
void overwrite(const std::string& path, const std::string& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

class CheckpointTest : public testing::Test {
 protected:
  /// A good checkpoint of a tiny model.
  std::string saved(const std::string& name = "a.safetensors") {
    save_checkpoint(folder_.file(name), test::word_model(), {10, 1.5, {{"bleu", 12.5}}}, nullptr);
    return folder_.file(name);
  }
  test::Folder folder_;
};

TEST_F(CheckpointTest, EveryArchitectureComesBackEqual) {
  int number = 0;
  for (const auto decoder : {DecoderKind::kRnnsearch, DecoderKind::kConditional}) {
    for (const auto tie : {Tie::kNone, Tie::kTarget, Tie::kAll}) {
      Config config;
      config.vocabulary.kind = VocabularyKind::kWord;
      config.vocabulary.joint = tie == Tie::kAll;
      config.model.decoder.kind = decoder;
      config.model.tie = tie;
      config.model.encoder.layers = 1 + number % 3;
      config.model.layer_norm = number % 2 == 0;
      config.model.gru = number % 2 == 0 ? GruVariant::kResetBefore : GruVariant::kResetAfter;
      config.model.decoder.readout = number % 2 == 0 ? Readout::kMaxout : Readout::kTanh;
      config.model.decoder.start = number % 3 == 0 ? DecoderStart::kMean : DecoderStart::kBackward;
      config.model.attend_end = number++ % 3 != 0;
      const TranslationModel model = test::tiny_model(config);
      save_checkpoint(folder_.file("a"), model, {}, nullptr);
      expect_same_model(load(folder_.file("a")).model, model);
    }
  }
}

TEST_F(CheckpointTest, EveryVocabularyKindComesBackEqual) {
  for (const auto& [kind, name] : enum_names<VocabularyKind>) {
    for (const bool joint : {false, true}) {
      Config config;
      config.vocabulary.kind = kind;
      config.vocabulary.joint = joint;
      const TranslationModel model = test::tiny_model(config);
      save_checkpoint(folder_.file("a"), model, {}, nullptr);
      const TranslationModel back = load(folder_.file("a")).model;
      expect_same_model(back, model);
      EXPECT_EQ(back.vocabularies.source->encode("ab a c").ids,
                model.vocabularies.source->encode("ab a c").ids)
          << name;
    }
  }
}

TEST_F(CheckpointTest, InfoAndTrainingStateComeBackEqual) {
  const TrainingState state = test::some_state();
  const CheckpointInfo info{1234567, 3.1, {{"bleu", 31.25}, {"perplexity", 1.0 / 3}}};
  save_checkpoint(folder_.file("a"), test::word_model(), info, &state);
  const Checkpoint back = load(folder_.file("a"));
  EXPECT_EQ(back.info.update, info.update);
  EXPECT_EQ(back.info.epoch, info.epoch);
  EXPECT_EQ(back.info.scores, info.scores);
  EXPECT_TRUE(back.resumable);
  EXPECT_EQ(back.state.values, state.values);
  ASSERT_EQ(back.state.tensors.size(), state.tensors.size());
  for (const auto& [name, tensor] : state.tensors) {
    EXPECT_EQ(back.state.tensors.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_TRUE(back.state.tensors.at(name).equal(tensor)) << name;
  }
}

TEST_F(CheckpointTest, WithoutTrainingStateItSaysThatItCannotResume) {
  const Checkpoint back = load(saved());
  EXPECT_FALSE(back.resumable);
  EXPECT_TRUE(back.state.values.empty() && back.state.tensors.empty());
}

TEST_F(CheckpointTest, LoadedTensorsCanBeWrittenTo) {
  const TrainingState state = test::some_state();
  save_checkpoint(folder_.file("a"), test::word_model(), {}, &state);
  Checkpoint back = load(folder_.file("a"));
  const torch::NoGradGuard no_grad;
  for (Tensor& parameter : back.model.network->parameters()) parameter.add_(1);
  back.state.tensors.at("moment.output_bias").add_(1);
  EXPECT_FALSE(back.model.network->is_training());
}

TEST_F(CheckpointTest, ScoresThatAreNotFiniteAreLeftOut) {
  const double inf = std::numeric_limits<double>::infinity();
  save_checkpoint(folder_.file("a"), test::word_model(), {1, 1, {{"perplexity", inf}, {"bleu", 2}}},
                  nullptr);
  EXPECT_EQ(load(folder_.file("a")).info.scores, (std::map<std::string, double>{{"bleu", 2}}));
}

TEST_F(CheckpointTest, ParametersThatAreNotFiniteAreNeverSaved) {
  const std::string path = saved();
  const std::string before = read_file(path);
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    const TranslationModel model = test::word_model();
    {
      const torch::NoGradGuard no_grad;
      model.network->named_parameters()["decoder.attention.energy"][1] = bad;
    }
    try {
      save_checkpoint(path, model, {}, nullptr);
      ADD_FAILURE() << "saved";
    } catch (const NumericError& problem) {
      EXPECT_THAT(problem.what(), HasSubstr("decoder.attention.energy"));
    }
  }
  EXPECT_EQ(read_file(path), before);
}

TEST_F(CheckpointTest, SavingTwiceGivesTheSameBytes) {
  const TranslationModel model = test::word_model();
  save_checkpoint(folder_.file("a"), model, {1, 2, {}}, nullptr);
  save_checkpoint(folder_.file("b"), load(folder_.file("a")).model, {1, 2, {}}, nullptr);
  EXPECT_EQ(read_file(folder_.file("a")), read_file(folder_.file("b")));
}

TEST_F(CheckpointTest, OfARunFolderTheBestIsTakenAndElseTheLast) {
  EXPECT_THAT(load_error(folder_.path()),
              AllOf(HasSubstr(kBestFile), HasSubstr(kLastFile), HasSubstr("verso train")));
  saved(kLastFile);
  EXPECT_EQ(load(folder_.path()).path, folder_.file(kLastFile));
  saved(kBestFile);
  EXPECT_EQ(load(folder_.path() + "/").path, folder_.file(kBestFile));
  EXPECT_EQ(load(folder_.file(kLastFile)).path, folder_.file(kLastFile));
}

TEST_F(CheckpointTest, WhatIsNoCheckpointIsSaidSo) {
  EXPECT_THAT(load_error(folder_.file("nothing")), HasSubstr("no such file or folder"));
  write_file_atomically(folder_.file("text"), "{\"output\": \"run\"}");
  EXPECT_THAT(load_error(folder_.file("text")), HasSubstr("looks like a text file"));
  write_safetensors(folder_.file("foreign"), {{}, {{"a", torch::ones({1})}}});
  EXPECT_THAT(load_error(folder_.file("foreign")), HasSubstr("not a checkpoint of Verso"));
  ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  EXPECT_THAT(load_error(folder_.file("pipe")), HasSubstr("not a regular file"));
  EXPECT_THAT(load_error(saved() + "/below"), HasSubstr("below"));
  EXPECT_THAT(load_error(""), HasSubstr("no such file"));
}

TEST_F(CheckpointTest, NewerFormatsAreNamed) {
  const std::string path = saved();
  rewrite(path, [](TensorFile& file) { file.metadata[kFormatKey] = "2"; });
  EXPECT_THAT(load_error(path), AllOf(HasSubstr("newer Verso"), HasSubstr("format is 2")));
  rewrite(path, [](TensorFile& file) { file.metadata[kFormatKey] = "0"; });
  EXPECT_THAT(load_error(path), HasSubstr("verso.format is 0"));
}

TEST_F(CheckpointTest, WrongMetadataIsNamed) {
  const std::string path = saved();
  const std::string good = read_file(path);
  struct Case {
    const char *key, *value, *message;
  };
  const Case cases[] = {
      {kUpdateKey, "-1", "negative"},
      {kUpdateKey, "1.5", "\"1.5\", expected a number"},
      {kEpochKey, "inf", "not finite"},
      {kEpochKey, "1 ", "\"1 \", expected a number"},
      {kFormatKey, "one", "\"one\", expected a number"},
      {"verso.score.bleu", "x", "\"x\", expected a number"},
      {kConfigKey, "{", "the configuration inside cannot be used"},
      {kConfigKey, R"({"model": {"hiden": 3}})", "hidden"},
      {kConfigKey, R"({"vocabulary": {"kind": "word"},
                       "model": {"tie": "all", "embed": 2, "hidden": 2, "attention": 2}})",
       "model.tie"},
  };
  for (const Case& wrong : cases) {
    rewrite(path, [&](TensorFile& file) { file.metadata[wrong.key] = wrong.value; });
    EXPECT_THAT(load_error(path), AllOf(HasSubstr(path), HasSubstr(wrong.message)))
        << wrong.key << ' ' << wrong.value;
    write_file_atomically(path, good);
  }
  for (const char* key : {kUpdateKey, kEpochKey, kConfigKey, kFormatKey, kResumableKey}) {
    rewrite(path, [&](TensorFile& file) { file.metadata.erase(key); });
    EXPECT_THAT(load_error(path), HasSubstr(cat("lacks ", key)));
    write_file_atomically(path, good);
  }
}

TEST_F(CheckpointTest, MissingAndUnknownTensorsAreNamed) {
  const std::string path = saved();
  rewrite(path, [](TensorFile& file) {
    for (auto& [name, tensor] : file.tensors) {
      if (name == "encoder.layer0.forward_gru.weight_ih") name = "encoder.forward_gru.weight_ih";
    }
  });
  EXPECT_THAT(load_error(path), AllOf(HasSubstr("missing encoder.layer0.forward_gru.weight_ih"),
                                      HasSubstr("unknown \"encoder.forward_gru.weight_ih\"")));
  saved();
  rewrite(path, [](TensorFile& file) {
    std::erase_if(file.tensors,
                  [](const auto& item) { return item.first == kSourceVocabularyName; });
  });
  EXPECT_THAT(load_error(path), HasSubstr("lacks the tensor vocabulary.source"));
}

TEST_F(CheckpointTest, WrongShapesAndTypesAreNamed) {
  const std::string path = saved();
  const auto replace = [&](const char* wanted, const std::function<Tensor(const Tensor&)>& change) {
    saved();
    rewrite(path, [&](TensorFile& file) {
      for (auto& [name, tensor] : file.tensors) {
        if (name == wanted) tensor = change(tensor);
      }
    });
    return load_error(path);
  };
  EXPECT_THAT(replace("output_bias", [](const Tensor& t) { return t.unsqueeze(1); }),
              AllOf(HasSubstr("output_bias is ["), HasSubstr(", 1]")));
  EXPECT_THAT(replace("output_bias", [](const Tensor& t) { return t.to(torch::kFloat64); }),
              HasSubstr("output_bias is F64, expected F32"));
  EXPECT_THAT(replace("vocabulary.target", [](const Tensor& t) { return t.to(torch::kFloat32); }),
              HasSubstr("not a row of bytes"));
  EXPECT_THAT(replace("vocabulary.target", [](const Tensor& t) { return t.narrow(0, 0, 3); }),
              AllOf(HasSubstr("the vocabulary inside"), HasSubstr(path)));
}

TEST_F(CheckpointTest, AConfigurationThatAsksForTooMuchMemoryIsRefused) {
  for (const char* key : {"embed", "hidden", "attention"}) {
    const std::string path = saved();
    rewrite(path, [&](TensorFile& file) {
      std::string& config = file.metadata[kConfigKey];
      const std::size_t at = config.find(cat('"', key, "\": ",
                                             key[0] == 'e'   ? 4
                                             : key[0] == 'h' ? 5
                                                             : 3));
      ASSERT_NE(at, std::string::npos) << key;
      config.replace(config.find(' ', at) + 1, 1, "8192");
    });
    EXPECT_THAT(load_error(path), HasSubstr("describes a model of at least")) << key;
  }
}

// R074: a full disk. SIGXFSZ is ignored, so that the file size limit gives an error as a full disk
// does. In a process of its own, as the limit is.
TEST_F(CheckpointTest, R074AFailedSaveKeepsTheOldFileAndLeavesNothing) {
  const std::string path = saved();
  const std::string before = read_file(path);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string error =
        test::checkpoint_error([&] { save_checkpoint(path, test::word_model(), {}, nullptr); });
    const bool good =
        error.find(path) != std::string::npos && error.find("File too large") != std::string::npos;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(read_file(path), before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(CheckpointTest, AFolderThatDoesNotExistIsNamedWithTheReason) {
  const std::string path = folder_.file("no/such/folder.safetensors");
  EXPECT_THAT(
      test::checkpoint_error([&] { save_checkpoint(path, test::word_model(), {}, nullptr); }),
      AllOf(HasSubstr(path), HasSubstr("No such file or directory")));
}

// R076: a process killed while it saves, at moments that sweep over the whole save.
TEST_F(CheckpointTest, R076KillingASaveLeavesAGoodFile) {
  Config config;
  config.vocabulary.kind = VocabularyKind::kWord;
  TranslationModel model = test::tiny_model(config);
  model.config.model.hidden = 200;
  model.network = Seq2Seq(model_spec(model.config, model.vocabularies));
  const std::string path = folder_.file(kLastFile);
  save_checkpoint(path, model, {1, 0, {}}, nullptr);
  for (int round = 0; round < 50; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int64_t update = 2;; ++update) save_checkpoint(path, model, {update, 0, {}}, nullptr);
    }
    ::usleep(static_cast<useconds_t>(500 + 700 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    ASSERT_NO_THROW(static_cast<void>(read_safetensors(path, Integrity::kChecksum)));
  }
  const Checkpoint back = load(path);
  EXPECT_GT(back.info.update, 1);  // else the children were killed before they saved anything
  expect_same_model(back.model, model);
}

// R076: damaged files.
TEST_F(CheckpointTest, R076CutAndFlippedFilesAreCalledDamaged) {
  const std::string path = saved();
  const std::string good = read_file(path);
  std::vector<std::string> bad;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{100}, good.size() / 2, good.size() - 1}) {
    bad.push_back(good.substr(0, size));
  }
  bad.push_back(good + '\0');
  Random random(3);
  for (std::size_t i = 0; i < good.size(); i += 1 + random.below(40)) {
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << random.below(8)));
    bad.push_back(std::move(flipped));
  }
  for (const std::string& bytes : bad) {
    overwrite(path, bytes);
    ASSERT_THAT(load_error(path), AllOf(HasSubstr(path), HasSubstr("damaged")));
  }
}

TEST_F(CheckpointTest, R076AFileThatClaimsAHugeHeaderOrTensorTakesNoMemory) {
  const std::string path = saved();
  const std::string good = read_file(path);
  const pid_t child = ::fork();
  if (child == 0) {
    rusage before{};
    ::getrusage(RUSAGE_SELF, &before);
    int found = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      std::string bytes = good;
      bytes[i] = '\x7F';
      overwrite(path, bytes);
      found += load_error(path).empty() ? 0 : 1;
    }
    rusage after{};
    ::getrusage(RUSAGE_SELF, &after);
    ::_exit(found == 8 && after.ru_maxrss - before.ru_maxrss < 20'000 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// R078: one file for every device.
TEST_F(CheckpointTest, R078TensorsOfAnyDeviceAndLayoutAreWrittenAsCpuTensors) {
  if (!at::hasCUDA()) {
    TrainingState state;
    state.tensors["turned"] = torch::arange(6, torch::kFloat32).reshape({2, 3}).t();
    save_checkpoint(folder_.file("a"), test::word_model(), {}, &state);
    EXPECT_TRUE(load(folder_.file("a")).state.tensors.at("turned").equal(state.tensors["turned"]));
    GTEST_SKIP() << "layouts only: this LibTorch has no CUDA device";
  }
  const TranslationModel model = test::word_model();
  save_checkpoint(folder_.file("cpu"), model, {}, nullptr);
  const TranslationModel on_gpu = load_checkpoint(folder_.file("cpu"), torch::kCUDA).model;
  EXPECT_TRUE(on_gpu.network->device().is_cuda());
  save_checkpoint(folder_.file("gpu"), on_gpu, {}, nullptr);
  EXPECT_EQ(read_file(folder_.file("cpu")), read_file(folder_.file("gpu")));
}

// R082: the vocabularies are inside, so no other file can stop matching the model.
TEST_F(CheckpointTest, R082AMovedFolderStillWorks) {
  const TranslationModel model = test::word_model();
  std::filesystem::create_directory(folder_.file("run"));
  save_checkpoint(folder_.file("run/best.safetensors"), model, {}, nullptr);
  std::filesystem::rename(folder_.file("run"), folder_.file("moved"));
  const Checkpoint back = load(folder_.file("moved"));
  expect_same_model(back.model, model);
  EXPECT_EQ(back.model.config.data.train.at(0).source, "corpus/train.de");
}

TEST_F(CheckpointTest, R082VocabulariesThatDoNotMatchTheModelAreRefused) {
  const std::string path = saved();
  rewrite(path, [](TensorFile& file) {  // source and target vocabularies exchanged
    for (auto& [name, tensor] : file.tensors) {
      if (name == kSourceVocabularyName) name = "x";
      if (name == kTargetVocabularyName) name = kSourceVocabularyName;
      if (name == "x") name = kTargetVocabularyName;
    }
  });
  EXPECT_THAT(load_error(path), AllOf(HasSubstr("embedding is ["), HasSubstr("vocabularies")));
}

}  // namespace
}  // namespace verso
