// From a module as it was read to the one that runs: partitioned, lowered as a TPU compiler might do it, and
// laid out.
//
//   const Result<Prepared> prepared = prepare(module, op_table(), device, options);
//   *prepared->written     what a tuner works on
//   *prepared->module      what is simulated
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/source.h"
#include "estimate/partition_over_mesh.h"
#include "flags/compiler_choices.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/assumptions.h"
#include "model/device.h"
#include "sim/simulate.h"

namespace hlosim {

/// What runs of a module that no TPU compiler has touched: what one would make of it (lower/lower.h), or the
/// module as it stands.
enum class Lowering : uint8_t { kPlain, kNever };

/// What runs of a module that is sharded and not partitioned (estimate/unpartitioned.h): the program of one
/// of the devices of its shardings, or the module as it stands.
enum class Partitioning : uint8_t { kSharded, kNever };

/// What time depends on besides the module and the device.
struct EstimateOptions {
  SimulateOptions simulate;
  Lowering lowering = Lowering::kPlain;
  CompilerChoices compiler{};                          // for what is lowered
  std::optional<MeshRequest> mesh{};                   // the module is spread over it first
  Partitioning partitioning = Partitioning::kSharded;  // where no mesh is given
  std::function<bool()> is_late{};  // once it returns true lowering takes the best that it has so far
};

inline constexpr std::string_view kLoweringWasCut =
    "the time was over before lowering had tried all variants: another run may find a faster one";

struct Prepared {
  std::shared_ptr<const Module> written;  // lowered, or the given one; its layouts are those of the text
  std::shared_ptr<const Module> module;   // the same in tiles (model/native_layouts.h)
  bool is_lowered = false;                // or partitioned: another one than the one given
  std::shared_ptr<const PartitionNotes> spread;  // null: it has nothing to do with several devices
  int64_t unpartitioned_devices = 0;     // of the shardings, where the module runs as a whole nevertheless
  AssumptionList assumptions;            // that were made on the way
  bool is_cut = false;                   // by is_late: kLoweringWasCut is among the assumptions
  std::optional<Simulation> simulation;  // of `module`, where lowering ran it; without a timeline
};

/// `module` stays as it is. Requires: a verified module, every array with a layout, as reading gives it.
/// Errors: of partition_over_mesh() and check_native_sizes(); `options.simulate.stop` was asked.
Result<Prepared> prepare(const Module& module, const OpTable& table, const Device& device,
                         const EstimateOptions& options);

}  // namespace hlosim
