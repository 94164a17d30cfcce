// Writes the instructions of one device's program: shapes are of one device, places are computed from its
// partition-id.
//
//   Emitter emit(module, axes);
//   emit.open(module.computations.add(…));
//   const InstructionId part = emit.dynamic_slice(x, 0, emit.times(emit.index({0, 1}), 8), 8);
//   emit.close(part);
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "hlo/module_editor.h"
#include "hlo/op_def.h"
#include "hlo/stored_values.h"
#include "sharding/tiling.h"

namespace hlosim {

class Emitter {
 public:
  Emitter(Module& module, const OpTable& table, const DeviceAxes& axes);

  Module& module() { return module_; }
  const Instruction& operator[](InstructionId id) const { return module_[id]; }
  ShapeRef shape(InstructionId id) const { return module_[id].shape; }
  const DeviceAxes& axes() const { return axes_; }
  const OpTable& table() const { return table_; }

  // ── computations, one inside another's making ──

  /// What is added from now on stands in a new computation.
  ComputationId open(std::string_view name);
  /// What is added stands in a computation that there is, whose list starts anew. Returns what it was.
  std::vector<InstructionId> reopen(ComputationId id);
  /// The next of the list is an instruction that there is.
  void keep(InstructionId id);
  /// Ends it; what its root and side effects don't need is dropped.
  void close(InstructionId root);
  /// What is added from now on stands for this instruction of the original.
  void stands_for(const Instruction& original);

  // ── any instruction ──

  InstructionId add(Opcode opcode, ShapeRef shape, std::span<const InstructionId> operands,
                    std::span<const Attr> attrs = {}, std::string_view name = {});
  InstructionId add(Opcode opcode, ShapeRef shape, std::initializer_list<InstructionId> operands,
                    std::initializer_list<Attr> attrs = {}) {
    return add(opcode, shape, std::span(operands.begin(), operands.size()),
               std::span(attrs.begin(), attrs.size()));
  }
  /// With another shape, operands and attributes; everything else as in the original.
  InstructionId like(const Instruction& original, ShapeRef shape, std::span<const InstructionId> operands,
                     std::span<const Attr> changed = {});
  InstructionId parameter(std::string_view name, ShapeRef shape);
  /// Of the computation that is being written.
  std::span<const InstructionId> parameters() const { return module_[scopes_.back().id].parameters; }
  /// The original's attributes, its sharding only if wanted.
  void keep_attributes(InstructionId id, const Instruction& original, bool sharding);
  void set_sharding(InstructionId id, std::string_view text);
  const std::vector<std::pair<InstructionId, std::string_view>>& originals() const { return originals_; }
  InstructionId element(InstructionId tuple, int64_t index);
  InstructionId tuple(std::span<const InstructionId> elements);

  // ── attributes ──

  Attr ints(AttrKey key, std::span<const int64_t> values, AttrSyntax syntax = AttrSyntax::kInts) {
    return ints_attr(module_, key, values, syntax);
  }
  Attr lists(AttrKey key, AttrSyntax syntax, const std::vector<std::vector<int64_t>>& values) {
    return int_lists_attr(module_, key, syntax, values);
  }
  Attr calls(AttrKey key, ComputationId computation) { return computation_attr(module_, key, computation); }
  Attr window(std::span<const WindowDimension> dimensions);

  // ── shapes and scalars ──

  ShapeRef resized(ShapeRef shape, std::span<const int64_t> sizes);
  ShapeRef resized(ShapeRef shape, int64_t dimension, int64_t size);
  InstructionId number(int64_t value, ElementType type = ElementType::kS32);
  /// Scalars, or arrays and a number for all elements.
  InstructionId plus(InstructionId a, InstructionId b);
  InstructionId plus(InstructionId a, int64_t b);
  InstructionId times(InstructionId a, int64_t b);
  InstructionId remainder(InstructionId a, int64_t b);
  InstructionId clamp(int64_t low, InstructionId x, int64_t high);
  /// One of `values` by the device's coordinates along `list`, counted as axes().index() does; where they
  /// grow evenly, computed.
  InstructionId choose(const AxisList& list, std::span<const int64_t> values);
  /// The device's coordinates along `list` as one number.
  InstructionId index(const AxisList& list);
  /// What changes nothing when it is combined with others in this way.
  InstructionId neutral(PartialKind kind, ElementType type);

