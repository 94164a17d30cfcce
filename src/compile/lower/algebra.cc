#include "lower/algebra.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "hlo/stored_values.h"
#include "modules/list_rewriter.h"
#include "ops/fusion_role.h"

namespace hlosim {
namespace {

using Ints = std::vector<int64_t>;

class Algebra {
 public:
  Algebra(ModuleEditor& editor, const OpTable& table)
      : rewriter_(editor, table), module_(editor.module()), table_(table) {}

  void run(ComputationId id) {
    rewriter_.run(id, [&](InstructionId at) { return visit(at); });
  }

 private:
  const Instruction& at(InstructionId id) const { return module_[id]; }
  InstructionId operand(InstructionId id, size_t i = 0) const { return at(id).operands[i]; }
  Identity identity(InstructionId id) const { return table_[at(id).opcode].rules.identity; }
  bool is(InstructionId id, Opcode opcode) const { return at(id).opcode == opcode; }
  bool same_array(InstructionId a, InstructionId b) const {
    return at(a).shape->logical == at(b).shape->logical && at(a).shape->is_array() &&
           at(a).shape->is_static();
  }
  /// None where a scalar is broadcast without saying so.
  std::span<const int64_t> dims(InstructionId id) const {
    const Attr* list = at(id).find(AttrKey::kDimensions);
    return list ? list->ints() : std::span<const int64_t>();
  }
  Attr dimensions(const Ints& values) { return ints_attr(module_, AttrKey::kDimensions, values); }

  /// What stands for `id`: itself if no rule fits.
  InstructionId visit(InstructionId id) {
    const Instruction& instruction = at(id);
    if (!instruction.shape->is_array() || !instruction.shape->is_static() || instruction.operands.empty() ||
        fusion_role(table_, instruction) == FusionRole::kNone)
      return id;
    if (instruction.operands.size() == 1 && same_array(id, operand(id)) && changes_nothing(id))
      return operand(id);
    if (instruction.operands.size() == 1) return unary(id);
    if (instruction.operands.size() == 2 && instruction.opcode != Opcode::kDot) return binary(id);
    return others(id);
  }

  /// Of one operand of the same shape: moves, converts and cuts nothing.
  bool changes_nothing(InstructionId id) const {
    const Instruction& instruction = at(id);
    if (instruction.opcode == Opcode::kReshape || instruction.opcode == Opcode::kConvert ||
        instruction.opcode == Opcode::kSlice)
      return instruction.opcode != Opcode::kSlice || starts_at_zero(id);
    if (instruction.opcode == Opcode::kConcatenate) return true;
    if (instruction.opcode == Opcode::kTranspose || instruction.opcode == Opcode::kBroadcast)
      return in_order(dims(id)) && static_cast<int64_t>(dims(id).size()) == instruction.shape->rank();
    if (instruction.opcode == Opcode::kReverse)
      return std::ranges::all_of(dims(id), [&](int64_t d) { return instruction.shape->dim(d) <= 1; });
    return false;
  }
  bool starts_at_zero(InstructionId slice) const {
    return std::ranges::all_of(
        at(slice).find(AttrKey::kSlice)->int_lists(),
        [](std::span<const int64_t> one) { return one[0] == 0 && (one.size() < 3 || one[2] == 1); });
  }
  static bool in_order(std::span<const int64_t> list) {
    for (size_t i = 0; i < list.size(); ++i)
      if (list[i] != static_cast<int64_t>(i)) return false;
    return true;
  }

  InstructionId unary(InstructionId id) {
    const InstructionId inner = operand(id);
    const Opcode opcode = at(id).opcode;
    if (opcode == Opcode::kConvert) return narrowed_back(id);
    if (at(inner).opcode != opcode || at(inner).find(AttrKey::kControlPredecessors) ||
        at(inner).operands.size() != 1)
      return id;
    const InstructionId source = operand(inner);
    if (identity(id) == Identity::kInvolution)
      return at(id).shape->element_type == at(source).shape->element_type ? source : id;
    if (opcode == Opcode::kReverse) return std::ranges::equal(dims(id), dims(inner)) ? source : id;
    if (opcode == Opcode::kTranspose || opcode == Opcode::kBroadcast) return composed(id, inner, source);
    return id;
  }

  /// transpose(transpose(x)) and broadcast(broadcast(x)) as one.
  InstructionId composed(InstructionId id, InstructionId inner, InstructionId source) {
    Ints all;
    if (is(id, Opcode::kTranspose))  // dimension i is inner's dims[i], which is the source's …
      for (const int64_t d : dims(id)) all.push_back(dims(inner)[static_cast<size_t>(d)]);
    else
      for (const int64_t d : dims(inner)) all.push_back(dims(id)[static_cast<size_t>(d)]);
    if (is(id, Opcode::kTranspose) && in_order(all)) return source;
    const Attr attrs[] = {dimensions(all)};
    return rewriter_.add(at(id).opcode, at(id).shape, {source}, attrs);
  }

  /// convert(convert(x)) where the type between holds every value of x's type.
  InstructionId narrowed_back(InstructionId id) {
    const InstructionId inner = operand(id);
    if (!is(inner, Opcode::kConvert)) return id;
    const InstructionId source = operand(inner);
    const ElementType type = at(source).shape->element_type, wide = at(inner).shape->element_type;
    return type == at(id).shape->element_type && holds_all(wide, type) ? source : id;
  }
  static bool holds_all(ElementType wide, ElementType type) {
    if (type == ElementType::kBF16 || type == ElementType::kF16)
      return wide == ElementType::kF32 || wide == ElementType::kF64;
    if (type == ElementType::kF32) return wide == ElementType::kF64;
    return is_integer(type) && is_integer(wide) && bit_width(wide) > bit_width(type) &&
           (is_signed_integer(wide) || !is_signed_integer(type));
  }

