// The values of a module and what shares memory, for whatever order its instructions run in.
//
//   const ModuleMemory memory(module);
//   for (const InstructionOrder& order : orders)
//     peaks.push_back(memory_occupancy(memory, device.config, order).spaces[0].peak);
#pragma once

#include <optional>
#include <string>

#include "memory/aliased.h"
#include "memory/live_range.h"
#include "memory/occupancy.h"
#include "memory/overwrite.h"

namespace hlosim {

/// Requires: the module outlives it and changes in nothing but the order of its instructions. Where several
/// callers meet in one computation, they count in the order that the module had first.
class ModuleMemory {
 public:
  /// `reach`: with kAll the same live ranges come out, later.
  explicit ModuleMemory(const Module& module, GraphReach reach = GraphReach::kControlFlow);
  ModuleMemory(const ModuleMemory&) = delete;
  ModuleMemory& operator=(const ModuleMemory&) = delete;

  const Module& module() const { return graph.module(); }
  /// Why nothing is known of the module's values; empty: they are known.
  std::string unknown() const { return found_ ? std::string() : found_.error().message; }
  /// Both require: they are known.
  const Values& values() const { return *found_; }
  const AliasedBuffers& aliased() const { return *aliased_; }

  const ModuleGraph graph;
  const Places places;
  const UserIndex users;
  const Overwrites overwrites;

 private:
  const Result<Values> found_;
  std::optional<AliasedBuffers> aliased_;
};

/// Facts of a module that are the same in any order of its instructions, found once.
struct SameInAllOrders {
  LastUsers last_users;
  std::vector<Bytes> sizes;  // of the array of each value
};

/// memory_occupancy() of one of several orders (memory/occupancy.h). `same`: of the same module; found here
/// if it is empty.
Occupancy memory_occupancy(const ModuleMemory& memory, const DeviceConfig& device,
                           const InstructionOrder& order, SameInAllOrders* same = nullptr);

}  // namespace hlosim