  // ── arrays ──

  InstructionId broadcast(InstructionId scalar, ShapeRef like);
  /// Dimension i of `x` is dimension to[i] of `like`.
  InstructionId broadcast(InstructionId x, ShapeRef like, std::span<const int64_t> to);
  /// `dimension`, of one element, becomes `size` elements alike.
  InstructionId stretched(InstructionId x, int64_t dimension, int64_t size);
  InstructionId reshape(InstructionId x, std::span<const int64_t> sizes);
  InstructionId transpose(InstructionId x, std::span<const int64_t> order);
  /// `size` elements, the first at `start`, `step` apart.
  InstructionId slice(InstructionId x, int64_t dimension, int64_t start, int64_t size, int64_t step = 1);
  InstructionId dynamic_slice(InstructionId x, int64_t dimension, InstructionId start, int64_t size);
  InstructionId dynamic_update_slice(InstructionId x, InstructionId part, int64_t dimension,
                                     InstructionId start);
  /// `value`: a scalar; null: zero.
  InstructionId pad(InstructionId x, int64_t dimension, int64_t low, int64_t high,
                    InstructionId value = InstructionId());
  /// {low, high, between} of each dimension.
  InstructionId pad(InstructionId x, const std::vector<std::vector<int64_t>>& padding, InstructionId value);
  InstructionId concatenate(std::span<const InstructionId> parts, int64_t dimension);
  InstructionId select(InstructionId condition, InstructionId x, InstructionId otherwise);
  InstructionId compare(InstructionId a, InstructionId b, std::string_view direction);
  InstructionId both(InstructionId a, InstructionId b);
  InstructionId iota(ShapeRef like, int64_t dimension);
  InstructionId convert(InstructionId x, ElementType type);
  /// The same; what makes it and what uses it stay apart.
  InstructionId apart(InstructionId x);
  /// In the layout of `like`, an array of the same sizes.
  InstructionId laid_out(InstructionId x, ShapeRef like);
  InstructionId combine(PartialKind kind, InstructionId a, InstructionId b);

  // ── collectives ──

  InstructionId all_gather(InstructionId x, const AxisList& along, int64_t dimension);
  InstructionId all_reduce(InstructionId x, const AxisList& along, PartialKind kind);
  InstructionId reduce_scatter(InstructionId x, const AxisList& along, int64_t dimension, PartialKind kind);
  /// Part k along `dimension`, which has one element per member, goes to member k.
  InstructionId all_to_all(InstructionId x, const AxisList& along, int64_t dimension);
  /// (source, target) devices; who is no target gets zeros.
  InstructionId permute(InstructionId x, const std::vector<std::vector<int64_t>>& pairs);

 private:
  struct Scope {
    ComputationId id;
    std::map<AxisList, InstructionId> indices;
    std::map<std::pair<int64_t, ElementType>, InstructionId> numbers;
    InstructionId place;  // of the device in the array of axes
  };

  Scope& scope() { return scopes_.back(); }
  InstructionId place();
  InstructionId constant(const Literal* literal);
  InstructionId list(std::span<const int64_t> values);
  /// Originals' names, which are free again once the originals are gone.
  std::vector<std::pair<InstructionId, std::string_view>> originals_;
  const ReplicaGroups* partition_groups(const AxisList& along);
  const ReplicaGroups* global_groups(const AxisList& along);
  std::vector<Attr> collective_attributes(const ReplicaGroups* groups);
  ComputationId reducer(PartialKind kind, ElementType type);

  Module& module_;
  const OpTable& table_;
  const DeviceAxes& axes_;
  ModuleEditor editor_;
  std::vector<Scope> scopes_;
  std::map<std::pair<PartialKind, ElementType>, ComputationId> reducers_;
  std::map<AxisList, const ReplicaGroups*> groups_, global_groups_;
  const Instruction* original_ = nullptr;
  int64_t next_channel_ = 1;
};

}  // namespace hlosim
