// Loops that run once per layer: their state stacks the layers' arrays along a dimension that is as long as
// the loop runs, and each turn reads or writes one element of it.
//
//   for (const LayerLoop& loop : layer_loops(module, op_table(), classes))
//     std::cout << module[loop.id].name << ' ' << loop.trips;
#pragma once

#include <set>
#include <string>
#include <vector>

#include "shrink/dimension_classes.h"

namespace hlosim {

struct LayerLoop {
  InstructionId id;
  int64_t trips = 0;
  std::set<DimensionClass> stacks;     // of the stacked dimensions
  std::vector<InstructionId> indices;  // scalars that say which layer a turn reads or writes
};

/// Loops of a known number of turns, more than one, that have stacked dimensions.
std::vector<LayerLoop> layer_loops(const Module& module, const OpTable& table,
                                   const DimensionClasses& classes);

/// Constants that a loop counts its turns or finds its layer by, and what they become.
struct LayerNumbers {
  std::vector<std::pair<InstructionId, int64_t>> constants;
  std::string problem;  // why they can't be told; empty: they can
};

/// For `layers` turns instead of loop.trips.
LayerNumbers layer_numbers(const Module& module, const LayerLoop& loop, int64_t layers);

/// The module with these constants and, for each loop, a stated number of turns that says `layers`.
void set_layers(Module& module, const std::vector<LayerLoop>& loops,
                const std::vector<std::pair<InstructionId, int64_t>>& constants, int64_t layers);

}  // namespace hlosim
