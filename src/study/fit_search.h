// The largest size of a program that fits into a device's memory, by bisection.
//
//   const Result<FitSearch> fit = largest_that_fits({.unit = 8, .most = 4096}, make_module, device, options);
//   fit->largest                                   // 40; 0: not even the smallest fits
//   fit->trials[2].time                            // of a program of that size
//
// Sizes are doubled until one doesn't fit, then the boundary is halved. That presumes that a larger size
// needs more memory; where a program's lowering makes it otherwise, the answer is one of several boundaries.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/source.h"
#include "base/units.h"
#include "estimate/estimate.h"

namespace hlosim {

struct FitQuestion {
  int64_t unit = 1;  // sizes are multiples of it
  int64_t most = 1;  // no larger ones are tried; at least `unit`
};

struct FitTrial {
  int64_t size = 0;
  Bytes peak{};         // of HBM
  std::string problem;  // "VMEM: 144.00 MiB needed …": what doesn't fit; empty: all does
  Picoseconds time{};
  bool fits() const { return problem.empty(); }
};

struct FitSearch {
  int64_t largest = 0;           // of those tried that fit; 0: none
  bool is_limited = false;       // by FitQuestion::most, not by memory
  std::vector<FitTrial> trials;  // by size
};

/// A program of this size.
using MakeProgram = std::function<Result<Module>(int64_t size)>;

/// Errors: those of make and of estimate() at any size, which they name; a program of whose memory nothing is
/// known.
Result<FitSearch> largest_that_fits(const FitQuestion& question, const MakeProgram& make,
                                    const OpTable& table, const Device& device,
                                    const EstimateOptions& options);

}  // namespace hlosim
