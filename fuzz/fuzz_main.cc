// The program behind fuzz/run_all: executes all targets for a while, and leaves the smallest input of
// whatever it finds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <thread>

#include "campaign.h"
#include "console/command_line.h"
#include "reduce.h"
#include "targets.h"

namespace hlosim::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> seeds, names, replay;
  std::string findings = "fuzz-findings";
  double minutes = 1;
  uint64_t seed = 1, executions = 0;
  std::optional<int64_t> number;
  uint64_t workers = std::max(1u, std::thread::hardware_concurrency());
  uint64_t tries = 1000;  // of the reducer, per finding
  bool list = false;
};

/// A folder that goes with the object.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "hlosim-fuzz-XXXXXX").string();
    path_ = ::mkdtemp(name.data()) ? name : "";
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

constexpr std::string_view kModule = R"(HloModule a
ENTRY %main {
  %x = f32[64,128]{1,0} parameter(0)
  %w = f32[128,256]{1,0} parameter(1)
  %product = f32[64,256]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT %sum = f32[64,256]{1,0} add(%product, %product)
}
)";

void write(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Program {
 public:
  Program(const Options& options, const Bench& bench) : options_(options), bench_(bench) {}

  int run() {
    CampaignOptions campaign;
    for (const Target& target : targets())
      if (wanted(target)) campaign.targets.push_back(&target);
    campaign.seconds = options_.minutes * 60;
    campaign.seed = options_.seed;
    campaign.executions = options_.executions;
    campaign.workers = options_.workers;
    const auto start = std::chrono::steady_clock::now();
    const Campaign done = run_campaign(bench_, campaign, [&](const Finding& finding) {
      std::cout << fmt::format("{} {}: {}", finding.target->name, finding.number, finding.outcome.key)
                << std::endl;
      describe(finding, make_execution(bench_, *finding.target, options_.seed, finding.number).input, "");
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    print(campaign, done, took.count());
    for (const Finding& finding : done.findings) keep(finding);
    return done.findings.empty() ? 0 : 1;
  }

  /// Inputs at hand instead of changed seeds, each through all targets of its form (its folder's name, else
  /// modules), in one process: the last line names the one that stops it.
  int replay() {
    size_t count = 0;
    for (const std::string& path : options_.replay) {
      std::vector<fs::path> files;
      if (fs::is_directory(path)) {
        for (const auto& entry : fs::recursive_directory_iterator(path))
          if (entry.is_regular_file()) files.push_back(entry.path());
      } else {
        files.emplace_back(path);
      }
      std::sort(files.begin(), files.end());
      for (const fs::path& file : files) count += replay_file(file);
    }
    std::cout << count << " executions\n";
    return count > 0 ? 0 : 1;
  }

  int show() {
    for (const Target& target : targets()) {
      if (!wanted(target)) continue;
      const Execution execution =
          make_execution(bench_, target, options_.seed, static_cast<uint64_t>(*options_.number));
      std::cout << execution.input;
    }
    return 0;
  }

 private:
  bool wanted(const Target& target) const {
    return options_.names.empty() ||
           std::find(options_.names.begin(), options_.names.end(), target.name) != options_.names.end();
  }

  size_t replay_file(const fs::path& file) const {
    const std::string input = read(file.string()), folder = file.parent_path().filename().string();
    InputForm form = InputForm::kModule;
    for (size_t i = 0; i < kInputForms; ++i)
      if (folder == name(static_cast<InputForm>(i))) form = static_cast<InputForm>(i);
    size_t count = 0;
    for (const Target& target : targets()) {
      if (target.form != form || !wanted(target)) continue;
      std::cout << file.string() << " " << target.name << std::endl;
      constexpr uint64_t kChoices = 8;
      for (uint64_t i = 0; i < kChoices; ++i, ++count) {
        Random choice(i);
        target.run(bench_, input, choice);
      }
    }
    return count;
  }

  void print(const CampaignOptions& campaign, const Campaign& done, double seconds) const {
    TargetCount all;
    std::cout << fmt::format("{:14} {:>11} {:>11} {:>8} {:>9}  {}\n", "target", "executions", "taken", "1/s",
                             "findings", "slowest");
    const auto row = [&](std::string_view name, const TargetCount& count, size_t findings) {
      const double busy = static_cast<double>(count.nanoseconds) * 1e-9;
      std::cout << fmt::format("{:14} {:>11} {:>10.0f}% {:>8.0f} {:>9}  {:.2f} s\n", name, count.executions,
                               count.executions == 0 ? 0.0
                                                     : 100.0 * static_cast<double>(count.right) /
                                                           static_cast<double>(count.executions),
                               busy > 0 ? static_cast<double>(count.executions) / busy : 0.0, findings,
                               static_cast<double>(count.slowest) * 1e-9);
    };
    for (size_t i = 0; i < campaign.targets.size(); ++i) {
      const TargetCount& count = done.counts[i];
      const auto findings =
          std::count_if(done.findings.begin(), done.findings.end(),
                        [&](const Finding& one) { return one.target == campaign.targets[i]; });
      row(campaign.targets[i]->name, count, static_cast<size_t>(findings));
      all.executions += count.executions;
      all.right += count.right;
      all.nanoseconds += count.nanoseconds;
      all.slowest = std::max(all.slowest, count.slowest);
    }
    row("all", all, done.findings.size());
    std::cout << fmt::format("seed {}, {} seeds of modules, {} workers, {:.0f} s\n", campaign.seed,
                             bench_.pool(InputForm::kModule).seeds.size(), campaign.workers, seconds);
  }

  std::string base_of(const Finding& finding) const {
    return fmt::format("{}/{}-{}", options_.findings, finding.target->name, finding.number);
  }

  /// Writes the input of a finding, and how it came about.
  void describe(const Finding& finding, std::string_view input, std::string_view remark) const {
    fs::create_directories(options_.findings);
    write(base_of(finding) + ".original", input);
    write(base_of(finding) + ".txt",
          fmt::format("{}\n{} times, seed {}, number {}{}\n\n{}", finding.outcome.key, finding.times,
                      options_.seed, finding.number, remark, finding.outcome.text));
  }

  /// Makes it as small as it goes.
  void keep(const Finding& finding) const {
    const Execution execution = make_execution(bench_, *finding.target, options_.seed, finding.number);
    ExecutionLimits limits;
    const bool is_signal = finding.outcome.fault == Fault::kSignal;
    if (!is_signal) limits.seconds /= 4;
    Apart apart(
        [&](const std::string& input) {
          Random choice = execution.choice;
          finding.target->run(bench_, input, choice);
        },
        limits, bench_.folder + "/reduce.err");
    const auto shows = [&](const std::string& input) {
      const Outcome outcome = apart.execute(input);
      return outcome.fault == finding.outcome.fault && outcome.key == finding.outcome.key;
    };
    std::string small = execution.input;
    const bool again = shows(small);
    if (again) small = reduced(std::move(small), shows, is_signal ? options_.tries : 40);
    describe(finding, execution.input, again ? "" : "; not the same when tried again");
    const std::string file = base_of(finding) + ".input";
    write(file, small);
    std::cout << fmt::format("\n{}: {}\n{}", file, finding.outcome.key, small.substr(0, 2000)) << std::endl;
  }

  const Options& options_;
  const Bench& bench_;
};

int main(int argc, char** argv) {
  Options options;
  CommandLine line("Tries all that reads files on changed inputs.", "fuzz_all");
  line.add_option("--seeds", options.seeds, "Folders with modules and other files to start from")
      .one_value_each();
  line.add_option("--minutes", options.minutes, "How long").show_default();
  line.add_option("--seed", options.seed, "Of all choices: the same seed, the same inputs").show_default();
  line.add_option("--target", options.names, "Only this one; may be repeated").one_value_each();
  line.add_option("--executions", options.executions, "Of each target at most; 0: any number").show_default();
  line.add_option("--workers", options.workers, "Processes").show_default();
  line.add_option("--tries", options.tries, "To make the input of a finding smaller").show_default();
  line.add_option("--findings", options.findings, "Folder for the inputs of findings").show_default();
  line.add_option("--number", options.number, "Print the input with this number instead");
  line.add_option("--replay", options.replay, "Execute these files, or those of a folder, instead")
      .one_value_each();
  line.add_flag("--list", options.list, "Name the targets");
  const Result<std::string> help = line.parse({argv + 1, argv + argc});
  if (!help || !line.remaining().empty()) {
    std::cerr << (help ? "unexpected argument" : help.error().message) << "\n";
    return 2;
  }
  if (!help->empty() || options.list) {
    std::cout << *help;
    for (const Target& target : targets()) std::cout << target.name << " (" << name(target.form) << ")\n";
    return 0;
  }
  for (const std::string& one : options.names)
    if (!find_target(one)) return std::cerr << "no target is called " << one << "\n", 2;
  const Folder folder;
  for (const char* file : {"/a.hlo", "/b.hlo"}) write(folder.path() + file, kModule);
  const Bench bench = make_bench(folder.path(), options.seeds);
  Program program(options, bench);
  return options.number ? program.show() : options.replay.empty() ? program.run() : program.replay();
}

}  // namespace
}  // namespace hlosim::fuzz

int main(int argc, char** argv) { return hlosim::fuzz::main(argc, argv); }
