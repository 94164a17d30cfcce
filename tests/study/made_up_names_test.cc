// Names that rewriting makes up are free, whatever names a module has: modules that hold all of them already
// are rewritten, and the results read again.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "lower/lower.h"
#include "modules/compact.h"
#include "prefetch/prefetch.h"
#include "relayout/layout_tuner.h"
#include "schedule/latency_schedule.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// Reads a result again, as who gets its text does, and notes the names in it.
class Rewrites {
 public:
  explicit Rewrites(const Device& device) : device_(device) {}

  /// Everything that rewrites modules.
  void run(const std::string& what, const Module& module) {
    take(what, module);
    const auto after = [&](const Pass& pass, const Module& now) {
      take(fmt::format("{}: {}", what, pass.name), compacted(now, op_table()));
    };
    const bool plain = is_plain(module);
    const Module lowered = plain ? lower(module, op_table(), device_, {}, after) : module.copy();
    take(what + ": lower", lowered);
    if (const Result<Module> scheduled = schedule_for_latency(lowered, op_table(), device_))
      take(what + ": tune schedule", *scheduled);
    PrefetchOptions prefetch;
    prefetch.budget = 1e6;
    prefetch.moves = 50;
    prefetch.most_exact_sites = 0;
    if (const Result<PrefetchResult> tuned = tune_prefetch(lowered, op_table(), device_, prefetch))
      take(what + ": tune prefetch", tuned->module);
    LayoutTuneOptions layout;
    layout.search.moves = 20;
    if (const Result<LayoutTuning> tuned = tune_layouts(module, op_table(), device_, layout))
      take(what + ": tune layout", *tuned->module);
  }

  const std::set<std::string>& names() const { return names_; }

 private:
  void take(const std::string& what, const Module& module) {
    SCOPED_TRACE(what);
    expect_one_each(module);
    const Module again = test::module_or_fail(to_text(module, op_table()));
    expect_one_each(again);
    for (const Computation& computation : again.computations) names_.emplace(computation.name);
    for (const Instruction& instruction : again.instructions) names_.emplace(instruction.name);
  }

  static void expect_one_each(const Module& module) {
    std::set<std::string_view> computations;
    for (const Computation& computation : module.computations) {
      EXPECT_TRUE(computations.insert(computation.name).second) << computation.name;
      std::set<std::string_view> instructions;
      for (const InstructionId id : computation.instructions)
        EXPECT_TRUE(instructions.insert(module[id].name).second)
            << computation.name << ", " << module[id].name;
    }
  }

  const Device& device_;
  std::set<std::string> names_;
};

/// The same module with other names: the last computation has the first one, and in each the instructions go
/// through them from the beginning.
Module renamed(const Module& given, const std::set<std::string>& names) {
  Module module = given.copy();
  const auto nth = [&](size_t n) {
    const std::string name = n < names.size() ? *std::next(names.begin(), static_cast<std::ptrdiff_t>(n))
                                              : fmt::format("none_of_them.{}", n);
    return module.arena().copy(std::string_view(name));
  };
  size_t given_out = 0;
  for (size_t i = module.computations.size(); i-- > 0;) {
    Computation& computation = module.computations[ComputationId{static_cast<int32_t>(i)}];
    if (computation.is_async_sugar) continue;
    computation.name = nth(given_out++);
    for (size_t k = 0; k < computation.instructions.size(); ++k)
      module.instructions[computation.instructions[k]].name = nth(k);
  }
  return module;
}

TEST(MadeUpNames, AreFree) {
  constexpr const char* kDevices[] = {"v4", "v5e", "v6e", "v7x"};
  size_t count = 0;
  test::for_each_module(60, [&](const std::string& name, Module& module) {
    if (module.instructions.size() > 300) return;
    const Device device = test::device_or_fail(kDevices[count++ % std::size(kDevices)]);
    Rewrites rewrites(device);
    rewrites.run(name, module);
    for (const int round : {1, 2})
      rewrites.run(fmt::format("{}, round {}", name, round),
                   test::read_again(renamed(module, rewrites.names())));
  });
  EXPECT_GT(count, 100u);
}

}  // namespace
}  // namespace hlosim
