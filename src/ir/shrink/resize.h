// The same module with other sizes.
//
//   const Resizer resizer(module, op_table(), classes, divisors);
//   Module small = resizer.module();               // same instructions, names, layouts and schedule
#pragma once

#include "shrink/divisors.h"

namespace hlosim {

/// Requires: divisors that keep merged dimensions together (largest_divisors).
class Resizer {
 public:
  Resizer(const Module& module, const OpTable& table, const DimensionClasses& classes,
          const Divisors& divisors)
      : from_(module), table_(table), classes_(classes), divisors_(divisors) {}

  /// A copy with the new sizes in shapes, attributes, constants and the entry's layout.
  Module module() const;

  /// Instructions with other sizes in their result or an operand.
  bool changes(InstructionId id) const;
  int64_t divisor(InstructionId id, int64_t leaf, int64_t dimension) const {
    return divisors_[static_cast<size_t>(classes_.of(id, leaf, dimension))];
  }

 private:
  bool changes_result(InstructionId id) const;
  /// `like`, whose sizes are those of the result of `id`, at the new sizes.
  ShapeRef resized(Module& made, ShapeRef like, InstructionId id, int64_t& leaf) const;
  ShapeRef resized(Module& made, ShapeRef like, InstructionId id) const {
    int64_t leaf = 0;
    return resized(made, like, id, leaf);
  }
  std::span<const Attr> attributes(Module& made, InstructionId id) const;
  Attr attribute(Module& made, InstructionId id, const Attr& attr) const;
  const Literal* literal(Module& made, const Literal& from, InstructionId id, int64_t& leaf) const;
  void resize_header(Module& made) const;

  const Module& from_;
  const OpTable& table_;
  const DimensionClasses& classes_;
  const Divisors& divisors_;
};

}  // namespace hlosim
