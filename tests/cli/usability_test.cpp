// What users see: configurations with mistakes, progress, pictures, exit codes and streams.
#include <algorithm>
#include <cmath>
#include <set>

#include "tests/cli/toy.h"

namespace verso::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Usability : public testing::Test {
 protected:
  /// verso train on a configuration of this text, which must not be started.
  Result train_text(const std::string& text) {
    write_all(folder_ / "c.json", text);
    return run({"train", folder_ / "c.json"});
  }
  TempFolder folder_;
};

/// EXPECTs that the elements of XML or HTML text nest and that its text is escaped.
void expect_well_formed(const std::string& text) {
  static const std::set<std::string> kVoid = {"meta", "link", "br"};
  Lines open;
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    const std::size_t end = text.find('>', at);
    ASSERT_NE(end, std::string::npos) << text.substr(at, 100);
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end + 1;
    ASSERT_FALSE(tag.empty());
    if (tag[0] == '!' || tag[0] == '?') continue;
    ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty()) << tag;
      EXPECT_EQ("/" + open.back(), tag);
      open.pop_back();
    } else if (tag.back() != '/' && kVoid.count(name) == 0) {
      open.push_back(name);
      if (name == "script" || name == "style") at = text.find("</" + name, at);
    }
  }
  EXPECT_TRUE(open.empty()) << open.back();
  for (std::size_t at = 0; (at = text.find('&', at)) != std::string::npos; ++at) {
    const std::size_t script = text.rfind("<script", at);
    if (script != std::string::npos && text.find("</script", script) > at) continue;
    const std::size_t end = text.find_first_of("; \n", at);
    EXPECT_TRUE(end != std::string::npos && text[end] == ';') << text.substr(at, 20);
  }
}

TEST_F(Usability, R094_EveryUnknownKeyIsNamedWithItsLineAndTheNearest) {
  const Result result = train_text(R"({
  "output": "run",
  "data": {"train": [{"source": "none.src", "target": "none.tgt"}]},
  "model": {
    "hiden": 32
  },
  "training": {"learning_rat": 0.1}
})");
  expect_clean_error(
      result, 3, {"c.json:5: ", "hiden", "hidden", "c.json:7: ", "learning_rat", "learning_rate"});
  EXPECT_EQ(result.err.find("none.src"), std::string::npos);  // before data is read
}

TEST_F(Usability, R094_KeysGivenTwiceAreNamed) {
  expect_clean_error(train_text("{\n\"seed\": 1,\n\"output\": \"run\",\n\"seed\": 2\n}"), 3,
                     {"c.json:4: ", "seed", "twice", "line 2"});
}

TEST_F(Usability, R094_StoredConfigurationsTrainAgain) {
  Json config = toy_config(folder_);
  config["training"]["max_updates"] = 5;
  train_well(config);
  const auto first = tensors_of(folder_ / "run/last.safetensors");
  const std::string stored = read_all(folder_ / "run/config.json");
  write_all(folder_ / "stored.json", stored);
  EXPECT_EQ(run_well({"config", "check", folder_ / "stored.json"}).code, 0);
  run_well({"train", folder_ / "stored.json", "--overwrite"});
  EXPECT_TRUE(tensors_of(folder_ / "run/last.safetensors") == first);
  EXPECT_EQ(read_all(folder_ / "run/config.json"), stored);
}

TEST_F(Usability, R096_WrongValuesAreListedWithKeyAndLine) {
  const Result result = train_text(R"({
  "output": 5,
  "seed": 1.5,
  "data": {"train": [{"source": "none.src", "target": "none.tgt"}]},
  "vocabulary": {
    "joint": "maybe",
    "kind": "words"
  },
  "training": {
    "max_epochs": "1e3x",
    "learning_rate": "fast"
  },
  "validation": {"beam": "five"}
})");
  expect_clean_error(
      result, 3,
      {"c.json:2: output", "c.json:3: seed", "1.5", "c.json:6: vocabulary.joint", "\"maybe\"",
       "c.json:7: vocabulary.kind", "\"words\"", "word", "c.json:10: training.max_epochs",
       "\"1e3x\"", "c.json:11: training.learning_rate", "\"fast\"", "c.json:13: validation.beam",
       "\"five\""});
  expect_clean_error(train_text("{\n\"output\": \"x\",\n\"seed\": ,\n}"), 3, {"c.json:3"});
  expect_clean_error(train_text("{\n\"output\": \n"), 3, {"c.json"});
  expect_clean_error(train_text(""), 3, {"c.json"});
  expect_clean_error(run({"train", folder_ / "none.json"}), 3, {"none.json"});
}

