#include "layout/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/check.h"
#include "base/hash.h"
#include "base/saturating.h"

namespace hlosim {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) { return WordHash(hash).add_word(value).value(); }

template <class T>
uint64_t mix_all(uint64_t hash, std::span<const T> values) {
  hash = mix(hash, values.size());
  for (const T value : values) {
    if constexpr (std::is_pointer_v<T>)
      hash = mix(hash, reinterpret_cast<uintptr_t>(value));
    else
      hash = mix(hash, static_cast<uint64_t>(value));
  }
  return hash;
}

template <class T>
bool same(std::span<const T> a, std::span<const T> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

uint64_t hash_of(const Layout& layout) {
  uint64_t hash = mix_all(1, layout.minor_to_major);
  for (const Tile& tile : layout.tiles) hash = mix_all(hash, tile.dimensions);
  for (const SplitConfig& split : layout.splits)
    hash = mix_all(mix(hash, static_cast<uint64_t>(split.dimension)), split.indices);
  for (const int64_t value : {layout.tail_padding_alignment, static_cast<int64_t>(layout.index_type),
                              static_cast<int64_t>(layout.pointer_type), layout.element_bits,
                              layout.memory_space, layout.metadata_prefix_bytes})
    hash = mix(hash, static_cast<uint64_t>(value));
  return hash;
}

bool equal(const Layout& a, const Layout& b) {
  const auto same_tile = [](const Tile& x, const Tile& y) { return same(x.dimensions, y.dimensions); };
  const auto same_split = [](const SplitConfig& x, const SplitConfig& y) {
    return x.dimension == y.dimension && same(x.indices, y.indices);
  };
  return same(a.minor_to_major, b.minor_to_major) &&
         std::equal(a.tiles.begin(), a.tiles.end(), b.tiles.begin(), b.tiles.end(), same_tile) &&
         a.tail_padding_alignment == b.tail_padding_alignment && a.index_type == b.index_type &&
         a.pointer_type == b.pointer_type && a.element_bits == b.element_bits &&
         a.memory_space == b.memory_space &&
         std::equal(a.splits.begin(), a.splits.end(), b.splits.begin(), b.splits.end(), same_split) &&
         a.metadata_prefix_bytes == b.metadata_prefix_bytes;
}

uint64_t hash_of(const Shape& shape) {
  uint64_t hash = mix(static_cast<uint64_t>(shape.kind), static_cast<uint64_t>(shape.element_type));
  hash = mix_all(hash, shape.dimensions);
  hash = mix_all(hash, shape.dynamic);
  hash = mix(hash, reinterpret_cast<uintptr_t>(shape.layout));
  return mix_all(hash, shape.elements);
}

bool equal(const Shape& a, const Shape& b) {
  return a.kind == b.kind && a.element_type == b.element_type && a.layout == b.layout &&
         same(a.dimensions, b.dimensions) && same(a.dynamic, b.dynamic) && same(a.elements, b.elements);
}

/// Open-addressing set of arena-owned nodes.
template <class T>
class InternTable {
 public:
  template <class Make>
  const T* find_or_add(const T& key, Make&& make) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    size_t at = hash_of(key) & (slots_.size() - 1);
    while (slots_[at]) {
      if (equal(*slots_[at], key)) return slots_[at];
      at = (at + 1) & (slots_.size() - 1);
    }
    // `make` may intern further nodes, so look the free slot up again afterwards.
    const T* made = make();
    if (2 * (size_ + 1) > slots_.size()) grow();
    at = hash_of(*made) & (slots_.size() - 1);
    while (slots_[at]) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = made;
    ++size_;
    return made;
  }

 private:
  void grow() {
    std::vector<const T*> old(std::max<size_t>(64, slots_.size() * 2), nullptr);
    old.swap(slots_);
    for (const T* node : old) {
      if (!node) continue;
      size_t at = hash_of(*node) & (slots_.size() - 1);
      while (slots_[at]) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = node;
    }
  }
  std::vector<const T*> slots_;
  size_t size_ = 0;
};

int64_t count_elements(std::span<const int64_t> dimensions) {
  int64_t product = 1;
  bool zero = false;
  for (const int64_t size : dimensions) {
    if (size == Shape::kUnbounded || size == 0)
      zero = true;
    else
      product = saturating_multiply(product, size);
  }
  return zero ? 0 : product;
}

}  // namespace

