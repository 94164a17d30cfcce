// Goes through a module, computation by computation, and writes what each device runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "hlo/user_index.h"
#include "partition/partition.h"
#include "partition/rule_call.h"

namespace hlosim {

using Wanted = std::vector<std::optional<Tiling>>;  // leaf by leaf

/// Shardings as the text states them, each text read once.
class WantedShardings {
 public:
  /// Errors: as of reading, with the place of the first one; another number of devices.
  static Result<WantedShardings> read(const Module& module, const PartitionOptions& options);

  const DeviceAxes& axes() const { return *axes_; }
  /// Of the leaves of an instruction's result; nothing where it states none. Where only what is cut by hand
  /// counts, that. `device_at`: of leaves whose devices stand in another order.
  Wanted of(const Instruction& instruction, bool by_hand_only,
            std::vector<std::vector<int64_t>>* device_at = nullptr) const;

 private:
  struct Stated {
    std::vector<TileAssignment> tiles;
    std::vector<PlacedTiling> placed;
  };
  Result<void> place(const Module& module);

  std::unique_ptr<DeviceAxes> axes_;
  std::map<std::pair<std::string_view, std::vector<int64_t>>, Stated> by_text_;  // and the leaves' ranks
};

/// What a computation has become.
struct PartitionedComputation {
  ComputationId id;
  std::vector<Tiling> parameters, results;  // leaves
};

class Partitioner {
 public:
  Partitioner(const Module& module, const OpTable& table, const PartitionOptions& options,
              const WantedShardings& stated, Partitioned& made);

  /// False after a fault.
  bool run();
  const std::optional<Diagnostic>& fault() const { return fault_; }
  const std::vector<std::pair<InstructionId, std::string_view>>& originals() const {
    return emit_.originals();
  }

 private:
  // partitioner.cc: one instruction after the other
  PartitionedComputation computation(ComputationId id, const std::vector<Tiling>& parameters,
                                     const Wanted& results, bool is_entry);
  void instruction(InstructionId id);
  SpmdValues by_rule(const Instruction& instruction, const Wanted& wanted);
  SpmdValues replicated(const RuleCall& call, std::string_view reason);
  bool across_cuts(const RuleCall& call);
  AxisSet manual_of(const Instruction& instruction, const Wanted& wanted) const;
  SpmdValue seen_as(const SpmdValue& value, AxisSet manual);
  SpmdValues border(const Instruction& instruction, const Wanted& wanted);
  static bool fits(ShapeRef shape, const SpmdValues& values);
  bool starts_what_is_lost(const Instruction& instruction, InstructionId id) const;
  bool ends_what_is_lost(const Instruction& instruction);
  SpmdValues settled(const Instruction& instruction, InstructionId id, SpmdValues values,
                     const Wanted& wanted);
  SpmdValues operand_leaves(const Instruction& instruction) const;
  Wanted wanted_of(const Instruction& instruction) const;
  void enter_parameters();
  void say_tilings(InstructionId id, const std::vector<std::vector<int64_t>>& device_at);
  InstructionId leave_results(SpmdValues values);
  void fail(const Instruction& instruction, std::string message, std::string hint = {});

  // flow_rules.cc
  SpmdValues loop(const Instruction& instruction, const Wanted& wanted);
  SpmdValues conditional(const Instruction& instruction, const Wanted& wanted);
  SpmdValues call(const Instruction& instruction, const Wanted& wanted);
  PartitionedComputation called(ComputationId id, const std::vector<Tiling>& parameters,
                                const Wanted& results);
  std::vector<Tiling> parameter_tilings(ComputationId id, std::span<const SpmdValue> given) const;
  InstructionId packed(ShapeRef shape, std::span<const SpmdValue> leaves);
  InstructionId packed(ShapeRef shape, std::span<const SpmdValue> leaves, size_t& next);
  SpmdValues opened(InstructionId id, ShapeRef shape, std::span<const Tiling> tilings);
  std::vector<InstructionId> arguments(const Instruction& instruction, std::span<const SpmdValue> leaves);
  SpmdValues resharded(const SpmdValues& values, std::span<const Tiling> tilings);

  const Module& module_;
  const OpTable& table_;
  const PartitionOptions& options_;
  const WantedShardings& stated_;
  Partitioned& made_;
  const DeviceAxes& axes_;
  UserIndex users_;
  Emitter emit_;
  Resharder reshard_;
  Rules rules_;
  ShapePool shapes_;  // for what OpContexts make
  IdMap<InstructionId, SpmdValues> values_;
  struct Known {
    Wanted wanted;
    PartitionedComputation made;
  };
  std::map<ComputationId, std::vector<Known>> known_;
  std::optional<Diagnostic> fault_;
};

}  // namespace hlosim
