// The recorded terms of every time add up to it, and name keys that the device has: for the file tests, the
// samples, the examples and a part of the corpus.
#include "terms/terms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "estimate/estimate.h"
#include "input/load_modules.h"
#include "report/explain.h"
#include "support/module_files.h"
#include "support/simulations.h"
#include "terms/read_keys.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr const char* kDevices[] = {"v4", "v5e", "v5p", "v6e", "v7x", "unit"};
/// Instructions of one module that are looked at, evenly spread.
constexpr size_t kMostOfModule = 30;

struct Tally {
  size_t instructions = 0, sums = 0, keys = 0, units = 0;
  std::set<std::string> named;  // keys of the terms of one module
  std::string wrong;            // the first few

  void fail(std::string text) {
    if (wrong.size() < 4000) wrong += text + "\n";
  }
  Tally& operator+=(const Tally& other) {
    instructions += other.instructions, sums += other.sums, keys += other.keys, units += other.units;
    wrong += other.wrong;
    return *this;
  }
};

/// Every term with parts is their sum, and every key exists.
void check_terms(const std::vector<Term>& terms, const Device& device, const std::string& where,
                 Tally& tally) {
  for (const Term& term : terms) {
    double sum = 0, largest = 1;
    bool has_parts = false;
    for (const TermInput& input : term.inputs) {
      if (input.adds)
        sum += *input.adds, largest = std::max(largest, std::abs(*input.adds)), has_parts = true;
      if (input.kind != InputKind::kKey) continue;
      ++tally.keys;
      tally.named.insert(input.key);
      if (!device.value(input.key)) tally.fail(fmt::format("{}: no key {}", where, input.key));
    }
    // Kernels' times are rounded up; of the largest numbers the last digits are lost.
    const double value = static_cast<double>(term.value.count()), slack = 1.5 + largest * 1e-12;
    if (has_parts && std::abs(sum - value) > slack)
      tally.fail(fmt::format("{}: {} is {} ps, its parts add up to {:.1f}", where, term.name,
                             term.value.count(), sum));
    tally.sums += has_parts;
  }
}

/// The longest term of a unit is what the whole counts as such.
void check_units(const std::vector<Term>& terms, const InstructionCost& cost, const std::string& where,
                 Tally& tally) {
  Picoseconds longest{};
  for (const Term& term : terms)
    if (term.unit != Unit::kNone) longest = std::max(longest, term.value);
  const bool on_links = cost.busy[index_of(Unit::kIci)].count() > 0;
  if (longest.count() == 0 || on_links || cost.category == CostCategory::kCollective) return;
  ++tally.units;
  if (longest != cost.stream)
    tally.fail(
        fmt::format("{}: the longest unit takes {} ps, not {}", where, longest.count(), cost.stream.count()));
}

/// Keys that terms name are those that keys_without_effect() takes as read.
void check_keys(const Estimate& run, const Device& device, const std::string& name, Tally& tally) {
  ReadKeys read(device.config);
  ASSERT_TRUE(record_costs(*run.module, op_table(), device, {}, read));
  std::set<std::string, std::less<>> paths = read.paths();
  paths.merge(keys_of_transfers(*run.simulation, device));
  for (const std::string& key : tally.named) {
    const bool is_read = std::ranges::any_of(paths, [&](const std::string& path) {
      return key.starts_with(path) && (key.size() == path.size() || key[path.size()] == '.');
    });
    if (!is_read) tally.fail(fmt::format("{} on {}: {} isn't read", name, device.config.name, key));
  }
}

Tally check(const Module& module, const Device& device, const std::string& name) {
  Tally tally;
  const Result<Estimate> run = estimate(module, op_table(), device, EstimateOptions{});
  if (!run) return tally;
  const Simulation& simulation = *run->simulation;
  const size_t step = simulation.instructions.size() / kMostOfModule + 1;
  for (size_t i = 0; i < simulation.instructions.size(); i += step) {
    const InstructionRecord& record = simulation.instructions[i];
    const std::string where =
        fmt::format("{} on {}: {}", name, device.config.name, (*run->module)[record.id].name);
    const auto e = explain(*run->module, op_table(), device, {}, record.id, simulation);
    if (!e || e->terms.empty()) {
      tally.fail(where + " has no terms");
      continue;
    }
    // Sums of such times stop growing.
    if (e->cost.time().count() > kForever.count() / 4) continue;
    ++tally.instructions;
    check_terms(e->terms, device, where, tally);
    check_units(e->terms, e->cost, where, tally);
    if (e->terms.back().value != e->cost.time())
      tally.fail(fmt::format("{} takes {} ps, the last term says {}", where, e->cost.time().count(),
                             e->terms.back().value.count()));
    const bool calls = op_table()[(*run->module)[record.id].opcode].has(kCallsInline);
    if (!calls && e->cost.time() * e->executions + e->waited + e->shared != e->in_run)
      tally.fail(where + ": the run's time isn't its own, what it waits and what it shares");
  }
  check_keys(*run, device, name, tally);
  return tally;
}

TEST(Terms, OfFileTestsAndProgramsAddUp) {
  const std::vector<std::filesystem::path> files = test::right_modules({.file_tests = 1, .others = 32});
  std::vector<Device> devices;
  for (const char* name : kDevices) devices.push_back(test::device_or_fail(name));
  std::vector<Tally> found(files.size());
  parallel_for(static_cast<int64_t>(files.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<size_t>(i);
      const Result<SourcePtr> source = read_source(files[at].string());
      if (!source || (*source)->text().size() > 200'000) continue;
      DiagnosticList problems;
      const std::vector<Module> modules = load_modules(*source, op_table(), problems);
      if (problems.has_errors()) continue;
      for (const Module& module : modules)
        for (const Device& device : devices)
          found[at] += check(module, device, files[at].filename().string());
    }
  });
  Tally all;
  for (const Tally& one : found) all += one;
  EXPECT_EQ(all.wrong, "");
  EXPECT_GT(all.instructions, 1000u);
  EXPECT_GT(all.sums, 3000u);
  EXPECT_GT(all.keys, 5000u);
  EXPECT_GT(all.units, 500u);
}

}  // namespace
}  // namespace hlosim
