// No command writes to a file that it reads, nor two results to one file: every option that names an output,
// against every input of a line.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "support/owned_streams.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Line {
  std::vector<std::string> args;
  std::vector<std::string> inputs;  // files of the folder
};

/// A line of each command that writes a file and reads one. What is wrong is found before a file is
/// understood, so that most may hold anything.
const std::map<std::string, Line>& lines() {
  static const std::map<std::string, Line> lines = {
      {"accuracy", {{"text"}, {"text"}}},
      {"advise", {{"m.hlo", "--device=d.yaml", "--apply=1"}, {"m.hlo", "d.yaml"}}},
      {"bisect", {{"m.hlo", "n.hlo", "--device=d.yaml"}, {"m.hlo", "n.hlo", "d.yaml"}}},
      {"buffers", {{"m.hlo", "--device=d.yaml"}, {"m.hlo", "d.yaml"}}},
      {"calibrate", {{"text", "--device=d.yaml"}, {"text", "d.yaml"}}},
      {"cost", {{"m.hlo"}, {"m.hlo"}}},
      {"devices", {{"d.yaml"}, {"d.yaml"}}},
      {"diff", {{"m.hlo", "n.hlo", "--device=d.yaml"}, {"m.hlo", "n.hlo", "d.yaml"}}},
      {"explain", {{"m.hlo", "y", "--device=d.yaml"}, {"m.hlo", "d.yaml"}}},
      {"gate", {{"--config=gate.yaml"}, {"gate.yaml", "m.hlo", "d.yaml"}}},
      {"graph", {{"m.hlo", "--device=d.yaml"}, {"m.hlo", "d.yaml"}}},
      {"kernel",
       {{"flash_attention", "--q=bf16[1,1,128,128]", "--k=bf16[1,1,128,128]", "--v=bf16[1,1,128,128]",
         "--device=d.yaml"},
        {"d.yaml"}}},
      {"lower", {{"m.hlo", "--device=d.yaml"}, {"m.hlo", "d.yaml"}}},
      {"model", {{"text"}, {"text"}}},
      {"partition", {{"m.hlo", "--partitions=2"}, {"m.hlo"}}},
      {"print", {{"m.hlo"}, {"m.hlo"}}},
      {"profile", {{"text"}, {"text"}}},
      {"report",
       {{"m.hlo", "--device=d.yaml", "--custom-call-costs=costs.yaml"}, {"m.hlo", "d.yaml", "costs.yaml"}}},
      {"scale", {{"model.yaml", "--device=d.yaml", "--chips=1", "--batch=1"}, {"model.yaml", "d.yaml"}}},
      {"serving", {{"model.yaml", "--device=d.yaml", "--trace=m.hlo"}, {"model.yaml", "d.yaml", "m.hlo"}}},
      {"shrink", {{"m.hlo"}, {"m.hlo"}}},
      {"sweep", {{"sweep.yaml"}, {"sweep.yaml", "m.hlo", "d.yaml"}}},
      {"trace", {{"m.hlo", "--device=d.yaml", "--format=json"}, {"m.hlo", "d.yaml"}}},
      {"tune layout", {{"m.hlo", "--device=d.yaml", "--xla-flags=@text"}, {"m.hlo", "d.yaml", "text"}}},
      {"tune mesh", {{"m.hlo", "--device=d.yaml", "--devices=1", "--axes=a"}, {"m.hlo", "d.yaml"}}},
      {"tune serving", {{"model.yaml", "--device=d.yaml"}, {"model.yaml", "d.yaml"}}},
      {"tune prefetch", {{"m.hlo", "--device=d.yaml"}, {"m.hlo", "d.yaml"}}},
      {"tune schedule", {{"m.hlo", "--device=d.yaml"}, {"m.hlo", "d.yaml"}}},
  };
  return lines;
}

const std::set<std::string> kReadNothing = {"init", "layout", "systolic"};
/// Writes a folder of files with names of their own.
const std::set<std::string> kWriteFolders = {"run"};
const std::set<std::string> kOutputs = {"output",   "svg",  "journal",        "junit",       "sarif",
                                        "markdown", "json", "benchmark-json", "bencher-json"};

