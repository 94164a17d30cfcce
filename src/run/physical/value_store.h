// The values of a module while it runs on real bytes: where each lies, which writing of it is meant at each
// place, what is under way, and the faults that this shows.
//
//   ValueStore store(analysis, table, pool, options);
//   store.now(instruction, step);
//   store.define(place, value);               // store.read(place) has its elements
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "array/array.h"
#include "memory/interference.h"
#include "physical/memory_image.h"
#include "physical/physical_run.h"
#include "physical/placement.h"
#include "physical/tiled_bytes.h"

namespace hlosim {

class ValueStore {
 public:
  /// Requires: all of them outlive the object.
  ValueStore(const BufferAnalysis& analysis, const OpTable& table, MemoryPool& pool,
             const PhysicalOptions& options);

  /// Layouts that no memory can have, at the first instruction that has one.
  std::optional<Diagnostic> layout_problem();

  /// The instruction that reads and writes from now on.
  void now(InstructionId instruction, int32_t step) { instruction_ = instruction, step_ = step; }
  const std::optional<PhysicalFault>& fault() const { return fault_; }
  bool failed() const { return fault_.has_value(); }
  void add_fault(FaultKind kind, std::string_view what);
  int64_t bytes_written() const { return bytes_written_; }

  // ── places ────────────────────────────────────────────────────
  // All of them return without doing anything after a fault.

  /// What the instruction at work makes. Without data: bytes that aren't looked at.
  void define(Place place, const Array& value);
  /// The same, arriving when `transfer` ends.
  void define_later(Place place, const Array& value, int32_t transfer);
  /// What lies at `from` is seen at `to` as well; a bitcast sees it in another shape.
  void forward(Place from, Place to, bool is_bitcast);
  /// A loop, conditional or call passes what lies at `from` on: where the value at `to` is another one, it
  /// takes the memory over.
  void pass(Place from, Place to);
  /// `place` holds whatever its value is by now.
  void see(Place place);
  /// The elements that lie there. Tokens and the like: what was defined.
  Array read(Place place);
  /// The value that is meant at `place`, under way or not; nothing is read.
  Array expected(Place place) const;

  /// Cannot be computed; an error only where it is needed.
  void define_failed(Place place, int32_t failure);
  int32_t failure_at(Place place) const;

  // ── time ──────────────────────────────────────────────────────
  /// Asynchronous operations: begin() names one, until whose end sources may not change.
  int32_t begin();
  void hold_source(int32_t transfer, Place place);
  void hold_target(int32_t transfer, ValueIndex value);
  /// Makes what was defined at `place` arrive only when `transfer` ends.
  void send_off(Place place, int32_t transfer);
  bool is_under_way(Place place) const;
  int32_t transfer_at(Place place) const;
  /// What is under way at `place` arrives; `data` instead of what was sent off, where it has any.
  void arrive(Place place, const Array& data);
  void end(int32_t transfer);
  /// Values that aren't needed after `step`.
  void free_ending_at(int32_t step);

  const Placement& placement() const { return placement_; }
  /// The shape that the bytes at `place` are in.
  ShapeRef view(Place place) const { return seen_[static_cast<size_t>(place)].shape; }
  /// What the instruction at work gives as a result has to lie in this space.
  void check_space(Place place, int64_t space);

 private:
  struct Current {
    uint32_t turn = 0;         // 0: never made
    ShapeRef shape = nullptr;  // that it was written in
    Array carried;             // what has no bytes; what is under way
    std::shared_ptr<const std::vector<int64_t>> sizes;
    int32_t transfer = -1, failure = -1;
    bool has_data = false;
  };
  struct Seen {
    uint32_t turn = 0;
    ShapeRef shape = nullptr;
  };
  struct Hold {
    int32_t transfer = -1, image = -1;
    int64_t start = 0, end = 0;
    ValueIndex value = kNoValue;
    bool is_source = false;
  };

  Current& current(ValueIndex value) { return current_[static_cast<size_t>(value)]; }
  const Current& current(ValueIndex value) const { return current_[static_cast<size_t>(value)]; }
  Writing writing(ValueIndex value) const { return {value, current(value).turn}; }
  MemoryImage& image(const Location& at) { return images_[static_cast<size_t>(at.image)]; }
  const TiledBytes& bytes_of(ShapeRef shape);
  const Result<TiledBytes>& made_bytes(ShapeRef shape);

  Current& new_turn(Place place);
  bool claim(Place place);
  bool may_write(ValueIndex value, const Location& at);
  bool joins_there(ValueIndex value, ValueIndex slice) const;
  bool may_replace(ValueIndex value, const Location& at, const WrittenPiece& there);
  bool check_read(Place place, bool may_be_under_way);
  void check_bitcast(Place from, Place to);
  std::string bitcast_problem(ShapeRef from, ShapeRef declared, ShapeRef to) const;
  void write(ValueIndex value, const Array& data);
  ValueIndex value_at(Place place) const { return analysis_.values.at(place); }

  std::string name(ValueIndex value) const;
  std::string describe(const Location& at) const;

  const BufferAnalysis& analysis_;
  const Module& module_;
  const PhysicalOptions& options_;
  MemoryPool& pool_;
  Placement placement_;
  Overwrites overwrites_;
  Interference interference_;
  std::vector<MemoryImage> images_;
  std::vector<Current> current_;                    // by value
  std::vector<Seen> seen_;                          // by place
  std::vector<std::vector<ValueIndex>> ending_at_;  // by step
  std::vector<Hold> holds_;
  int32_t next_transfer_ = 0;
  std::unordered_map<ShapeRef, Result<TiledBytes>> tiled_;
  std::map<std::array<ShapeRef, 3>, std::string> bitcasts_;  // checked already; empty: nothing is wrong
  InstructionId instruction_;
  int32_t step_ = 0;
  int64_t bytes_written_ = 0;
  std::optional<PhysicalFault> fault_;
};

}  // namespace hlosim
