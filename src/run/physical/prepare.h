// Makes a module one whose values can have one place each, as a compiler does before it assigns memory.
//
//   PreparationOptions options;
//   options.random_order = 7;
//   Result<std::unique_ptr<BufferAnalysis>> placed = prepare_and_place(module, op_table(), options);
#pragma once

#include <memory>
#include <optional>

#include "buffers/buffer_analysis.h"
#include "layout/native_tiling.h"

namespace hlosim {

/// Computations that control flow runs from several places become several: memory belongs to a call. Errors:
/// more than a million instructions.
Result<void> separate_calls(Module& module);

/// Copies wherever values that have to share memory are needed at the same time, whatever the order of
/// execution: the state of loops, results of conditionals, what is updated in place, donated parameters.
/// Where order matters, control predecessors say so.
void insert_copies(Module& module, const OpTable& table);

/// What a module that lacks a copy would do wrong, the first of it; of a compiler's scheduled modules:
/// nothing.
std::optional<std::string> missing_copy(const BufferAnalysis& analysis);

/// Instructions that use the state of the device keep the order that they are written in, whatever the
/// schedule.
void order_effects(Module& module, const OpTable& table);

/// Every array that is a value of its own gets a layout by chance: order of dimensions, tiles, alignment of
/// the end. What has to be one piece of memory has one layout. Bitcasts become reshapes and transposes; where
/// one is neither, the arrays on both sides keep their layouts, as do sparse, split and unbounded arrays.
/// Errors: as analyse_buffers().
Result<void> give_random_layouts(Module& module, const OpTable& table, uint64_t seed);

/// Every computation that runs as control flow gets an order by chance, in which operands and control
/// predecessors come first.
void give_random_order(Module& module, uint64_t seed);

struct PreparationOptions {
  /// Anything but kAuto and kText makes copies that the text's order doesn't need.
  ScheduleSource schedule = ScheduleSource::kAuto;
  std::optional<uint64_t> random_order;    // seed; instead of `schedule`
  std::optional<uint64_t> random_layouts;  // seed
  /// For modules without tiled layouts.
  std::optional<TilingPolicy> native_tiling;
  int64_t alignment = 64;
};

/// All of it, as far as the module needs it: calls of their own; copies and the order of effects where it
/// isn't scheduled or gets another order than its own, copies also where a scheduled one lacks some; layouts;
/// then where everything lies. Errors: of separate_calls() and analyse_buffers().
Result<std::unique_ptr<BufferAnalysis>> prepare_and_place(Module& module, const OpTable& table,
                                                          const PreparationOptions& options);

}  // namespace hlosim
