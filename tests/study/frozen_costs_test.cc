// Every time, unit and byte that the model gives this repository's modules and the measured cases, compared
// with a saved list, so that a change of the code that should not change a result is seen not to.
//
//   HLOSIM_UPDATE=1 build/ci/tests/study_tests --gtest_filter='FrozenCosts.*'   writes the lists anew
//   HLOSIM_COST_DUMP=/tmp/before …                                              writes each one's costs there
//
// Two dumps, made before and after a change, show which instruction differs and in which unit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "estimate/estimate.h"
#include "input/load_modules.h"
#include "study/accuracy.h"
#include "support/module_files.h"
#include "support/simulations.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;
using Lines = std::map<std::string, std::string>;  // by what was costed

constexpr const char* kDevices[] = {"v4", "v5e", "v5p", "v6e", "v7x"};

/// One line per instruction: name, executions, times, each unit's and each memory space's share.
std::string costs_text(const Module& module, const Simulation& run) {
  std::string text;
  for (const InstructionRecord& record : run.instructions) {
    const InstructionCost& cost = run.cost(record);
    text += fmt::format("{} x{} time {} self {} exposed {} stream {} fixed {} bound {} flops {} bytes {} {}",
                        module[record.id].name, record.executions, record.time.count(),
                        record.self_time.count(), record.exposed.count(), cost.stream.count(),
                        cost.fixed.count(), static_cast<int>(record.bound_by), cost.flops.count(),
                        cost.logical_bytes.count(), cost.padded_bytes.count());
    for (size_t unit = 0; unit < cost.busy.size(); ++unit)
      if (cost.busy[unit].count() != 0) text += fmt::format(" u{}:{}", unit, cost.busy[unit].count());
    for (size_t space = 0; space < cost.traffic.size(); ++space)
      if (cost.traffic[space].total().count() != 0)
        text += fmt::format(" s{}:{}+{}", space, cost.traffic[space].read.count(),
                            cost.traffic[space].written.count());
    text += '\n';
  }
  for (const TransferRecord& transfer : run.transfers)
    text += fmt::format("transfer {} x{} {} {} {} {} {}\n", module[transfer.start_instruction].name,
                        transfer.executions, transfer.start.count(), transfer.begin.count(),
                        transfer.end.count(), transfer.exposed.count(), transfer.bytes.count());
  return text;
}

/// Writes what HLOSIM_COST_DUMP asks for.
void dump(const std::string& name, const std::string& text) {
  const char* folder = std::getenv("HLOSIM_COST_DUMP");
  if (!folder) return;
  std::string file = name;
  for (char& c : file)
    if (c == '/') c = '_';
  fs::create_directories(folder);
  std::ofstream(fs::path(folder) / (file + ".txt")) << text;
}

/// The makespan on each device, in picoseconds or "-", and a hash of all costs.
std::string frozen(const std::string& name, const Module& module, const std::vector<Device>& devices) {
  std::string line;
  Fnv1a hash;
  for (const Device& device : devices) {
    const Result<Estimate> run = estimate(module, op_table(), device, EstimateOptions{});
    if (!run) {
      line += "- ";
      continue;
    }
    const std::string costs = costs_text(*run->module, *run->simulation);
    dump(fmt::format("{}.{}", name, device.config.name), costs);
    hash.add_text(costs);
    line += fmt::format("{} ", run->simulation->totals.makespan.count());
  }
  return line + fmt::format("{:016x}", hash.value());
}

Lines read_lines(const fs::path& file) {
  Lines lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    lines[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return lines;
}

/// Compares `now` with the list, or writes it there. Names that only one of the two has are differences.
void expect_frozen(const std::string& list, const std::string& heading, const Lines& now) {
  const fs::path file = test::source_folder() / "tests/study" / list;
  if (std::getenv("HLOSIM_UPDATE") != nullptr) {
    std::ofstream out(file);
    out << heading;
    for (const auto& [name, line] : now) out << name << '\t' << line << '\n';
    return;
  }
  const Lines before = read_lines(file);
  size_t different = 0;
  const auto differs = [&](const std::string& name, const std::string& was, const std::string& is) {
    if (++different <= 20) ADD_FAILURE() << name << "\n  was " << was << "\n  is  " << is;
  };
  for (const auto& [name, line] : now) {
    const auto found = before.find(name);
    const std::string was = found == before.end() ? "not in the list" : found->second;
    if (was != line) differs(name, was, line);
  }
  for (const auto& [name, line] : before)
    if (!now.contains(name)) differs(name, line, "gone");
  EXPECT_EQ(different, 0u) << "results changed; if they should have, HLOSIM_UPDATE=1 writes " << list;
}

TEST(FrozenCosts, OfThisRepositorysModules) {
  std::vector<fs::path> files;
  const fs::path sources = test::source_folder();
  for (const fs::path& file : test::right_modules({.file_tests = 1, .others = 0}))
    if (fs::relative(file, sources).string().rfind("..", 0) != 0) files.push_back(file);
  std::vector<Device> devices;
  for (const char* name : kDevices) devices.push_back(test::device_or_fail(name));
  std::vector<Lines> found(files.size());
  parallel_for(static_cast<int64_t>(files.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const fs::path& file = files[static_cast<size_t>(i)];
      const Result<SourcePtr> source = read_source(file.string());
      DiagnosticList problems;
      if (!source) continue;
      const std::vector<Module> modules = load_modules(*source, op_table(), problems);
      for (size_t at = 0; !problems.has_errors() && at < modules.size(); ++at) {
        const std::string name = fmt::format("{}#{}", fs::relative(file, sources).string(), at);
        found[static_cast<size_t>(i)][name] = frozen(name, modules[at], devices);
      }
    }
  });
  Lines now;
  for (const Lines& lines : found) now.insert(lines.begin(), lines.end());
  EXPECT_GT(now.size(), 200u);
  expect_frozen("frozen_costs.txt",
                "# module\tpicoseconds on v4 v5e v5p v6e v7x, hash of all costs (frozen_costs_test.cc)\n",
                now);
}

/// The predicted times of one file of measured cases; models' steps are left out, as they take minutes.
void add_cases(const std::string& path, Lines& now) {
  const fs::path file = test::shared_folder() / path;
  const Result<SourcePtr> source = read_source(file.string());
  if (!source) return;
  DiagnosticList problems;
  std::vector<MeasuredCase> cases = read_measured_cases(*source, problems);
  std::erase_if(cases, [](const MeasuredCase& one) { return one.run != nullptr; });
  const std::vector<Prediction> predictions = predict(cases, file.string(), {});
  for (size_t i = 0; i < cases.size(); ++i)
    now[path + "#" + cases[i].id] =
        predictions[i].us ? fmt::format("{}", std::llround(*predictions[i].us * 1e6)) : "-";
}

TEST(FrozenCosts, OfMeasuredCases) {
  Lines now;
  for (const char* path :
       {"measured/cases.json", "measured/kernels/cases.json", "measured/kernels/cases-2.json"})
    add_cases(path, now);
  if (now.empty()) GTEST_SKIP() << test::no_shared("measured");
  EXPECT_GT(now.size(), 1000u);
  expect_frozen("frozen_cases.txt", "# case\tpredicted picoseconds (frozen_costs_test.cc)\n", now);
}

}  // namespace
}  // namespace hlosim
