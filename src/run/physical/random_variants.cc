// Layouts and orders by chance: the module means the same with all of them.
#include <algorithm>
#include <map>
#include <random>
#include <unordered_map>

#include "hlo/module_editor.h"
#include "layout/layout_map.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"
#include "physical/prepare.h"
#include "physical/tiled_bytes.h"

namespace hlosim {
namespace {

class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool one_in(int64_t n) { return below(n) == 0; }

 private:
  std::mt19937_64 random_;
};

// ── layouts ─────────────────────────────────────────────────────

class LayoutGiver {
 public:
  LayoutGiver(Module& module, const BufferAnalysis& analysis, uint64_t seed)
      : module_(module),
        analysis_(analysis),
        chance_(seed),
        is_pinned_(static_cast<size_t>(analysis.buffers->size()), 0),
        chosen_(static_cast<size_t>(analysis.buffers->size()), nullptr) {}

  void run() {
    for (Place place = 0; place < analysis_.places.size(); ++place) look_at(place);
    for (const InstructionId id : analysis_.schedule.steps) {
      Place place = analysis_.places.first(id);
      module_.instructions[id].shape = rebuilt(place);
    }
  }

 private:
  BufferIndex buffer_at(Place place) const {
    const ValueIndex value = analysis_.values.at(place);
    return value == kNoValue ? -1 : analysis_.buffers->of(value);
  }

  /// Arrays of different dimensions or layouts in one piece of memory, and what we can't lay out otherwise,
  /// stay as they are.
  void look_at(Place place) {
    const BufferIndex buffer = buffer_at(place);
    const ShapeRef shape = analysis_.places.shape(place);
    if (buffer < 0 || shape->is_tuple()) return;
    const auto i = static_cast<size_t>(buffer);
    const ShapeRef first = analysis_.shape(analysis_.buffers->values(buffer)[0]);
    const bool ordinary = shape->is_array() && TiledBytes::make(shape) &&
                          (!shape->layout || (shape->layout->index_type == ElementType::kInvalid &&
                                              shape->layout->pointer_type == ElementType::kInvalid));
    if (!ordinary || first->logical != shape->logical) is_pinned_[i] = 1;
  }

  ShapeRef rebuilt(Place& place) {
    const Place here = place++;
    const ShapeRef shape = analysis_.places.shape(here);
    if (shape->is_tuple()) {
      std::vector<ShapeRef> elements;
      for (size_t i = 0; i < shape->elements.size(); ++i) elements.push_back(rebuilt(place));
      return module_.shapes().tuple(elements);
    }
    const BufferIndex buffer = buffer_at(here);
    if (buffer < 0 || is_pinned_[static_cast<size_t>(buffer)]) return shape;
    const Layout*& layout = chosen_[static_cast<size_t>(buffer)];
    if (!layout) layout = layout_for(shape);
    return module_.shapes().with_memory_space(module_.shapes().with_layout(shape, layout),
                                              shape->memory_space());
  }

  /// One of three per type and dimensions, so that arrays alike may share memory.
  const Layout* layout_for(ShapeRef shape) {
    std::vector<const Layout*>& some = pool_[shape->logical];
    while (some.size() < 3) some.push_back(any_layout(shape));
    return some[static_cast<size_t>(chance_.below(3))];
  }

  const Layout* any_layout(ShapeRef shape) {
    constexpr int kTries = 20;
    for (int i = 0; i < kTries; ++i) {
      const Layout* layout = drawn(shape);
      const ShapeRef laid = module_.shapes().with_layout(shape, layout);
      if (validate_layout(laid)) continue;
      const Result<TiledBytes> bytes = TiledBytes::make(laid);
      if (bytes && bytes->size() <= kMostPadding * dense_bytes(shape).count() + kSmall) return layout;
    }
    return module_.shapes().default_layout(shape->rank());
  }

  const Layout* drawn(ShapeRef shape) {
    Layout layout;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < shape->rank(); ++i) order.push_back(i);
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(chance_.below(static_cast<int64_t>(i)))]);
    layout.minor_to_major = order;
    std::vector<std::vector<int64_t>> sizes = tile_sizes(shape->rank());
    std::vector<Tile> tiles;
    for (const std::vector<int64_t>& size : sizes) tiles.push_back({size});
    layout.tiles = tiles;
    if (chance_.one_in(6)) layout.tail_padding_alignment = 1 + chance_.below(64);
    const int bits = bit_width(shape->element_type);
    if (bits < 8 && 8 % bits == 0 && chance_.one_in(2)) layout.element_bits = bits;
    if (bits == 8 && chance_.one_in(8)) layout.element_bits = 32;
    return module_.shapes().layout(layout);
  }

  std::vector<std::vector<int64_t>> tile_sizes(int64_t rank) {
    switch (chance_.below(6)) {
      case 0:
        return {};
      case 1:
        return {{8, 128}};
      case 2:
        return {{8, 128}, {1 + chance_.below(4), 1}};
      case 3:
        return {{128}};
      default: {
        std::vector<std::vector<int64_t>> sizes;
        const int64_t levels = 1 + chance_.below(3);
        for (int64_t level = 0; level < levels; ++level) {
          std::vector<int64_t>& size = sizes.emplace_back();
          const int64_t count = 1 + chance_.below(rank + 1);
          for (int64_t i = 0; i < count; ++i) size.push_back(1 + chance_.below(5));
          if (count > 1 && chance_.one_in(10)) size[0] = Tile::kCombine;
        }
        return sizes;
      }
    }
  }

  static constexpr int64_t kMostPadding = 8;  // times the elements
  static constexpr int64_t kSmall = 8192;     // bytes

  Module& module_;
  const BufferAnalysis& analysis_;
  Chance chance_;
  std::vector<uint8_t> is_pinned_;     // by buffer
  std::vector<const Layout*> chosen_;  // by buffer
  std::unordered_map<ShapeRef, std::vector<const Layout*>> pool_;
};

}  // namespace

Result<void> give_random_layouts(Module& module, const OpTable& table, uint64_t seed) {
  ModuleEditor editor(module);
  for (const ComputationId id : control_flow_of(ModuleGraph(module)))
    for (const InstructionId instruction : module[id].instructions) editor.spell_out_bitcast(instruction);
  BufferOptions options;
  options.padded = true;
  const auto analysis = analyse_buffers(module, table, options);
  if (!analysis) return tl::unexpected(analysis.error());
  LayoutGiver(module, **analysis, seed).run();
  return {};
}

void give_random_order(Module& module, uint64_t seed) {
  Chance chance(seed);
  for (const ComputationId id : control_flow_of(ModuleGraph(module))) {
    std::vector<InstructionId>& list = module.computations[id].instructions;
    std::unordered_map<InstructionId, int64_t> waits_for;
    std::unordered_map<InstructionId, std::vector<InstructionId>> successors;
    for (const InstructionId instruction : list) {
      waits_for[instruction];
      for_each_predecessor(module[instruction], [&](InstructionId before) {
        ++waits_for[instruction];
        successors[before].push_back(instruction);
      });
    }
    std::vector<InstructionId> ready, order;
    for (const InstructionId instruction : list)
      if (waits_for[instruction] == 0) ready.push_back(instruction);
    while (!ready.empty()) {
      const auto next = static_cast<size_t>(chance.below(static_cast<int64_t>(ready.size())));
      const InstructionId instruction = ready[next];
      ready[next] = ready.back();
      ready.pop_back();
      order.push_back(instruction);
      for (const InstructionId after : successors[instruction])
        if (--waits_for[after] == 0) ready.push_back(after);
    }
    list = std::move(order);
  }
}

}  // namespace hlosim
