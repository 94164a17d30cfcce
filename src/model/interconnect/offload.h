// Work that runs on the cores beside the TensorCores, the SparseCores: which that is, and what they take for
// it.
//
//   const Offloads offloads(module, table);
//   if (offloads.has(id)) …                                          // the module's text gives it to them
//   if (const auto core = OffloadCore::of(device)) core->launch();   // second kind of core (model/core.h)
//
// An offloaded collective sends on what arrives and adds up what it reduces, an offloaded gather moves rows;
// the TensorCore goes on meanwhile. docs/timing_model.md has the equations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/device.h"
#include "model/unit.h"

namespace hlosim {

/// The cores beside the TensorCores of one device: the only code that reads their section of a device file.
class OffloadCore {
 public:
  /// Nothing for devices that have none.
  static std::optional<OffloadCore> of(const DeviceConfig& device);

  Unit unit() const;
  /// Those that take part: all of the device, or one where the instruction's configuration says so.
  int64_t count_for(const Instruction& instruction) const;
  int64_t count() const;
  /// Start and synchronisation of one piece of work.
  Picoseconds launch() const;
  /// Bytes of one vector of a subcore, the least that it fetches from HBM.
  double vector_bytes() const;
  /// To move or add up `bytes`, a vector at a time and subcore of `cores` cores.
  Picoseconds vectors_time(double bytes, int64_t cores) const;
  /// Device keys that these answers come from, without the section.
  std::span<const std::string_view> keys() const;

 private:
  OffloadCore() = default;

  Unit unit_ = Unit::kNone;
  int64_t count_ = 0, subcores_ = 0;  // cores of the device, subcores of each
  double vector_bytes_ = 0;
  Picoseconds launch_{};
  double vector_cycles_ = 0;
  Hertz clock_{};
};

/// What a module's text gives to these cores: computations of their thread, what async starts with their name
/// among their attributes call, and instructions whose own attributes name them.
class Offloads {
 public:
  Offloads(const Module& module, const OpTable& table);
  bool has(InstructionId id) const;

 private:
  const Module& module_;
  IdMap<ComputationId, uint8_t> given_;
};

/// The execution thread of what is given to them.
std::string_view offload_thread();

// ── what the generation's compiler gives to them unasked ──

/// Reduce-scatters, which then run beside other work.
bool offloads_reduce_scatters(const DeviceConfig& device);
/// Gathers, where the device says so, from tables in HBM that are larger than VMEM.
bool offloads_gather(const Module& module, InstructionId gather, const DeviceConfig& device);

// ── gathers ──

/// Rows that are fetched from a table in HBM and written down one after the other.
struct OffloadedGather {
  Unit unit = Unit::kNone;
  Bytes read{}, written{};
  Picoseconds launch{};
  Picoseconds stream{};  // that the subcores need; HBM may need longer
};

/// Each row comes in runs as it lies in the table's tiles: 32-bit words, so that a row of a 16-bit type comes
/// with the one that it shares words with, in granules of one vector. Nothing for what is no gather from HBM,
/// and for devices without such cores.
std::optional<OffloadedGather> offloaded_gather(const Module& module, InstructionId gather,
                                                const DeviceConfig& device);

// ── assumptions of reports ──

std::string_view offloaded_gather_assumption();
/// Of offloaded work that is neither a collective nor a gather.
std::string_view other_offload_assumption();
/// Of offloaded collectives on a device without such cores.
std::string_view no_offload_core_assumption();

}  // namespace hlosim
