// Which values each instruction makes and needs, for orders that are built from the end or from the
// beginning: bytes that are alive between two instructions, space by space.
//
//   const auto memory = ScheduleMemory::find(module_memory, table, occupancy);
//   SpaceBytes alive;
//   alive[1] += 4096;                              // in S(1)
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "memory/module_memory.h"
#include "model/device.h"
#include "schedule/space_bytes.h"

namespace hlosim {

/// One module in the order in which it stands.
class ScheduleMemory {
 public:
  /// Null where nothing is known of the module's values. `occupancy`: of the same order.
  static std::unique_ptr<ScheduleMemory> find(const ModuleMemory& memory, const OpTable& table,
                                              const Occupancy& occupancy);

  /// Something reads a buffer before something else of its computation writes it.
  struct Overwrite {
    InstructionId reader, writer;
  };
  const std::vector<Overwrite>& overwrites(ComputationId id) const { return overwrites_[id]; }

  /// Values that the instruction makes or needs, each once, by buffer. What is there before its computation
  /// begins is left out.
  struct Use {
    std::vector<ValueIndex> makes, reads;
    SpaceBytes inside;  // needed meanwhile by what it calls
  };
  const Use& use(InstructionId id) const { return uses_[id]; }
  /// What outlives the computation.
  const std::vector<ValueIndex>& results(ComputationId id) const { return results_[id]; }

  BufferIndex buffer_of(ValueIndex value) const { return buffer_of_[static_cast<size_t>(value)]; }
  /// Bytes of a buffer in its space, 0 in the others.
  const SpaceBytes& bytes(BufferIndex buffer) const { return bytes_[static_cast<size_t>(buffer)]; }
  size_t value_count() const { return buffer_of_.size(); }
  size_t buffer_count() const { return bytes_.size(); }

  /// What callers, arguments and constants hold meanwhile, at most.
  const SpaceBytes& around(ComputationId id) const { return around_[id]; }
  /// What each space may hold: its capacity without what an instruction may use as scratch, or more where the
  /// present order needs more.
  const SpaceBytes& limits() const { return limits_; }

 private:
  friend class MemoryFinder;
  IdMap<InstructionId, Use> uses_;
  IdMap<ComputationId, std::vector<ValueIndex>> results_;
  IdMap<ComputationId, std::vector<Overwrite>> overwrites_;
  IdMap<ComputationId, SpaceBytes> around_;
  std::vector<BufferIndex> buffer_of_;
  std::vector<SpaceBytes> bytes_;
  SpaceBytes limits_;
};

/// What is alive at the edge of the instructions placed so far.
class OrderPressure {
 public:
  virtual ~OrderPressure() = default;

  struct Effect {
    SpaceBytes during;  // alive while the instruction runs
    SpaceBytes beyond;  // alive on the side of it where the next one will be placed
  };
  virtual Effect effect(InstructionId id) const = 0;
  virtual void place(InstructionId id) = 0;
  const SpaceBytes& now() const { return now_; }

 protected:
  OrderPressure(const ScheduleMemory& memory, ComputationId id);
  void begin(ValueIndex value);
  void end(ValueIndex value);
  /// `of_made`, `of_read`: by how much a value that `use` makes or reads changes the holders of its buffer.
  template <class OfMade, class OfRead>
  Effect effect_of(const ScheduleMemory::Use& use, OfMade&& of_made, OfRead&& of_read) const;

  const ScheduleMemory& memory_;
  std::vector<uint8_t> alive_;    // by value
  std::vector<int32_t> holders_;  // values that are alive, by buffer
  SpaceBytes now_;
};

/// Before the last instructions of the computation.
class BackwardPressure : public OrderPressure {
 public:
  BackwardPressure(const ScheduleMemory& memory, ComputationId id);
  Effect effect(InstructionId id) const override;
  void place(InstructionId id) override;
};

/// Behind its first instructions.
class ForwardPressure : public OrderPressure {
 public:
  /// `order`: all instructions of the computation.
  ForwardPressure(const ScheduleMemory& memory, ComputationId id, std::span<const InstructionId> order);
  Effect effect(InstructionId id) const override;
  void place(InstructionId id) override;

 private:
  std::vector<int32_t> readers_;  // that have no place yet, by value; the result of the computation is one
};

}  // namespace hlosim