struct ShapePool::Tables {
  Arena arena;
  InternTable<Shape> shapes;
  InternTable<Layout> layouts;
  std::vector<const Layout*> default_layouts;  // by rank; null: not asked for yet
};

ShapePool::ShapePool() : tables_(std::make_unique<Tables>()) {}
ShapePool::~ShapePool() = default;

ShapePool ShapePool::copy() const {
  ShapePool made;
  *made.tables_ = {tables_->arena.branch(), tables_->shapes, tables_->layouts, tables_->default_layouts};
  return made;
}
ShapePool::ShapePool(ShapePool&&) noexcept = default;
ShapePool& ShapePool::operator=(ShapePool&&) noexcept = default;

bool Shape::is_static() const {
  if (is_array())
    return std::none_of(dynamic.begin(), dynamic.end(), [](bool d) { return d; }) && !is_unbounded();
  return std::all_of(elements.begin(), elements.end(), [](ShapeRef e) { return e->is_static(); });
}

bool Shape::is_unbounded() const {
  if (is_array()) return std::find(dimensions.begin(), dimensions.end(), kUnbounded) != dimensions.end();
  return std::any_of(elements.begin(), elements.end(), [](ShapeRef e) { return e->is_unbounded(); });
}

bool compatible_up_to_float_precision(ShapeRef a, ShapeRef b) {
  if (compatible(a, b)) return true;
  if (a->kind != b->kind || a->elements.size() != b->elements.size()) return false;
  if (a->is_array())
    return is_float(a->element_type) && is_float(b->element_type) && same(a->dimensions, b->dimensions);
  for (size_t i = 0; i < a->elements.size(); ++i)
    if (!compatible_up_to_float_precision(a->elements[i], b->elements[i])) return false;
  return !a->elements.empty();
}

ShapeRef ShapePool::array(ElementType type, std::span<const int64_t> dimensions, const Layout* layout,
                          std::span<const bool> dynamic) {
  HLOSIM_CHECK(dynamic.empty() || dynamic.size() == dimensions.size());
  if (std::none_of(dynamic.begin(), dynamic.end(), [](bool d) { return d; })) dynamic = {};
  Shape key;
  key.element_type = type;
  key.dimensions = dimensions;
  key.dynamic = dynamic;
  key.layout = layout;
  return tables_->shapes.find_or_add(key, [&] {
    Shape* shape = tables_->arena.make<Shape>(key);
    shape->dimensions = tables_->arena.copy(dimensions);
    shape->dynamic = tables_->arena.copy(dynamic);
    shape->element_count_ = count_elements(dimensions);
    shape->logical = layout || !dynamic.empty() ? array(type, dimensions) : shape;
    return shape;
  });
}

ShapeRef ShapePool::tuple(std::span<const ShapeRef> elements) {
  Shape key;
  key.kind = ShapeKind::kTuple;
  key.elements = elements;
  return tables_->shapes.find_or_add(key, [&] {
    Shape* shape = tables_->arena.make<Shape>(key);
    shape->elements = tables_->arena.copy(elements);
    std::vector<ShapeRef> logical;
    for (const ShapeRef element : elements) logical.push_back(element->logical);
    shape->logical = same(std::span<const ShapeRef>(logical), elements) ? shape : tuple(logical);
    return shape;
  });
}

ShapeRef ShapePool::buffer(ShapeRef array) {
  Shape key;
  key.kind = ShapeKind::kBuffer;
  key.elements = {&array, 1};
  return tables_->shapes.find_or_add(key, [&] {
    Shape* shape = tables_->arena.make<Shape>(key);
    shape->elements = tables_->arena.copy(std::span<const ShapeRef>(&array, 1));
    shape->logical = array->logical == array ? shape : buffer(array->logical);
    return shape;
  });
}

ShapeRef ShapePool::token() {
  Shape key;
  key.kind = ShapeKind::kToken;
  return tables_->shapes.find_or_add(key, [&] {
    Shape* shape = tables_->arena.make<Shape>(key);
    shape->logical = shape;
    return shape;
  });
}

