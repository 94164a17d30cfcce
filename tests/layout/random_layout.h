// Random small tiled arrays for property tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "layout/shape.h"

namespace hlosim::test {

struct RandomLayoutOptions {
  int max_rank = 4;
  int max_tiles = 3;
  int combine_percent = 0;            // chance of each tile entry but the last to be `*`
  bool dividing_second_tile = false;  // later tiles cut only what they divide
};

inline int64_t between(std::mt19937& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint32_t>(high - low + 1));
}

/// A layout of the given rank with random order and tiles.
inline const Layout* random_layout(ShapePool& pool, std::mt19937& random, int rank,
                                   const RandomLayoutOptions& options) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  const int tile_count = static_cast<int>(between(random, 0, options.max_tiles));
  std::vector<std::vector<int64_t>> sizes(static_cast<size_t>(tile_count));
  std::vector<Tile> tiles;
  for (size_t t = 0; t < sizes.size(); ++t) {
    const int64_t longest = options.dividing_second_tile && t > 0 ? static_cast<int64_t>(sizes[0].size())
                                                                  : std::max(1, std::min(rank + 1, 4));
    const int64_t entries = between(random, 1, longest);
    for (int64_t i = 0; i < entries; ++i) {
      int64_t size = between(random, 1, 5);
      if (options.dividing_second_tile) size = int64_t{1} << between(random, t == 0 ? 1 : 0, t == 0 ? 3 : 1);
      if (i + 1 < entries && between(random, 1, 100) <= options.combine_percent) size = Tile::kCombine;
      sizes[t].push_back(size);
    }
    tiles.push_back({sizes[t]});
  }
  Layout layout;
  layout.minor_to_major = order;
  layout.tiles = tiles;
  if (between(random, 1, 10) == 1) layout.tail_padding_alignment = between(random, 1, 9);
  return pool.layout(layout);
}

/// An array of 1 to a few hundred elements.
inline ShapeRef random_tiled_array(ShapePool& pool, std::mt19937& random,
                                   const RandomLayoutOptions& options) {
  const int rank = static_cast<int>(between(random, 0, options.max_rank));
  std::vector<int64_t> dimensions;
  const int64_t largest = rank <= 1 ? 40 : rank == 2 ? 14 : rank == 3 ? 7 : 5;
  for (int i = 0; i < rank; ++i) dimensions.push_back(between(random, 1, largest));
  return pool.array(ElementType::kF32, dimensions, random_layout(pool, random, rank, options));
}

/// f(index) for every index of the array, in row-major order.
template <class F>
void for_each_index(ShapeRef array, F&& f) {
  if (array->element_count() == 0) return;
  std::vector<int64_t> index(array->dimensions.size(), 0);
  for (int64_t k = 0; k < array->element_count(); ++k) {
    f(index);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < array->dimensions[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace hlosim::test