  /// The number that a value is everywhere.
  std::optional<double> number(InstructionId id) const {
    if (is(id, Opcode::kBroadcast)) id = operand(id);
    const Literal* literal = at(id).literal;
    if (!literal || literal->elided || !at(id).shape->is_scalar() || is_complex(at(id).shape->element_type))
      return std::nullopt;
    const ElementType type = at(id).shape->element_type;
    if (is_integer(type)) return static_cast<double>(integer_at(*literal, 0));
    if (type == ElementType::kF32) return literal->at<float>(0);
    if (type == ElementType::kF64) return literal->at<double>(0);
    if (type == ElementType::kBF16) {
      const uint32_t bits = uint32_t{literal->at<uint16_t>(0)} << 16;
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    return std::nullopt;
  }

  InstructionId binary(InstructionId id) {
    const InstructionId a = operand(id), b = operand(id, 1);
    const Identity known = identity(id);
    const bool whole = is_integer(at(id).shape->element_type);
    if (a == b && same_array(id, a)) {
      if (known == Identity::kIdempotent) return a;
      if (known == Identity::kDifference && whole) return filled(id, 0);
    }
    const std::optional<double> right = number(b);
    if (!right || !same_array(id, a)) return id;
    if (known == Identity::kProduct && whole && *right == 0) return b;
    if (known == Identity::kPower && !whole && *right == 1) return a;
    if (known == Identity::kPower && !whole && *right == 2)
      return rewriter_.add(Opcode::kMultiply, at(id).shape, {a, a});
    if (known == Identity::kQuotient && at(id).shape->element_type == ElementType::kF32 &&
        has_exact_inverse(*right))
      return rewriter_.add(Opcode::kMultiply, at(id).shape, {a, filled(id, 1 / *right)});
    return id;
  }

  /// Powers of two whose inverse is a normal number.
  static bool has_exact_inverse(double x) {
    int exponent = 0;
    return std::isfinite(x) && std::abs(std::frexp(x, &exponent)) == 0.5 && std::abs(exponent) < 100;
  }

  /// `value` in the shape of `id`: f32 or an integer.
  InstructionId filled(InstructionId id, double value) {
    const ShapeRef shape = at(id).shape;
    const ElementType type = shape->element_type;
    const Literal* literal = scalar_literal(module_, type, value);
    const InstructionId scalar = rewriter_.add(Opcode::kConstant, literal->shape, {});
    module_.instructions[scalar].literal = literal;
    if (shape->is_scalar()) return scalar;
    const Attr attrs[] = {dimensions({})};
    return rewriter_.add(Opcode::kBroadcast, shape, {scalar}, attrs);
  }

  InstructionId others(InstructionId id) {
    if (is(id, Opcode::kSelect) && at(id).operands.size() == 3) {
      if (operand(id, 1) == operand(id, 2) && same_array(id, operand(id, 1))) return operand(id, 1);
      const std::optional<bool> chosen = truth(operand(id));
      if (!chosen) return id;
      const InstructionId value = operand(id, *chosen ? 1 : 2);
      return same_array(id, value) ? value : id;
    }
    return is(id, Opcode::kDynamicSlice) ? fixed_slice(id) : id;
  }

  std::optional<bool> truth(InstructionId id) const {
    if (is(id, Opcode::kBroadcast)) id = operand(id);
    const Literal* literal = at(id).literal;
    if (!literal || literal->elided || !at(id).shape->is_scalar()) return std::nullopt;
    return integer_at(*literal, 0) != 0;
  }

  /// Unsigned numbers beyond all signed ones are the largest of these.
  static int64_t place_of(const Literal& literal) {
    const int64_t value = integer_at(literal, 0);
    const bool wraps = value < 0 && !is_signed_integer(literal.shape->element_type);
    return wraps ? std::numeric_limits<int64_t>::max() : value;
  }

  /// A dynamic-slice whose place is known, or that has only one.
  InstructionId fixed_slice(InstructionId id) {
    const ShapeRef from = at(operand(id)).shape, to = at(id).shape;
    std::vector<Ints> ranges;
    if (at(id).operands.size() != static_cast<size_t>(from->rank()) + 1) return id;
    for (int64_t d = 0; d < from->rank(); ++d) {
      const InstructionId place = operand(id, static_cast<size_t>(d) + 1);
      const int64_t room = from->dim(d) - to->dim(d);
      int64_t start = 0;
      if (room > 0) {
        if (!at(place).literal || at(place).literal->elided || !at(place).shape->is_scalar()) return id;
        start = std::clamp<int64_t>(place_of(*at(place).literal), 0, room);
      }
      ranges.push_back({start, start + to->dim(d), 1});
    }
    if (same_array(id, operand(id))) return operand(id);
    const Attr attrs[] = {int_lists_attr(module_, AttrKey::kSlice, AttrSyntax::kSlices, ranges)};
    return rewriter_.add(Opcode::kSlice, to, {operand(id)}, attrs);
  }

  ListRewriter rewriter_;
  Module& module_;
  const OpTable& table_;
};

}  // namespace

void apply_algebra(ModuleEditor& editor, const OpTable& table) {
  Algebra algebra(editor, table);
  for (const FlowComputation& flow : flow_computations(editor.module(), table))
    if (!flow.is_condition) algebra.run(flow.id);
}

}  // namespace hlosim