class OverwriteTest : public testing::Test {
 protected:
  OverwriteTest()
      : before_(fs::current_path()),
        folder_(fs::temp_directory_path() / ("overwrite." + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    fs::current_path(folder_);
    write("m.hlo", "HloModule m\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT y = f32[8] add(x, x)\n}\n");
    fs::copy_file("m.hlo", "n.hlo");
    write("between.yaml", "extends: v5e\nname: between\n");
    write("d.yaml", "extends: between.yaml\nname: mine\n");
    write("gate.yaml", "modules: [m.hlo]\ndevices: [d.yaml]\n");
    write("sweep.yaml", "modules: [m.hlo]\ndevices: [d.yaml]\nset: {clock: [1 GHz]}\n");
    write("costs.yaml", "f: {time: 1 us}\n");
    write("model.yaml",
          "name: small\nlayers: 1\nd_model: 32\nd_ff: 64\nq_heads: 2\nkv_heads: 2\nvocab: 96\n");
    write("text", "--xla_some_flag=1\n");
  }
  ~OverwriteTest() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  struct Ran {
    int code;
    std::string out, err;
  };
  static Ran ran(const std::string& command, const Line& line, const std::vector<std::string>& more) {
    std::vector<std::string> args;
    std::istringstream words(command), in;
    for (std::string word; words >> word;) args.push_back(word);
    args.insert(args.end(), line.args.begin(), line.args.end());
    args.insert(args.end(), more.begin(), more.end());
    std::ostringstream out, err;
    const int code = run(args, in, out, err);
    return {code, out.str(), err.str()};
  }

  void expect_refused(const std::string& command, const Line& line, const std::string& option) {
    std::vector<std::string> inputs = line.inputs;
    // None of its values is left, but the device depends on it.
    if (std::ranges::count(inputs, "d.yaml") > 0) inputs.push_back("between.yaml");
    for (const std::string& input : inputs) {
      const std::string text = read(input);
      fs::create_symlink(input, "link");
      fs::create_hard_link(input, "hard");
      for (const std::string& name : {"./" + input, std::string("link"), std::string("hard")}) {
        const Ran one = ran(command, line, {option + "=" + name});
        EXPECT_EQ(one.code, kExitInput) << command << " " << option << " " << name << one.err;
        EXPECT_THAT(one.err, HasSubstr("'" + name + "' would overwrite the input '")) << command;
        EXPECT_EQ(read(input), text) << command << " " << option << " " << name;
      }
      fs::remove("link");
      fs::remove("hard");
    }
  }

  const fs::path before_, folder_;
};

/// The output options of a command, with their dashes.
std::vector<std::string> output_options(const Command& command) {
  test::OwnedStreams streams;
  CommandLine declared;
  const std::function<int()> unused = command.declare(declared, streams.get());
  std::vector<std::string> options;
  for (const Option& option : declared.options())
    if (kOutputs.count(option.name()) && option.most_values() > 0) options.push_back("--" + option.name());
  return options;
}

TEST_F(OverwriteTest, NoInputIsAnOutput) {
  for (const Command& command : commands()) {
    const std::string name(command.name);
    const std::vector<std::string> options = output_options(command);
    if (options.empty() || kReadNothing.count(name) || kWriteFolders.count(name)) continue;
    const auto line = lines().find(name);
    ASSERT_NE(line, lines().end()) << name << " has outputs; add a line of it here";
    for (const std::string& option : options) expect_refused(name, line->second, option);
  }
}

TEST_F(OverwriteTest, NoTwoResultsAreOneFile) {
  fs::create_symlink("table", "link");
  for (const char* name : {"table", "./table", "link"}) {
    const Ran one = ran("sweep", lines().at("sweep"), {"--output=table", std::string("--svg=") + name});
    EXPECT_EQ(one.code, kExitInput);
    EXPECT_THAT(one.err,
                HasSubstr(std::string("--svg: '") + name + "' is the same file as that of --output"));
    EXPECT_FALSE(fs::exists("table"));
  }
  const Ran journal = ran("sweep", lines().at("sweep"), {"--output=sweep.yaml.journal"});
  EXPECT_EQ(journal.code, kExitInput);
  EXPECT_THAT(journal.err, HasSubstr("--journal: 'sweep.yaml.journal' is the same file as that of --output"));
  const Ran both = ran("sweep", lines().at("sweep"), {"--output=-", "--svg=-"});
  EXPECT_EQ(both.code, kExitInput);
}

TEST_F(OverwriteTest, RunKeepsTheArraysThatItReads) {
  const Line line{{"m.hlo"}, {}};
  ASSERT_EQ(ran("run", line, {"--args=random", "-o", "out"}).code, kExitSuccess);
  const std::string text = read("out/output0.npy");
  for (const std::vector<std::string>& inputs :
       {std::vector<std::string>{"--input=out/output0.npy"}, {"--args=zeros", "--expect=out"}}) {
    std::vector<std::string> more = inputs;
    more.insert(more.end(), {"-o", "./out"});
    const Ran one = ran("run", line, more);
    EXPECT_EQ(one.code, kExitInput) << one.err;
    EXPECT_THAT(one.err, HasSubstr("would overwrite the input")) << inputs[0];
    EXPECT_EQ(read("out/output0.npy"), text) << inputs[0];
  }
  EXPECT_EQ(ran("run", line, {"--args=zeros", "-o", "out"}).code, kExitSuccess);
  EXPECT_NE(read("out/output0.npy"), text);
}

TEST_F(OverwriteTest, DeviceFilesOfMeasurementsAreKept) {
  write("cases.json",
        R"([{"id": "a", "device": "d.yaml", "kind": "elementwise", "time_us": 1, "hlo": "x"}])");
  for (const std::string input : {"d.yaml", "between.yaml"}) {
    const std::string text = read(input);
    const Ran one = ran("accuracy", {{"cases.json"}, {}}, {"--output=./" + input});
    EXPECT_EQ(one.code, kExitInput) << one.err;
    EXPECT_THAT(one.err, HasSubstr("'./" + input + "' would overwrite the input '")) << one.err;
    EXPECT_EQ(read(input), text);
  }
}

TEST_F(OverwriteTest, OtherOutputsAreWritten) {
  for (const auto& [command, more] :
       std::map<std::string, std::vector<std::string>>{{"report", {"--output=r"}},
                                                       {"print", {"--output=/dev/null"}},
                                                       {"sweep", {"--output=t", "--svg=s"}}}) {
    const Ran one = ran(command, lines().at(command), more);
    EXPECT_EQ(one.code, kExitSuccess) << one.err;
  }
  EXPECT_TRUE(fs::exists("r") && fs::exists("t") && fs::exists("s"));
}

}  // namespace
}  // namespace hlosim
