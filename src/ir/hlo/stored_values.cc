#include "hlo/stored_values.h"

#include "hlo/number.h"

namespace hlosim {

std::span<const std::span<const int64_t>> stored_lists(Module& module,
                                                       const std::vector<std::vector<int64_t>>& lists) {
  std::vector<std::span<const int64_t>> stored;
  for (const std::vector<int64_t>& list : lists) stored.push_back(module.arena().copy(list));
  return module.arena().copy(stored);
}

Attr ints_attr(Module& module, AttrKey key, std::span<const int64_t> values, AttrSyntax syntax) {
  return Attr::make_list<int64_t>(key, syntax, module.arena().copy(values));
}

Attr int_lists_attr(Module& module, AttrKey key, AttrSyntax syntax,
                    const std::vector<std::vector<int64_t>>& lists) {
  return Attr::make_list<std::span<const int64_t>>(key, syntax, stored_lists(module, lists));
}

Attr computation_attr(Module& module, AttrKey key, ComputationId computation) {
  const std::span<const ComputationId> one(&computation, 1);
  return Attr::make_list<ComputationId>(key, AttrSyntax::kComputation, module.arena().copy(one));
}

const Literal* array_literal(Module& module, ShapeRef shape, std::span<const std::byte> data) {
  return module.arena().make<Literal>(Literal{shape, module.arena().copy(data), false, {}});
}

const Literal* integer_literal(Module& module, ShapeRef shape, std::span<const int64_t> values) {
  std::vector<std::byte> data;
  for (const int64_t& value : values) {
    const auto* low = reinterpret_cast<const std::byte*>(&value);
    data.insert(data.end(), low, low + byte_width(shape->element_type));
  }
  return array_literal(module, shape, data);
}

const Literal* scalar_literal(Module& module, ElementType type, double value) {
  const ElementType real = type == ElementType::kC64    ? ElementType::kF32
                           : type == ElementType::kC128 ? ElementType::kF64
                                                        : type;
  const uint64_t bits[] = {encode_number(real, value), 0};
  const auto width = static_cast<size_t>(byte_width(type));
  return array_literal(module, module.shapes().scalar(type), std::as_bytes(std::span(bits)).first(width));
}

}  // namespace hlosim