ShapeRef ShapePool::opaque() {
  Shape key;
  key.kind = ShapeKind::kOpaque;
  return tables_->shapes.find_or_add(key, [&] {
    Shape* shape = tables_->arena.make<Shape>(key);
    shape->logical = shape;
    return shape;
  });
}

const Layout* ShapePool::layout(const Layout& key) {
  return tables_->layouts.find_or_add(key, [&] {
    Arena& arena = tables_->arena;
    Layout* layout = arena.make<Layout>(key);
    layout->minor_to_major = arena.copy(key.minor_to_major);
    const std::span<Tile> tiles = arena.copy(key.tiles);
    for (Tile& tile : tiles) tile.dimensions = arena.copy(tile.dimensions);
    layout->tiles = tiles;
    const std::span<SplitConfig> splits = arena.copy(key.splits);
    for (SplitConfig& split : splits) split.indices = arena.copy(split.indices);
    layout->splits = splits;
    return layout;
  });
}

const Layout* ShapePool::default_layout(int64_t rank) {
  auto& known = tables_->default_layouts;
  const auto at = static_cast<size_t>(rank);
  if (at >= known.size()) known.resize(at + 1, nullptr);
  if (known[at]) return known[at];
  std::vector<int64_t> order(at);
  std::iota(order.rbegin(), order.rend(), 0);
  Layout key;
  key.minor_to_major = order;
  return known[at] = layout(key);
}

ShapeRef ShapePool::with_layout(ShapeRef shape, const Layout* layout) {
  HLOSIM_CHECK(shape->is_array(), "{}", to_text(shape));
  return array(shape->element_type, shape->dimensions, layout, shape->dynamic);
}

ShapeRef ShapePool::with_default_layouts(ShapeRef shape) {
  switch (shape->kind) {
    case ShapeKind::kArray:
      return shape->layout ? shape : with_layout(shape, default_layout(shape->rank()));
    case ShapeKind::kTuple: {
      std::vector<ShapeRef> elements;
      for (const ShapeRef element : shape->elements) elements.push_back(with_default_layouts(element));
      return tuple(elements);
    }
    case ShapeKind::kBuffer:
      return buffer(with_default_layouts(shape->elements[0]));
    case ShapeKind::kToken:
    case ShapeKind::kOpaque:
      return shape;
  }
  return shape;
}

ShapeRef ShapePool::with_memory_space(ShapeRef shape, int64_t memory_space) {
  if (shape->is_tuple()) {
    std::vector<ShapeRef> elements;
    for (const ShapeRef element : shape->elements)
      elements.push_back(with_memory_space(element, memory_space));
    return tuple(elements);
  }
  if (!shape->is_array()) return shape;
  Layout key = shape->layout ? *shape->layout : *default_layout(shape->rank());
  key.memory_space = memory_space;
  return with_layout(shape, layout(key));
}

ShapeRef ShapePool::with_element_type(ShapeRef shape, ElementType type) {
  HLOSIM_CHECK(shape->is_array(), "{}", to_text(shape));
  return array(type, shape->dimensions, shape->layout, shape->dynamic);
}

ShapeRef ShapePool::with_dimensions(ShapeRef shape, std::span<const int64_t> dimensions) {
  HLOSIM_CHECK(shape->is_array(), "{}", to_text(shape));
  return array(shape->element_type, dimensions);
}

ShapeRef ShapePool::import(ShapeRef shape) {
  switch (shape->kind) {
    case ShapeKind::kArray:
      return array(shape->element_type, shape->dimensions, shape->layout ? layout(*shape->layout) : nullptr,
                   shape->dynamic);
    case ShapeKind::kTuple: {
      std::vector<ShapeRef> elements;
      for (const ShapeRef element : shape->elements) elements.push_back(import(element));
      return tuple(elements);
    }
    case ShapeKind::kBuffer:
      return buffer(import(shape->elements[0]));
    case ShapeKind::kToken:
      return token();
    case ShapeKind::kOpaque:
      return opaque();
  }
  return token();
}

namespace {

void append_number(std::string& out, int64_t value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

template <class F>
void append_list(std::string& out, std::span<const int64_t> values, F&& one) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ',';
    one(values[i]);
  }
}

