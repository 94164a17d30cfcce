// Operations that move elements and change none.
#include <algorithm>
#include <cstring>

#include "layout/layout_map.h"
#include "layout/sizes.h"
#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

/// Fills the result from source(index of the result), an element of operand 0.
template <class F>
ValuePtr moved(Operation& op, F&& source) {
  auto result = zero_value(op.shape());
  const ElementType from = op.operand(0).type(), to = result->type();
  for_each_index(result->shape->dimensions,
                 [&](const Index& index) { result->at(index) = convert_element(from, to, source(index)); });
  return result;
}

}  // namespace

ValuePtr evaluate_elementwise(Operation& op) {
  if (op.operands.empty()) return op.fail("not supported");
  // Scalars among larger operands (select, clamp) count for every element.
  auto result = zero_value(op.shape());
  if (!result->shape->is_array())
    return op.instruction.opcode == Opcode::kCopy ? op.operands[0] : op.fail("not supported");
  const size_t count = op.operands.size();
  std::vector<ElementType> types;
  for (const ValuePtr& operand : op.operands) {
    if (!operand->shape->is_array()) return op.fail("not supported");
    types.push_back(operand->type());
    if (operand->rank() == result->rank())
      for (size_t i = 0; i < result->sizes.size(); ++i)
        result->sizes[i] = std::min(result->sizes[i], operand->sizes[i]);
  }
  std::vector<Element> elements(count);
  for (size_t place = 0; place < result->data.size(); ++place) {
    for (size_t i = 0; i < count; ++i)
      elements[i] = op.operand(i).data[op.operand(i).rank() == 0 ? 0 : place];
    const auto element = elementwise(op.instruction, result->type(), types, elements);
    if (!element) return op.fail(fmt::format("not supported for {}", to_text(types[0])));
    result->data[place] = *element;
  }
  return result;
}

ValuePtr evaluate_broadcast(Operation& op) {
  const auto dimensions = op.ints(AttrKey::kDimensions);
  return moved(op, [&](const Index& index) {
    Index source;
    for (const int64_t d : dimensions) source.push_back(index[static_cast<size_t>(d)]);
    return op.operand(0).at(source);
  });
}

ValuePtr evaluate_reshape(Operation& op) {
  size_t next = 0;
  return moved(op, [&](const Index&) { return op.operand(0).data[next++]; });
}

ValuePtr evaluate_transpose(Operation& op) {
  const auto dimensions = op.ints(AttrKey::kDimensions);
  return moved(op, [&](const Index& index) {
    Index source(index.size());
    for (size_t i = 0; i < index.size(); ++i) source[static_cast<size_t>(dimensions[i])] = index[i];
    return op.operand(0).at(source);
  });
}

ValuePtr evaluate_reverse(Operation& op) {
  return moved(op, [&](const Index& index) {
    Index source = index;
    for (const int64_t d : op.ints(AttrKey::kDimensions))
      source[static_cast<size_t>(d)] = op.operand(0).dim(d) - 1 - index[static_cast<size_t>(d)];
    return op.operand(0).at(source);
  });
}

ValuePtr evaluate_concatenate(Operation& op) {
  const auto dimension = static_cast<size_t>(op.ints(AttrKey::kDimensions)[0]);
  return moved(op, [&](const Index& index) {
    Index source = index;
    size_t i = 0;
    while (source[dimension] >= op.operand(i).shape->dimensions[dimension])
      source[dimension] -= op.operand(i++).shape->dimensions[dimension];
    return op.operand(i).at(source);
  });
}

ValuePtr evaluate_slice(Operation& op) {
  const auto slices = op.instruction.find(AttrKey::kSlice)->int_lists();
  return moved(op, [&](const Index& index) {
    Index source;
    for (size_t i = 0; i < index.size(); ++i) source.push_back(slices[i][0] + index[i] * slices[i][2]);
    return op.operand(0).at(source);
  });
}

ValuePtr evaluate_pad(Operation& op) {
  const auto padding = op.instruction.find(AttrKey::kPadding)->int_lists();
  const Value& operand = op.operand(0);
  const Element value = convert_element(op.operand(1).type(), operand.type(), op.operand(1).data[0]);
  return moved(op, [&](const Index& index) {
    Index source;
    for (size_t i = 0; i < index.size(); ++i) {
      const int64_t low = padding[i][0], step = padding[i][2] + 1, at = index[i] - low;
      if (at < 0 || at % step != 0 || at / step >= operand.shape->dimensions[i]) return value;
      source.push_back(at / step);
    }
    return operand.at(source);
  });
}

