// Values on the devices, and bringing them from one tiling to another.
//
//   Resharder reshard(emit, partitioned);
//   reshard.asks(instruction);
//   const SpmdValue whole = reshard.to(x, Tiling(2));       // gathered; the same again for who asks next
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "partition/emitter.h"
#include "partition/partition.h"

namespace hlosim {

/// A leaf of an instruction's result: what each device has of it.
struct SpmdValue {
  InstructionId id;  // of the device's program
  Tiling tiling;
  ShapeRef shape = nullptr;  // of the whole
};

/// The place with coordinates `index` along `list`, the others as they are at `place`.
int64_t moved_to(const DeviceAxes& axes, int64_t place, const AxisList& list, int64_t index);

class Resharder {
 public:
  Resharder(Emitter& emit, Partitioned& made) : emit_(emit), made_(made), axes_(emit.axes()) {}

  /// Collectives from now on are this instruction's.
  void asks(const Instruction& instruction) { asker_ = &instruction; }
  const Instruction* asker() const { return asker_; }
  void set_in_loop(bool in_loop) { in_loop_ = in_loop; }
  bool in_loop() const { return in_loop_; }

  SpmdValue to(const SpmdValue& value, const Tiling& tiling);
  /// The same but for the cut of one dimension.
  SpmdValue recut(const SpmdValue& value, int64_t dimension, const AxisList& cut);
  /// Bytes that a device sends for to().
  int64_t bytes(const SpmdValue& value, const Tiling& tiling) const;

  /// The part that the device `holder[place]` has goes to the device at that place.
  SpmdValue placed(const SpmdValue& value, const std::vector<int64_t>& holder);
  /// The other way.
  SpmdValue unplaced(const SpmdValue& value, const std::vector<int64_t>& holder);

  /// What lies beyond the array along `dimension` becomes `neutral`, a scalar.
  InstructionId masked(const SpmdValue& value, int64_t dimension, InstructionId neutral);
  /// Along all dimensions.
  InstructionId masked(const SpmdValue& value, InstructionId neutral);
  /// Elements of local dimension `dimension` stand at global positions starts + 0, 1, …: which of them lie in
  /// 0…size-1? The others become `neutral`.
  InstructionId masked(InstructionId x, int64_t dimension, InstructionId start, int64_t size,
                       InstructionId neutral);

  /// On each device `size` elements along `dimension`, the first at the global position starts[tile], where
  /// tiles are counted along `cut`; what is no element of the array is anything. Requires: the value is cut
  /// along that dimension by `cut` or not at all.
  InstructionId window(const SpmdValue& value, int64_t dimension, const AxisList& cut,
                       std::vector<int64_t> starts, int64_t size);
  /// Tile t of the dimension becomes tile n-1-t.
  InstructionId mirrored(const SpmdValue& value, InstructionId x, int64_t dimension);

  void record(ReshardKind kind, InstructionId collective, const SpmdValue& value, const Tiling& to,
              int64_t bytes);

 private:
  InstructionId step(const SpmdValue& value, const ReshardStep& step);
  InstructionId sliced(const SpmdValue& value, const ReshardStep& step);
  InstructionId exchanged(const SpmdValue& value, const ReshardStep& step);
  InstructionId permuted(const SpmdValue& value, const Tiling& to);
  SpmdValue as_summands(const SpmdValue& value, const Tiling& tiling);
  InstructionId filled_up(const SpmdValue& value, int64_t dimension, const AxisList& cut);
  InstructionId trimmed(InstructionId x, const SpmdValue& value, int64_t dimension, const AxisList& cut);
  InstructionId from_neighbours(const SpmdValue& value, int64_t dimension, const std::vector<int64_t>& starts,
                                int64_t size, int64_t first, int64_t last);
  InstructionId from_neighbour(const SpmdValue& value, InstructionId part, int64_t dimension,
                               int64_t distance);
  InstructionId cut_out(InstructionId x, int64_t dimension, const AxisList& cut, std::vector<int64_t> offsets,
                        int64_t size);
  InstructionId shift(const SpmdValue& value, const std::vector<int64_t>& holder, bool forth);

  Emitter& emit_;
  Partitioned& made_;
  const DeviceAxes& axes_;
  const Instruction* asker_ = nullptr;
  bool in_loop_ = false;
  std::unordered_map<int32_t, std::vector<std::pair<Tiling, InstructionId>>> known_;
};

}  // namespace hlosim
