// What a program's memory is for: its parameters, what its optimizer keeps, what it computes on the way.
//
//   const std::vector<MemoryClass> classes = memory_classes(module, op_table(), occupancy);
//   classes[i]                                     // of occupancy.buffers[i]: MemoryClass::kParameters
//   bytes_at(occupancy, classes, space)            // by class, at the space's peak
//
// Told by what is done, not by names. An argument comes back if a result takes over its memory or, in modules
// that donate nothing, if a result of its shape is made of it (memory/argument_flow.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "memory/occupancy.h"

namespace hlosim {

enum class MemoryClass : uint8_t {
  kParameters,  // arguments that products or lookups read, and that come back changed; or weights that don't
  kOptimizerState,  // arguments of a training step that come back and that no product reads
  kCache,           // arguments that come back with a part written anew, where nothing is trained
  kInputs,          // all other arguments
  kActivations,     // what is computed on the way
  kGathered,        // results of all-gathers
  kResults,         // results in memory of their own
  kConstants,
};
inline constexpr size_t kMemoryClasses = static_cast<size_t>(MemoryClass::kConstants) + 1;
/// "parameters", "optimizer state", …
std::string_view to_text(MemoryClass kind);

/// By buffer of the occupancy, which is the module's. `given`: the module that this one was lowered or
/// partitioned from, or null. What reads an argument is taken from there where both have the same arguments,
/// so that the classes of arguments don't depend on the form that lowering gives to products.
std::vector<MemoryClass> memory_classes(const Module& module, const OpTable& table,
                                        const Occupancy& occupancy, const Module* given = nullptr);

using BytesByClass = std::array<Bytes, kMemoryClasses>;
/// At the step of the space's peak; they add up to it.
BytesByClass bytes_at_peak(const Occupancy& occupancy, const std::vector<MemoryClass>& classes,
                           const SpaceOccupancy& space);

}  // namespace hlosim