ValuePtr evaluate_iota(Operation& op) {
  auto result = zero_value(op.shape());
  const auto dimension = static_cast<size_t>(op.integer(AttrKey::kIotaDimension));
  for_each_index(result->shape->dimensions, [&](const Index& index) {
    const Element place{static_cast<uint64_t>(index[dimension]), 0, 0};
    result->at(index) = convert_element(ElementType::kS64, result->type(), place);
  });
  return result;
}

// ── reinterpretation ────────────────────────────────────────────

namespace {

/// The bytes of an array in memory by its layout, and which of them are known.
struct Memory {
  std::vector<std::byte> bytes;
  std::vector<bool> known;
};

void write_slot(Memory& memory, ElementType type, int64_t slot, const Element& element) {
  const auto width = static_cast<size_t>(byte_width(type));
  store_element(type, element, memory.bytes.data() + static_cast<size_t>(slot) * width);
  for (size_t i = 0; i < width; ++i) memory.known[static_cast<size_t>(slot) * width + i] = element.error == 0;
}

Element read_slot(const Memory& memory, ElementType type, int64_t slot) {
  const auto width = static_cast<size_t>(byte_width(type));
  const size_t begin = static_cast<size_t>(slot) * width;
  for (size_t i = begin; i < begin + width; ++i)
    if (i >= memory.known.size() || !memory.known[i]) return kUnknown;
  return load_element(type, memory.bytes.data() + begin);
}

}  // namespace

ValuePtr evaluate_bitcast(Operation& op) {
  const Value& operand = op.operand(0);
  if (operand.shape == op.shape() || !operand.shape->is_array()) return op.operands[0];
  const Result<LayoutMap> from = LayoutMap::make(operand.shape), to = LayoutMap::make(op.shape());
  if (!from || !to) return op.fail("a layout that cannot be numbered");
  auto result = zero_value(op.shape());
  const ElementType old_type = operand.type(), new_type = result->type();
  if (byte_width(old_type) == byte_width(new_type) && bit_width(old_type) == bit_width(new_type)) {
    Index source(static_cast<size_t>(operand.rank()));
    for_each_index(result->shape->dimensions, [&](const Index& index) {
      Element& element = result->at(index);
      element = from->index(to->offset(index), source) ? operand.at(source) : kUnknown;
      if (old_type == new_type || element.unknown()) return;
      std::byte bytes[16];
      store_element(old_type, element, bytes);
      element = element.error > 0 ? kUnknown : load_element(new_type, bytes);
    });
    return result;
  }
  Memory memory;
  memory.bytes.resize(static_cast<size_t>(from->extent() * byte_width(old_type)));
  memory.known.resize(memory.bytes.size(), false);
  for_each_index(operand.shape->dimensions, [&](const Index& index) {
    write_slot(memory, old_type, from->offset(index), operand.at(index));
  });
  for_each_index(result->shape->dimensions, [&](const Index& index) {
    result->at(index) = read_slot(memory, new_type, to->offset(index));
  });
  return result;
}

ValuePtr evaluate_bitcast_convert(Operation& op) {
  const Value& operand = op.operand(0);
  auto result = zero_value(op.shape());
  const ElementType from = operand.type(), to = result->type();
  const int old_bits = bit_width(from), new_bits = bit_width(to);
  if (old_bits >= 8 && new_bits >= 8) {
    Memory memory;
    memory.bytes.resize(operand.data.size() * static_cast<size_t>(byte_width(from)));
    memory.known.resize(memory.bytes.size());
    for (size_t i = 0; i < operand.data.size(); ++i)
      write_slot(memory, from, static_cast<int64_t>(i), operand.data[i]);
    for (size_t i = 0; i < result->data.size(); ++i)
      result->data[i] = read_slot(memory, to, static_cast<int64_t>(i));
    return result;
  }
  // Narrow types: a stream of bits, little-endian.
  const auto bit = [&](int64_t place) {
    const Element& element = operand.data[static_cast<size_t>(place / old_bits)];
    const int64_t within = place % old_bits;
    return (within < 64 ? element.bits >> within : element.imaginary >> (within - 64)) & 1;
  };
  for (size_t i = 0; i < result->data.size(); ++i) {
    uint64_t bits = 0;
    bool known = true;
    for (int64_t k = 0; k < new_bits && k < 64; ++k) {
      const int64_t place = static_cast<int64_t>(i) * new_bits + k;
      bits |= bit(place) << k;
      known = known && operand.data[static_cast<size_t>(place / old_bits)].error == 0;
    }
    result->data[i] = is_integer(to) ? integer_element(to, bits) : Element{bits, 0, 0};
    if (!known) result->data[i] = kUnknown;
  }
  return result;
}

}  // namespace hlosim::test
