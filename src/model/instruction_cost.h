// What one instruction costs on a device: how long it keeps each unit busy, which bytes it moves where.
//
//   Work (ops/work.h)  ×  physical shapes  ×  Device  →  InstructionCost
//
// All units of an instruction run at the same time, so it takes the longest of them plus what nothing
// hides: time() = stream + fixed. The equations and their sources: docs/timing_model.md.
//
// A device of several cores (megacore) is one machine here: work is split evenly, rates are those of
// all cores.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/saturating.h"
#include "base/units.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/assumptions.h"
#include "model/device.h"
#include "model/unit.h"

namespace hlosim {

/// Where traffic of S(n) goes that the device doesn't know.
inline constexpr size_t kUnknownSpace = kMaxMemorySpaces;

/// Where sums of bytes stop growing, so that adding two of them never overflows.
inline constexpr Bytes kMostBytes{int64_t{1} << 61};
/// into + more, kMostBytes at most. Requires: 0 <= into <= kMostBytes, more >= 0.
constexpr void add_bytes(Bytes& into, Bytes more) {
  into = more > kMostBytes - into ? kMostBytes : into + more;
}

/// Bytes read from and written to one memory space: array sizes, padding included; at most kMostBytes each.
/// Scalars (rank 0) live with the scalar unit and are no traffic.
struct Traffic {
  Bytes read{};
  Bytes written{};
  Bytes total() const { return read + written; }
  Traffic& operator+=(const Traffic& other) {
    read += other.read, written += other.written;
    return *this;
  }
  bool operator==(const Traffic&) const = default;
};
using SpaceTraffic = std::array<Traffic, kMaxMemorySpaces + 1>;
using UnitTimes = std::array<Picoseconds, kUnitCount>;

enum class CostCategory : uint8_t {
  kMatmul,  // something for the MXU in it
  kVector,  // elementwise, reductions, …
  kData,    // moves and copies only
  kCollective,
  kHost,  // infeed, outfeed, host send and recv
  kCustomCall,
  kControl,  // loops, branches, calls, and everything that takes no time
};
inline constexpr size_t kCostCategoryCount = 7;
/// "matmul", "vector", "data movement", "collective", "host", "custom call", "control"
std::string_view to_text(CostCategory category);

/// Where the numbers came from that decided a time.
using Provenance = SourceClass;
inline constexpr size_t kProvenanceCount = kSourceClassCount + 1;

struct InstructionCost {
  UnitTimes busy{};
  SpaceTraffic traffic{};
  Picoseconds stream{};  // the longest of busy
  Picoseconds fixed{};   // what doesn't overlap: first block in, last one out, latencies, start
  Unit bound_by = Unit::kNone;
  CostCategory category = CostCategory::kControl;
  Provenance provenance = Provenance::kPublished;
  bool emulated = false;          // the MXU doesn't know the element type
  Flops flops{};                  // of matrix products: 2 per multiply-add, logical sizes
  int64_t vector_operations = 0;  // element operations on the vector unit, logical sizes
  int64_t transcendentals = 0;    // those of vector_operations that are exp, log, tanh, pow, …
  Bytes logical_bytes{};          // of the arrays read and written, without padding
  Bytes padded_bytes{};           // the same with it: all of `traffic`, what is read again left out

  Picoseconds time() const { return later(stream, fixed); }
};

class CustomCallCosts;

struct CostOptions {
  const CustomCallCosts* custom_calls = nullptr;  // costs that the user gave, by target
};

/// Sets `stream` to the longest of the busy times, and `bound_by` to its unit: kNone where all are 0.
void find_longest_unit(InstructionCost& cost);

/// Costs of the instructions that run as such: those of the entry and of computations reached through
/// control flow (while, conditional, call, async). Instructions of fusion bodies are part of the fusion's.
class InstructionCosts {
 public:
  explicit InstructionCosts(size_t instructions) : index_(instructions, -1) {}
  bool has(InstructionId id) const { return index_[id] >= 0; }
  /// A free instruction's for those without.
  const InstructionCost& operator[](InstructionId id) const {
    const int32_t at = index_[id];
    return at < 0 ? none_ : costs_[static_cast<size_t>(at)];
  }
  void set(InstructionId id, const InstructionCost& cost) {
    int32_t& at = index_[id];
    if (at >= 0) {
      costs_[static_cast<size_t>(at)] = cost;
      return;
    }
    at = static_cast<int32_t>(costs_.size());
    costs_.push_back(cost);
  }
  void reserve(size_t count) { costs_.reserve(count); }

 private:
  InstructionCost none_;
  IdMap<InstructionId, int32_t> index_;
  std::vector<InstructionCost> costs_;
};

/// Requires: a verified module whose arrays carry their layouts (layout/native_tiling.h).
/// Errors: a device of more than kMaxMemorySpaces memory spaces.
/// Interconnect time of collectives is not in here: interconnect/collective_cost.h.
Result<InstructionCosts> cost_instructions(const Module& module, const OpTable& table, const Device& device,
                                           const CostOptions& options, AssumptionList& assumptions);

}  // namespace hlosim
