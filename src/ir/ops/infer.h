// Small helpers of the shape rules: dimension lists without heap allocation, element type rules,
// and texts for messages. Nothing here belongs to one opcode.
//
//   DimensionList dimensions;
//   dimensions.add_all(op.operand_shape(0));
//   dimensions.add(2);
//   return dimensions.array(op, op.operand_shape(0)->element_type);      // one dimension more
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "hlo/op_def.h"

namespace hlosim {

/// The dimensions of a result under construction; on the stack up to rank 8.
class DimensionList {
 public:
  void add(int64_t size, bool dynamic = false) {
    if (count_ == capacity_) grow();
    sizes_[count_] = size;
    dynamic_[count_++] = dynamic;
  }
  void add_all(ShapeRef array) {
    for (int64_t i = 0; i < array->rank(); ++i) add(array->dim(i), array->is_dynamic(i));
  }
  void remove_last() { --count_; }
  size_t size() const { return count_; }
  int64_t& operator[](size_t i) { return sizes_[i]; }
  bool& dynamic(size_t i) { return dynamic_[i]; }
  std::span<const int64_t> sizes() const { return {sizes_, count_}; }

  /// The array of these dimensions. Without a lookup when the instruction declares just that.
  ShapeRef array(const OpContext& op, ElementType type) const;
  /// The same, whatever the instruction declares.
  ShapeRef array(ShapePool& shapes, ElementType type) const {
    return shapes.array(type, sizes(), nullptr, {dynamic_, count_});
  }

 private:
  static constexpr size_t kInline = 8;
  void grow();

  size_t count_ = 0, capacity_ = kInline;
  int64_t inline_sizes_[kInline];
  bool inline_dynamic_[kInline];
  int64_t* sizes_ = inline_sizes_;
  bool* dynamic_ = inline_dynamic_;
  std::unique_ptr<int64_t[]> heap_sizes_;
  std::unique_ptr<bool[]> heap_dynamic_;

 public:
  DimensionList() = default;
  DimensionList(const DimensionList&) = delete;
  DimensionList& operator=(const DimensionList&) = delete;
};

/// A set of dimension numbers below a rank; on the stack up to rank 64.
class DimensionSet {
 public:
  explicit DimensionSet(int64_t rank) : rank_(rank) {
    if (rank > 64) more_ = std::make_unique<uint64_t[]>(static_cast<size_t>(rank + 63) / 64);
  }
  bool in_range(int64_t dimension) const { return dimension >= 0 && dimension < rank_; }
  /// False when it was there already. Requires: in_range(dimension).
  bool insert(int64_t dimension) {
    uint64_t& word = words()[dimension / 64];
    const uint64_t bit = uint64_t{1} << (dimension % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  bool contains(int64_t dimension) const {
    const uint64_t* words = more_ ? more_.get() : &word_;
    return in_range(dimension) && ((words[dimension / 64] >> (dimension % 64)) & 1) != 0;
  }

 private:
  uint64_t* words() { return more_ ? more_.get() : &word_; }
  int64_t rank_;
  uint64_t word_ = 0;
  std::unique_ptr<uint64_t[]> more_;
};

/// Are two sizes the same, as far as is known before running? `?` agrees with everything.
inline bool sizes_agree(int64_t a, int64_t b) {
  return a == b || a == Shape::kUnbounded || b == Shape::kUnbounded;
}

/// Same type, or both of floating point: XLA lets f32 and bf16 meet in most places.
inline bool same_up_to_float_precision(ElementType a, ElementType b) {
  return a == b || (is_float(a) && is_float(b));
}

/// The type that holds both: complex over real, then more range, then more precision, then wider,
/// then signed. Ties go to `a`.
ElementType higher_precision(ElementType a, ElementType b);

/// Is the computation that attribute `key` names on the thread of its caller? Otherwise reports it. Loops,
/// conditionals and fusions ask for that; what else calls computations may call them on any thread.
bool require_same_thread(OpContext& op, AttrKey key);

/// Shape of the root of the computation that attribute `key` names.
inline ShapeRef result_of(const OpContext& op, ComputationId id) { return op.module().root(id).shape; }
/// Shapes of its parameters.
inline ShapeRef parameter_shape(const OpContext& op, ComputationId id, int64_t i) {
  return op.module()[op.module()[id].parameters[static_cast<size_t>(i)]].shape;
}
inline int64_t parameter_count(const OpContext& op, ComputationId id) {
  return static_cast<int64_t>(op.module()[id].parameters.size());
}

/// "{0,2}"
std::string list_text(std::span<const int64_t> values);
/// "8", or "?" for the unbounded size.
std::string size_text(int64_t size);
/// Shape without layouts, for messages.
inline std::string text_of(ShapeRef shape) { return to_text_without_layout(shape); }

}  // namespace hlosim
