// Elementwise opcodes on single elements.
#pragma once

#include <optional>
#include <span>

#include "hlo/module.h"
#include "oracle/value.h"

namespace hlosim::test {

/// The element that `instruction` makes of `operands`, of the element types `types`, in the type `to`.
/// nullopt: not elementwise, or not defined for these types.
std::optional<Element> elementwise(const Instruction& instruction, ElementType to,
                                   std::span<const ElementType> types, std::span<const Element> operands);

Element convert_element(ElementType from, ElementType to, const Element& x);

/// A float's sign and magnitude bits as a number that sorts: -NaN < -inf < … < -0 < +0 < … < inf < NaN.
int64_t total_order_key(ElementType type, const Element& x);

/// One opcode of two operands of the type `type`: what reductions apply.
std::optional<Element> binary_element(Opcode opcode, ElementType type, const Element& a, const Element& b);

// ── parts, by kind of number ────────────────────────────────────
std::optional<Element> integer_unary(Opcode opcode, ElementType type, const Element& x);
std::optional<Element> integer_binary(Opcode opcode, ElementType type, const Element& a, const Element& b);
std::optional<Element> float_unary(Opcode opcode, ElementType from, ElementType to, const Element& x);
std::optional<Element> float_binary(Opcode opcode, ElementType from, ElementType to, const Element& a,
                                    const Element& b);
std::optional<Element> complex_unary(Opcode opcode, ElementType from, ElementType to, const Element& x);
std::optional<Element> complex_binary(Opcode opcode, ElementType type, const Element& a, const Element& b);

}  // namespace hlosim::test