bool has_properties(const Layout& layout) {
  return !layout.tiles.empty() || layout.tail_padding_alignment != 1 ||
         layout.index_type != ElementType::kInvalid || layout.pointer_type != ElementType::kInvalid ||
         layout.element_bits != 0 || layout.memory_space != 0 || !layout.splits.empty() ||
         layout.metadata_prefix_bytes != 0;
}

void append_layout(std::string& out, const Layout& layout) {
  const auto number = [&](int64_t value) { append_number(out, value); };
  const auto property = [&](const char* name, int64_t value) {
    out += name;
    out += '(';
    number(value);
    out += ')';
  };
  out += '{';
  append_list(out, layout.minor_to_major, number);
  if (has_properties(layout)) {
    out += ':';
    if (!layout.tiles.empty()) out += 'T';
    for (const Tile& tile : layout.tiles) {
      out += '(';
      append_list(out, tile.dimensions,
                  [&](int64_t d) { d == Tile::kCombine ? void(out += '*') : number(d); });
      out += ')';
    }
    if (layout.tail_padding_alignment != 1) property("L", layout.tail_padding_alignment);
    if (layout.index_type != ElementType::kInvalid) out += fmt::format("#({})", to_text(layout.index_type));
    if (layout.pointer_type != ElementType::kInvalid)
      out += fmt::format("*({})", to_text(layout.pointer_type));
    if (layout.element_bits != 0) property("E", layout.element_bits);
    if (layout.memory_space != 0) property("S", layout.memory_space);
    if (!layout.splits.empty()) out += "SC";
    for (const SplitConfig& split : layout.splits) {
      out += '(';
      number(split.dimension);
      out += ':';
      append_list(out, split.indices, number);
      out += ')';
    }
    if (layout.metadata_prefix_bytes != 0) property("M", layout.metadata_prefix_bytes);
  }
  out += '}';
}

void append_shape(std::string& out, ShapeRef shape, bool with_layout) {
  switch (shape->kind) {
    case ShapeKind::kToken:
      out += "token[]";
      return;
    case ShapeKind::kOpaque:
      out += "opaque[]";
      return;
    case ShapeKind::kBuffer:
      out += "b(";
      append_shape(out, shape->elements[0], with_layout);
      out += ')';
      return;
    case ShapeKind::kTuple:
      out += '(';
      for (size_t i = 0; i < shape->elements.size(); ++i) {
        if (i) out += ", ";
        if (i && i % 5 == 0) fmt::format_to(std::back_inserter(out), "/*index={}*/", i);
        append_shape(out, shape->elements[i], with_layout);
      }
      out += ')';
      return;
    case ShapeKind::kArray:
      break;
  }
  out += to_text(shape->element_type);
  out += '[';
  for (int64_t i = 0; i < shape->rank(); ++i) {
    if (i) out += ',';
    if (shape->dim(i) == Shape::kUnbounded) {
      out += '?';
      continue;
    }
    if (shape->is_dynamic(i)) out += "<=";
    append_number(out, shape->dim(i));
  }
  out += ']';
  if (with_layout && shape->layout && (shape->rank() > 0 || has_properties(*shape->layout)))
    append_layout(out, *shape->layout);
}

}  // namespace

std::string to_text(ShapeRef shape) {
  std::string out;
  append_shape(out, shape, true);
  return out;
}

void append_text(std::string& out, ShapeRef shape) { append_shape(out, shape, true); }

std::string to_text_without_layout(ShapeRef shape) {
  std::string out;
  append_shape(out, shape, false);
  return out;
}

std::string to_text(const Layout& layout) {
  std::string out;
  append_layout(out, layout);
  return out;
}

int64_t leaf_count(ShapeRef shape) {
  int64_t count = 0;
  for_each_leaf(shape, [&](ShapeRef) { ++count; });
  return count;
}

ShapeRef subshape(ShapeRef shape, std::span<const int64_t> index) {
  for (const int64_t i : index) {
    if (!shape->is_tuple() || i < 0 || i >= static_cast<int64_t>(shape->elements.size())) return nullptr;
    shape = shape->elements[static_cast<size_t>(i)];
  }
  return shape;
}

}  // namespace hlosim
