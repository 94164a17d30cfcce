// Collectives inside of fusions: which they are, and what the fusion has to do with them.
//
//   const FusedCollectives fused(module, table);
//   for (const FusedCollective& one : fused.of(fusion)) …     // none of most fusions
//   fused.begun_by(done)                                      // the fusion that set it going
//
// A TPU compiler puts collectives into fusions of every kind: an all-reduce and the slice that a device keeps
// of it, which is a reduce-scatter; an all-gather whose steps go on while the fusion's product runs; the end
// of one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

enum class CollectiveKind : uint8_t;  // ops/work.h

/// What a fusion does of a collective inside of it.
enum class FusedPart : uint8_t {
  kWhole,    // all of it, before the fusion ends
  kStart,    // sets it going
  kCarried,  // lets it go on beside its own work: flags of synchronisation come in and go out
  kDone,     // waits for its end
};

struct FusedCollective {
  InstructionId instruction;  // inside the body, or a body inside of that
  FusedPart part = FusedPart::kWhole;
  std::optional<CollectiveKind> kind;  // another than the opcode says: of the all-reduce only a slice is kept
};

class FusedCollectives {
 public:
  FusedCollectives(const Module& module, const OpTable& table);

  std::span<const FusedCollective> of(const Instruction& fusion) const;
  /// Of the first collective inside; null: there is none.
  std::optional<FusedPart> part_of(const Instruction& fusion) const;
  /// The fusion that set going what `fusion` carries on or waits for; invalid: it isn't in the text.
  InstructionId begun_by(InstructionId fusion) const;

 private:
  void look_into(ComputationId body);

  const Module& module_;
  const OpTable& table_;
  bool any_ = false;
  IdMap<ComputationId, std::vector<FusedCollective>> of_body_;
};

}  // namespace hlosim
