#include "shrink/resize.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "hlo/literal.h"
#include "shrink/resized_attributes.h"

namespace hlosim {
namespace {

Attr with_shapes(const Attr& attr, std::span<const ShapeRef> shapes) {
  Attr made = Attr::make_list<ShapeRef>(attr.key, attr.syntax, shapes);
  made.offset = attr.offset;
  return made;
}

/// Compilers tile lists by as much as they fill, at least by a row of lanes: 128 words.
const Layout* tiled_as_long(ShapePool& shapes, ShapeRef array, int64_t size) {
  const Layout* layout = array->layout;
  if (!layout || array->rank() != 1 || layout->tiles.empty() || layout->tiles[0].dimensions.size() != 1)
    return layout;
  const int64_t tile = layout->tiles[0].dimensions[0],
                least = std::max<int64_t>(128, 512 / byte_width(array->element_type));
  const auto filled = [](int64_t n) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(n))); };
  if (size < 1 || filled(array->dim(0)) < tile || filled(size) >= tile || tile <= least) return layout;
  const int64_t smaller[] = {std::max(filled(size), least)};
  std::vector<Tile> tiles(layout->tiles.begin(), layout->tiles.end());
  tiles[0].dimensions = smaller;
  Layout made = *layout;
  made.tiles = tiles;
  return shapes.layout(made);
}

}  // namespace

Module Resizer::module() const {
  Module made = from_.copy();
  for (size_t i = 0; i < from_.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    if (!from_[id].parent.valid() || !changes(id)) continue;
    Instruction& instruction = made.instructions[id];
    instruction.shape = resized(made, from_[id].shape, id);
    instruction.attrs = attributes(made, id);
    int64_t leaf = 0;
    if (instruction.literal && changes_result(id))
      instruction.literal = literal(made, *from_[id].literal, id, leaf);
  }
  resize_header(made);
  return made;
}

bool Resizer::changes_result(InstructionId id) const {
  bool changed = false;
  classes_.for_each(id, [&](DimensionClass c) { changed |= divisors_[static_cast<size_t>(c)] != 1; });
  return changed;
}

bool Resizer::changes(InstructionId id) const {
  const auto operands = from_[id].operands;
  return changes_result(id) || std::any_of(operands.begin(), operands.end(),
                                           [&](InstructionId operand) { return changes_result(operand); });
}

ShapeRef Resizer::resized(Module& made, ShapeRef like, InstructionId id, int64_t& leaf) const {
  if (like->is_tuple()) {
    std::vector<ShapeRef> elements;
    for (const ShapeRef element : like->elements) elements.push_back(resized(made, element, id, leaf));
    return made.shapes().tuple(elements);
  }
  const int64_t here = leaf++;
  const ShapeRef array = like->is_buffer() ? like->elements[0] : like;
  if (!array->is_array()) return like;
  std::vector<int64_t> sizes(array->dimensions.begin(), array->dimensions.end());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 0) sizes[i] /= divisor(id, here, static_cast<int64_t>(i));
  const Layout* layout = sizes.size() == 1 ? tiled_as_long(made.shapes(), array, sizes[0]) : array->layout;
  const ShapeRef now = made.shapes().array(array->element_type, sizes, layout, array->dynamic);
  return like->is_buffer() ? made.shapes().buffer(now) : now;
}

std::span<const Attr> Resizer::attributes(Module& made, InstructionId id) const {
  std::vector<Attr> attrs;
  for (const Attr& attr : from_[id].attrs) attrs.push_back(attribute(made, id, attr));
  return made.arena().copy(attrs);
}

Attr Resizer::attribute(Module& made, InstructionId id, const Attr& attr) const {
  const Instruction& instruction = from_[id];
  switch (attr.key) {
    case AttrKey::kOperandLayoutConstraints: {
      std::vector<ShapeRef> shapes(attr.shapes().begin(), attr.shapes().end());
      for (size_t i = 0; i < shapes.size() && i < instruction.operands.size(); ++i)
        shapes[i] = resized(made, shapes[i], instruction.operands[i]);
      return with_shapes(attr, made.arena().copy(shapes));
    }
    case AttrKey::kOutfeedShape: {
      const std::vector<ShapeRef> shapes = {resized(made, attr.shapes()[0], instruction.operands[0])};
      return with_shapes(attr, made.arena().copy(shapes));
    }
    case AttrKey::kBackendConfig: {
      const std::string text = without_window_config(attr.text());
      Attr config = Attr::make_text(attr.key, attr.syntax, made.arena().copy(std::string_view(text)));
      config.offset = attr.offset;
      return config;
    }
    default: {
      const OpContext op(from_, made.shapes(), instruction, table_, nullptr);
      const auto divisor_of = [&](int64_t operand, int64_t dimension) {
        return divisor(operand < 0 ? id : instruction.operands[static_cast<size_t>(operand)], 0, dimension);
      };
      return resized_attribute(op, attr, divisor_of, made.arena());
    }
  }
}

/// Elements at multiples of the divisors.
const Literal* Resizer::literal(Module& made, const Literal& from, InstructionId id, int64_t& leaf) const {
  Literal literal = from;
  const int64_t here = leaf;
  literal.shape = from.shape->is_tuple() ? made[id].shape : resized(made, from.shape, id, leaf);
  if (!from.elements.empty()) {
    std::vector<const Literal*> elements;
    std::vector<ShapeRef> shapes;
    for (const Literal* element : from.elements) {
      elements.push_back(this->literal(made, *element, id, leaf));
      shapes.push_back(elements.back()->shape);
    }
    literal.elements = made.arena().copy(elements);
    literal.shape = made.shapes().tuple(shapes);
    return made.arena().make<Literal>(literal);
  }
  if (!from.shape->is_array() || from.data.empty()) return made.arena().make<Literal>(literal);
  const auto width = static_cast<size_t>(byte_width(from.shape->element_type));
  std::vector<std::byte> data(static_cast<size_t>(literal.shape->element_count()) * width);
  std::vector<int64_t> index(literal.shape->dimensions.size());
  for (size_t to = 0; to < data.size(); to += width) {
    int64_t element = 0;
    for (size_t i = 0; i < index.size(); ++i)
      element = element * from.shape->dimensions[i] + index[i] * divisor(id, here, static_cast<int64_t>(i));
    const size_t at = static_cast<size_t>(element) * width;
    if (at + width <= from.data.size()) std::memcpy(data.data() + to, from.data.data() + at, width);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < literal.shape->dimensions[i]) break;
      index[i] = 0;
    }
  }
  literal.data = made.arena().copy(data);
  return made.arena().make<Literal>(literal);
}

void Resizer::resize_header(Module& made) const {
  const Computation& entry = from_.entry_computation();
  std::vector<Attr> attrs(from_.attrs.begin(), from_.attrs.end());
  for (Attr& attr : attrs) {
    if (attr.key != AttrKey::kEntryComputationLayout) continue;
    std::vector<ShapeRef> shapes(attr.shapes().begin(), attr.shapes().end());
    for (size_t i = 0; i < shapes.size(); ++i)
      shapes[i] = resized(made, shapes[i], i + 1 < shapes.size() ? entry.parameters[i] : entry.root);
    attr = with_shapes(attr, made.arena().copy(shapes));
  }
  made.attrs = made.arena().copy(attrs);
}

}  // namespace hlosim
