// Random programs under random shardings compute the same on all their devices, whatever lies in the padding.
//
// Those of odd seeds with products as rings. HLOSIM_RANDOM_SEEDS=from:to runs other seeds than the usual
// ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>

#include "hlo/module_editor.h"
#include "oracle/random_module.h"
#include "partition_check/partition_check.h"
#include "support/modules.h"
#include "support/random_shardings.h"

namespace hlosim {
namespace {

std::pair<uint64_t, uint64_t> seeds(uint64_t from, uint64_t to) {
  if (const char* given = std::getenv("HLOSIM_RANDOM_SEEDS")) {
    char* end = nullptr;
    from = std::strtoull(given, &end, 10);
    to = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : from + 1;
  }
  return {from, to};
}

/// Computations whose instructions are partitioned one by one.
std::set<ComputationId> partitioned(const Module& module) {
  std::set<ComputationId> found = {module.entry};
  std::vector<ComputationId> waiting = {module.entry};
  while (!waiting.empty()) {
    const ComputationId at = waiting.back();
    waiting.pop_back();
    for (const InstructionId id : module[at].instructions) {
      const ValueRule rule = op_table()[module[id].opcode].rules.value;
      if (rule != ValueRule::kLoop && rule != ValueRule::kConditional) continue;
      for_each_called(module[id], [&](ComputationId called) {
        if (found.insert(called).second) waiting.push_back(called);
      });
    }
  }
  return found;
}

/// About two thirds of the arrays are said to lie somehow, each by its name.
void shard(Module& module, int64_t devices, uint64_t seed) {
  ModuleEditor editor(module);
  for (const ComputationId computation : partitioned(module))
    for (const InstructionId id : module[computation].instructions) {
      uint32_t number = static_cast<uint32_t>(seed) * 2654435761u;
      for (const char c : module[id].name) number = number * 31 + static_cast<unsigned char>(c);
      test::RandomShardings shardings(devices, number);
      const ShapeRef shape = module[id].shape;
      if (!shape->is_array() || shardings.number(3) == 0) continue;
      const std::string text = shardings.next(static_cast<size_t>(shape->rank()));
      editor.set_attr(id, Attr::make_text(AttrKey::kSharding, AttrSyntax::kSharding,
                                          module.arena().copy(std::string_view(text))));
    }
}

Result<PartitionCheck> checked(const std::string& text, int64_t devices, uint64_t seed,
                               std::string& sharded) {
  Module module = test::module_or_fail(text);
  shard(module, devices, seed);
  sharded = to_text(module, op_table());
  PartitionCheckOptions options;
  options.whole_numbers = true;
  return check_partition(
      module, op_table(),
      {.devices = devices,
       .windowed = {.when = seed % 2 == 1 ? WindowedEinsum::When::kAlways : WindowedEinsum::When::kNever,
                    .flops_per_second = {}}},
      options);
}

/// The smallest that shows it: what one output needs.
std::string shown(uint64_t seed, int64_t devices, const PartitionCheck& check) {
  std::string sharded;
  for (size_t leaf = 0; leaf < check.outputs.size(); ++leaf) {
    if (check.outputs[leaf].comparison.within()) continue;
    const auto again = checked(test::random_module(seed, false, leaf), devices, seed, sharded);
    if (!again || again->agrees()) continue;
    const CheckedOutput& output = again->outputs[0];
    return fmt::format("{}\n{} of {} elements of {} are off by up to {}", sharded, output.comparison.outside,
                       output.comparison.count, output.shape, output.comparison.max_abs);
  }
  checked(test::random_module(seed, false), devices, seed, sharded);
  return sharded;
}

/// Bits of rounded numbers, or where a comparison with NaN ends: the order of summing and comparing decides.
bool is_undecided(const std::string& text, const PartitionCheck& check) {
  return text.find("bitcast-convert(") != std::string::npos ||
         std::ranges::all_of(check.outputs, [](const CheckedOutput& output) {
           return output.comparison.within() || output.comparison.max_abs == 0;
         });
}

TEST(RandomPrograms, ComputeTheSameUnderRandomShardings) {
  const auto [from, to] = seeds(0, 120);
  int agree = 0, tried = 0, differ = 0, undecided = 0;
  std::map<std::string, int> refused;
  for (uint64_t seed = from; seed < to && differ < 20; ++seed) {
    constexpr int64_t kDevices[] = {2, 3, 4, 6, 8, 12, 16};
    const int64_t devices = kDevices[seed % 7];
    std::string sharded;
    const auto check = checked(test::random_module(seed, false), devices, seed, sharded);
    ++tried;
    if (!check) {
      ++refused[check.error().message];
      continue;
    }
    agree += check->agrees();
    if (check->agrees()) continue;
    if (is_undecided(sharded, *check)) {
      ++undecided;
      continue;
    }
    ++differ;
    ADD_FAILURE() << "seed " << seed << " on " << devices << " devices\n" << shown(seed, devices, *check);
  }
  std::cout << agree << " of " << tried << " agree, " << undecided << " are undecided, " << differ
            << " differ\n";
  for (const auto& [message, count] : refused) std::cout << count << " refused: " << message << "\n";
  EXPECT_GE(agree * 20, tried * 19);
}

}  // namespace
}  // namespace hlosim
