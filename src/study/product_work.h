// What a program does at least, counted over its loops: products, and what goes over the links.
//
//   for_each_run(module, op_table(), 1, [&](const Instruction& instruction, double times) { … });
//   const LeastTime least = time_lower_bound(module, op_table(), device, 1);
#pragma once

#include <cstdint>
#include <functional>

#include "base/units.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/device.h"

namespace hlosim {

/// Calls f(instruction, times) for each instruction that a result or an effect depends on, those of fusions
/// among them, with how often it runs. Of the branches of a conditional none is sure to run: left out.
/// `trip_count`: of loops that don't say theirs.
void for_each_run(const Module& module, const OpTable& table, int64_t trip_count,
                  const std::function<void(const Instruction&, double)>& f);

/// Bounds of a program for one device of several (links): no schedule is faster.
struct LeastTime {
  Picoseconds products{};  // FLOPs over the peak of their element types
  Picoseconds links{};     // what a device has to send over all its links at once
  Bytes arguments{};       // memory that it holds in any case

  Picoseconds time() const { return products > links ? products : links; }
};
/// Requires: a verified module that is partitioned.
LeastTime time_lower_bound(const Module& module, const OpTable& table, const Device& device,
                           int64_t trip_count);

}  // namespace hlosim
