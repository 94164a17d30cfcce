// What preparing a module comes upon that running it needs as well, and a limit to its time.
//
//   PreparedRun run;
//   run.is_late = [&] { return clock.is_over(); };
//   const Result<Prepared> prepared = prepare(module, table, device, options, run);
//   if (run.simulation) …                          // prepared->module was simulated on the way
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "estimate/prepared.h"

namespace hlosim {

/// What is known of the module that comes out.
struct PreparedRun {
  std::function<bool()> is_late{};       // once it returns true lowering takes the best that it has so far
  bool is_cut = false;                   // by is_late: kLoweringWasCut is among the assumptions
  std::optional<Simulation> simulation;  // with the options that prepare() had, but without a timeline
};

inline constexpr std::string_view kLoweringWasCut =
    "the time was over before lowering had tried all variants: another run may find a faster one";

/// As prepare(); `run` gets what was found out on the way.
Result<Prepared> prepare(const Module& module, const OpTable& table, const Device& device,
                         const EstimateOptions& options, PreparedRun& run);

}  // namespace hlosim
