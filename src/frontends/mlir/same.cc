// Structural equality of types, attributes and locations.
#include "mlir/attribute_reader.h"

#include <algorithm>
#include <cmath>

namespace hlosim::mlir {
namespace {

template <class T>
bool same_pointer(const T* a, const T* b) {
  return a == b || (a != nullptr && b != nullptr && same(*a, *b));
}

template <class T>
bool all_same(std::span<const T* const> a, std::span<const T* const> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_pointer<T>);
}

bool same_entry(const NamedAttribute& a, const NamedAttribute& b) {
  return a.name == b.name && same_pointer(a.value, b.value);
}

/// -0.0 isn't 0.0, NaN is itself.
bool same_number(const Attribute& a, const Attribute& b) {
  return a.has_bits == b.has_bits && a.bits == b.bits &&
         (a.number == b.number ? std::signbit(a.number) == std::signbit(b.number)
                               : a.number != a.number && b.number != b.number);
}

}  // namespace

bool same(const Type& a, const Type& b) {
  return &a == &b || (a.kind == b.kind && a.word == b.word && std::ranges::equal(a.dims, b.dims) &&
                      same_pointer(a.element, b.element) && all_same(a.members, b.members) &&
                      all_same(a.results, b.results) && same_pointer(a.attribute, b.attribute) &&
                      same_pointer(a.space, b.space));
}

bool same(const Attribute& a, const Attribute& b) {
  if (&a == &b) return true;
  return a.kind == b.kind && a.name == b.name && a.text == b.text && a.integer == b.integer &&
         same_number(a, b) && same_pointer(a.type, b.type) && std::ranges::equal(a.integers, b.integers) &&
         all_same(a.items, b.items) &&
         std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(), same_entry) &&
         a.elements.bytes == b.elements.bytes && a.elements.is_splat == b.elements.is_splat &&
         a.elements.is_given == b.elements.is_given && same(a.location, b.location);
}

bool same(const Location* a, const Location* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  return a->kind == b->kind && a->text == b->text && a->line == b->line && a->column == b->column &&
         std::equal(a->inner.begin(), a->inner.end(), b->inner.begin(), b->inner.end(),
                    [](const Location* x, const Location* y) { return same(x, y); });
}

}  // namespace hlosim::mlir
