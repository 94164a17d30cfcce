// From HLO as a front end writes it to roughly what a TPU compiler would run: simplified, with layouts,
// fused, and with values that stay on the chip. docs/lowering.md has the rules.
//
//   const Module lowered = lower(module, op_table(), device);
//
// The steps are passes (lower/pass.h), each of which rewrites a module into one that computes the same.
#pragma once

#include <functional>
#include <optional>

#include "flags/compiler_choices.h"
#include "lower/pass.h"
#include "sim/simulate.h"

namespace hlosim {

/// No TPU compiler has touched it: no array has tiles, and the order is open or that of a GPU or CPU. Its
/// bitcasts, if any, can be said without layouts.
bool is_plain(const Module& module);

/// Lowered::how where the default passes have done it.
inline constexpr std::string_view kLoweredByDefault = "by the default passes";

/// What became of a module.
struct Lowered {
  Module module;
  std::string_view how;  // of the candidates that lower() tries
  /// Of the module as it is here, without a timeline. None: it wasn't simulated as it is.
  std::optional<Simulation> simulation;
  bool cut = false;  // by `is_late`: not all candidates were tried
};

/// The fastest in simulated time of what the default passes make of it, some variants of that
/// (docs/lowering.md), and the module as it stands, in native layouts. Among equals the first of these.
/// `after` watches the default passes. Once `is_late` returns true no further candidate is tried; the first
/// one always is, but for modules of 20,000 instructions and more: of these the module as it stands is the
/// result if the time is over before the first one is made. Once `options.stop` was asked the result is good
/// for nothing. Requires: a verified module. Post: so is the result.
Lowered lower_as(const Module& module, const OpTable& table, const Device& device,
                 const SimulateOptions& options = {}, const PassObserver& after = {},
                 const CompilerChoices& compiler = {}, const std::function<bool()>& is_late = {});
Module lower(const Module& module, const OpTable& table, const Device& device,
             const SimulateOptions& options = {}, const PassObserver& after = {});

}  // namespace hlosim
