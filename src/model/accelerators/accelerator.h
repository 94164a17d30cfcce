// Devices by the names that people use: accelerator types with their slice, JAX's device kinds, marketing
// names.
//
//   const Result<std::optional<Accelerator>> one = find_accelerator("v5p-128");
//   (*one)->device                                 // "v5p"
//   (*one)->topology                               // "4x4x4", of 64 chips: v5p counts cores
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/source.h"

namespace hlosim {

struct Accelerator {
  std::string device;    // the built-in device file: "v5e"
  std::string topology;  // of one slice, as --topology takes it; empty where the name says none
};

/// One family of names: all lead to the same device.
struct AcceleratorFamily {
  std::string_view device;
  std::span<const std::string_view> names;   // in lower case; each may be followed by "-" and a size or shape
  std::span<const std::string_view> kinds;   // in lower case; JAX's device_kind and others without a slice
  int64_t counted_per_chip = 1;              // what the number after "-" counts: TensorCores, or 1: chips
  std::span<const std::string_view> slices;  // default shape of each size on offer, the smallest first
  std::string_view source;                   // of the shapes
};

std::span<const AcceleratorFamily> accelerator_families();

/// What `name` stands for, in whatever case it is written; null where it follows no such pattern.
/// Errors: a size that the family has no slice of (the nearest are named), a shape of another rank, something
/// else after "-", a family that there is no device file for.
Result<std::optional<Accelerator>> find_accelerator(std::string_view name);

/// For a name that leads nowhere: `did you mean "v6e-64"?` for "v6-64", the devices of the nearest generation
/// for a number that there is none of. Empty for what isn't written like a generation.
std::string nearest_generation(std::string_view name);

/// A Markdown table of all names, part of docs/devices.md.
std::string accelerators_markdown();

}  // namespace hlosim