TEST_F(Usability, R096_OverridesAreCheckedAsTheFileIs) {
  Json config = toy_config(folder_);
  expect_clean_error(train(config, {"--set", "model.hiden=3", "--set", "seed=x"}), 3,
                     {"model.hiden", "hidden", "seed"});
  config["training"]["max_updates"] = 0;
  expect_clean_error(train(config), 3, {"never end", "training.max_updates"});
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  EXPECT_THAT(train_well(config, {"--set", "training.max_updates=1"}).err,
              HasSubstr("ended at update 1"));
}

TEST_F(Usability, R098_ProgressIsForPeopleOnStderrAndForProgramsInAFile) {
  Json config = toy_config(folder_);
  add_validation(config, folder_, {"a b", "c"}, {"A B", "C"}, 20);
  config["training"].merge_patch({{"max_updates", 60}, {"log_every", 10}});
  config["validation"]["patience"] = 9;
  const Result result = train_well(config);
  EXPECT_EQ(result.out, "");
  expect_no_control_codes(result.err);
  for (const char* part :
       {"update 10 ", "epoch ", "loss ", "perplexity ", "tokens/s", "rate ", "gradient ",
        "elapsed ", "left ", "patience ", "best ", "teacher-forced", "decoded BLEU"}) {
    EXPECT_THAT(result.err, HasSubstr(part));
  }
  const auto lines = metrics(folder_ / "run", "train");
  ASSERT_EQ(lines.size(), 6U);
  int update = 0;
  for (const Json& line : lines) {
    EXPECT_EQ(line["update"], update += 10);
    for (const char* key : {"epoch", "loss", "perplexity", "tokens_per_second", "learning_rate",
                            "gradient_norm", "elapsed", "left"}) {
      EXPECT_TRUE(line.at(key).is_number()) << key;
      EXPECT_GE(line.at(key).get<double>(), 0) << key;
    }
  }
  EXPECT_GT(lines[2]["left"].get<double>(), 0);
  EXPECT_EQ(lines[5]["left"].get<double>(), 0);
  const auto validations = metrics(folder_ / "run", "validation");
  ASSERT_EQ(validations.size(), 3U);
  EXPECT_EQ(validations[1]["update"], 40);
  for (const char* key : {"loss", "perplexity", "bleu", "chrf", "best", "best_update",
                          "without_gain", "patience", "learning_rate", "elapsed"}) {
    EXPECT_TRUE(validations[0].at(key).is_number()) << key;
  }
  EXPECT_EQ(metrics(folder_ / "run", "end").size(), 1U);
  const std::string log = read_all(folder_ / "run/train.log");
  EXPECT_THAT(log, HasSubstr("update 10 "));
  EXPECT_THAT(log, HasSubstr("ended at update 60"));
  expect_no_control_codes(log);

  const Result quiet = train_well(config, {"--overwrite", "--quiet"});
  EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST_F(Usability, R100_PicturesShowAnyTokenEscaped) {
  const std::string source = "<b> & \" \xE4\xBD\xA0 \xD9\x85\xD8\xB1";
  const std::string target = "A B";
  const std::string& model = SharedModels::get().toy();
  const Lines records = align(model, {source, ""}, {target, ""}, {"--format", "json"});
  ASSERT_EQ(records.size(), 2U);
  const Json record = Json::parse(records[0]), empty = Json::parse(records[1]);
  EXPECT_EQ(record["source"], Json(words_of(source)));
  EXPECT_EQ(record["target"], Json(words_of(target)));
  EXPECT_EQ(empty["source"], Json::array());
  EXPECT_EQ(empty["matrix"], Json::array());

  const Lines weighted = align(model, {source}, {target}, {"--with-weights"});
  for (const std::string& link : words_of(weighted.at(0))) {
    const std::size_t dash = link.find('-'), colon = link.find(':');
    ASSERT_LT(dash, colon);
    const double weight =
        record["matrix"][std::stoul(link.substr(dash + 1))][std::stoul(link.substr(0, dash))];
    EXPECT_NEAR(std::stod(link.substr(colon + 1)), weight, 0.0051) << link;
  }

  std::string long_line = "a";
  for (int i = 1; i < 60; ++i) long_line += " b";
  const Lines sources = {source, "", long_line}, targets = {target, "", upper(long_line)};
  align(model, sources, targets, {"--format", "svg", "--folder", folder_ / "pictures"});
  for (const char* name : {"pair-0.svg", "pair-1.svg", "pair-2.svg"}) {
    const std::string svg = read_all(folder_ / ("pictures/" + std::string(name)));
    EXPECT_EQ(svg.rfind("<svg", 0) == 0 || svg.rfind("<?xml", 0) == 0, true) << svg.substr(0, 20);
    expect_well_formed(svg);
  }
  const std::string svg = read_all(folder_ / "pictures/pair-0.svg");
  for (const char* part : {"&lt;b&gt;", "&amp;", "\xE4\xBD\xA0", "\xD9\x85\xD8\xB1"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
  const std::string html = joined(align(model, sources, targets, {"--format", "html"}));
  expect_well_formed(html);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_EQ(html.find("src=\"http"), std::string::npos);
  const std::string picture = joined(align(model, {source}, {target}, {"--format", "text"}));
  for (const std::string& word : words_of(source + " " + target)) {
    EXPECT_THAT(picture, HasSubstr(word));
  }
  expect_no_control_codes(picture);
}

TEST_F(Usability, ExitCodesTellKindsOfErrorApart) {
  Json config = toy_config(folder_);
  expect_clean_error(run({"trian"}), 2, {"trian", "did you mean train?"});
  expect_clean_error(run({"translate"}), 2, {"MODEL", "verso translate --help"});
  expect_clean_error(run({"evaluate"}), 2, {"--reference", "--gold"});
  expect_clean_error(train(config, {"--set", "model.hidden=-1"}), 3, {"model.hidden"});
  config["data"]["train"][0]["source"] = folder_ / "none";
  expect_clean_error(train(config), 4, {folder_ / "none"});
  expect_clean_error(run({"translate", folder_ / "none"}, "a\n"), 5, {folder_ / "none"});
  const std::string help = run_well({"--help"}).out;
  for (const char* row : {"  2 ", "  3 ", "  4 ", "  5 ", "  6 ", "  70 ", "  128+n "}) {
    EXPECT_THAT(help, HasSubstr(row));
  }
}

TEST_F(Usability, OutputThatCannotBeWrittenIsAnError) {
  Limits limits;
  limits.output = "/dev/full";
  for (const Lines& arguments : std::vector<Lines>{
           {"translate", SharedModels::get().toy()}, {"config", "schema"}, {"--help"}}) {
    expect_clean_error(run(arguments, "a b\n", limits), 4,
                       {"standard output", "No space left on device"});
  }
}

TEST_F(Usability, AReaderThatHasEnoughEndsTheProgramQuietly) {
  Process process({"translate", SharedModels::get().toy()});
  process.send("a\n");
  ASSERT_TRUE(process.run_until([&] { return !process.output().empty(); }, 60));
  process.close_output();
  process.send("b\n");
  const Result result = process.finish();
  EXPECT_EQ(result.code, -SIGPIPE);
  EXPECT_EQ(result.err, "");
}

TEST_F(Usability, ConfigCommandsHelpToWriteOne) {
  Json config = toy_config(folder_);
  const std::string file = write_config_file(config);
  EXPECT_THAT(run_well({"config", "check", file}).out, HasSubstr("300 pairs"));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
  const Json schema = Json::parse(run_well({"config", "schema"}).out);
  EXPECT_TRUE(schema["properties"].contains("training"));
  // Every key with its default: with data and an output it is a configuration.
  write_all(folder_ / "defaults.json", run_well({"config", "defaults"}).out);
  EXPECT_EQ(
      run_well({"config", "check", folder_ / "defaults.json", "--set", "output=" + (folder_ / "x"),
                "--set", "data.train[0].source=" + (folder_ / "run.src"), "--set",
                "data.train[0].target=" + (folder_ / "run.tgt")})
          .code,
      0);
  write_all(folder_ / "run.tgt", "A\n");
  expect_clean_error(run({"config", "check", file}), 4, {folder_ / "run.tgt", "300"});
}

TEST_F(Usability, DoctorSaysWhatIsUsed) {
  const Result result = Process({"doctor"}).finish();
  EXPECT_EQ(result.code, 0) << result.err;
  for (const char* part : {"LibTorch", "BLAS", "thread", "CUDA"}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  EXPECT_THAT(run_well({"--version"}).out, testing::StartsWith("verso "));
}

TEST_F(Usability, EvaluateScoresWhatTranslateAndAlignWrite) {
  write_all(folder_ / "ref", "A B C D\nE F G H\n");
  const Json same = Json::parse(
      run_well({"evaluate", "--json", "--reference", folder_ / "ref"}, "A B C D\nE F G H\n").out);
  EXPECT_NEAR(same["bleu"].get<double>(), 100, 1e-6);
  write_all(folder_ / "gold", "0-0 1-1\n0-0 0p1\n");
  const Json links = Json::parse(
      run_well({"evaluate", "--json", "--gold", folder_ / "gold"}, "0-0 1-1\n0-0\n").out);
  EXPECT_NEAR(links["aer"].get<double>(), 0, 1e-9);
  expect_clean_error(run({"evaluate", "--gold", folder_ / "gold"}, "0-0\n"), 4,
                     {folder_ / "gold", "2", "1"});
  expect_clean_error(run({"evaluate", "--gold", folder_ / "gold"}, "0-0\n0 0\n"), 4, {"stdin:2"});
}

}  // namespace
}  // namespace verso::cli
