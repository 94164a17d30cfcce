#include "layout/bitcast.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/units.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

using Index = std::vector<int64_t>;

bool same(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool is_tiled(const Shape& shape) { return shape.layout && !shape.layout->tiles.empty(); }

std::span<const Tile> tiles_of(const Shape& shape) {
  return shape.layout ? shape.layout->tiles : std::span<const Tile>();
}

bool same_tiles(const Shape& a, const Shape& b) {
  const auto equal = [](const Tile& x, const Tile& y) { return same(x.dimensions, y.dimensions); };
  return std::equal(tiles_of(a).begin(), tiles_of(a).end(), tiles_of(b).begin(), tiles_of(b).end(), equal);
}

bool same_splits(const Shape& a, const Shape& b) {
  const auto splits = [](const Shape& s) {
    return s.layout ? s.layout->splits : std::span<const SplitConfig>();
  };
  const auto equal = [](const SplitConfig& x, const SplitConfig& y) {
    return x.dimension == y.dimension && same(x.indices, y.indices);
  };
  return std::equal(splits(a).begin(), splits(a).end(), splits(b).begin(), splits(b).end(), equal);
}

bool is_split(const Shape& shape) { return shape.layout && !shape.layout->splits.empty(); }

/// Most minor first; the default order where there is no layout.
Index order_of(const Shape& shape) {
  Index order(shape.dimensions.size());
  if (shape.layout)
    order.assign(shape.layout->minor_to_major.begin(), shape.layout->minor_to_major.end());
  else
    std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

// -- row-major numbers ------------------------------------------------------------------------------

Index row_major_weights(std::span<const int64_t> dimensions) {
  Index weights(dimensions.size(), 1);
  for (size_t i = weights.size(); i-- > 1;) weights[i - 1] = weights[i] * dimensions[i];
  return weights;
}

Index index_of_number(int64_t number, std::span<const int64_t> dimensions) {
  Index index(dimensions.size());
  for (size_t i = index.size(); i-- > 0;) {
    index[i] = number % dimensions[i];
    number /= dimensions[i];
  }
  return index;
}

// -- untiled ----------------------------------------------------------------------------------------

/// Distance in elements between neighbours along each logical dimension.
Index untiled_strides(const Shape& shape) {
  Index strides(shape.dimensions.size());
  int64_t stride = 1;
  for (const int64_t dimension : order_of(shape)) {
    strides[static_cast<size_t>(dimension)] = stride;
    stride *= shape.dim(dimension);
  }
  return strides;
}

/// For each dimension of `a`, one step along it: does the element of `b` with the same row-major
/// number lie equally far from the start?
bool unit_steps_agree(const Shape& a, const Shape& b) {
  const Index weights = row_major_weights(a.dimensions);
  const Index strides_a = untiled_strides(a), strides_b = untiled_strides(b);
  for (size_t d = 0; d < weights.size(); ++d) {
    if (a.dimensions[d] <= 1) continue;
    const Index index = index_of_number(weights[d], b.dimensions);
    if (std::inner_product(index.begin(), index.end(), strides_b.begin(), int64_t{0}) != strides_a[d])
      return false;
  }
  return true;
}

/// The permutation under which the physical dimensions coincide; nullopt if there is none.
std::optional<Index> physical_permutation(const Shape& from, const Shape& to) {
  if (from.rank() != to.rank()) return std::nullopt;
  const Index order_from = order_of(from), order_to = order_of(to);
  Index permutation(order_from.size());
  for (size_t k = 0; k < permutation.size(); ++k) {
    permutation[static_cast<size_t>(order_to[k])] = order_from[k];
    if (to.dim(order_to[k]) != from.dim(order_from[k])) return std::nullopt;
  }
  return permutation;
}

// -- tiled: digits ----------------------------------------------------------------------------------

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

/// ((x / divisor) mod modulus) · stride
struct Cut {
  int64_t divisor = 1;
  int64_t modulus = kUnlimited;
  int64_t stride = 1;
  auto operator<=>(const Cut&) const = default;
};

/// Sorts the cuts of one number x < limit, least significant first, and brings them to the one form
/// that all equal sums have: no cut that is always 0, no modulus that is never reached, no two
/// neighbours that make one.
void simplify(std::vector<Cut>& cuts, int64_t limit) {
  std::sort(cuts.begin(), cuts.end());
  std::vector<Cut> out;
  for (Cut cut : cuts) {
    if (cut.modulus == 1 || cut.divisor >= limit) continue;
    // modulus · divisor >= limit, without overflow
    if (cut.modulus >= (limit - 1) / cut.divisor + 1) cut.modulus = kUnlimited;
    if (!out.empty()) {
      Cut& before = out.back();
      const bool adjacent = before.modulus != kUnlimited && cut.divisor == before.divisor * before.modulus &&
                            cut.stride == before.stride * before.modulus;
      if (adjacent) {
        before.modulus = cut.modulus == kUnlimited ? kUnlimited : before.modulus * cut.modulus;
        continue;
      }
    }
    out.push_back(cut);
  }
  cuts = std::move(out);
}

/// A number that the digits of a layout cut up: a dimension, or neighbours that `*` made one.
struct Variable {
  int64_t weight = 1;  // its value is k / weight mod size
  int64_t size = 1;
  std::vector<Cut> cuts;
};

/// nullopt: not expressible, because the layout is not flat or `*` merges what is not adjacent.
std::optional<std::vector<Variable>> variables_of(const LayoutMap& map) {
  if (!map.flat()) return std::nullopt;
  const Shape& shape = *map.shape();
  const Index weights = row_major_weights(shape.dimensions);
  std::vector<Variable> variables;
  for (size_t d = 0; d < weights.size(); ++d) variables.push_back({weights[d], shape.dimensions[d], {}});
  for (const LayoutMap::FoldedSource& folded : map.folded_sources()) {
    Variable variable;
    for (size_t i = folded.terms.size(); i-- > 0;) {
      const auto d = static_cast<size_t>(folded.terms[i].dimension);
      if (shape.dimensions[d] == 1) continue;
      if (variable.size == 1) variable.weight = weights[d];
      if (folded.terms[i].weight != variable.size || weights[d] != variable.weight * variable.size)
        return std::nullopt;
      variable.size *= shape.dimensions[d];
    }
    variables.push_back(std::move(variable));
  }
  for (const LayoutMap::Digit& digit : map.digits())
    variables[static_cast<size_t>(digit.source)].cuts.push_back(
        {digit.divisor, digit.modulus == 0 ? kUnlimited : digit.modulus, digit.stride});
  for (Variable& variable : variables) simplify(variable.cuts, variable.size);
  return variables;
}

/// A layout as a function of the row-major number.
struct Canonical {
  struct Impure {
    int64_t weight = 1, size = 1;
    Cut cut;
    auto operator<=>(const Impure&) const = default;
  };
  std::vector<Cut> pure;       // of k
  std::vector<Impure> impure;  // of a padded dimension
  bool operator==(const Canonical&) const = default;
};

Canonical canonical(const std::vector<Variable>& variables, int64_t count) {
  Canonical out;
  for (const Variable& variable : variables) {
    // The most significant variable is k / weight without any modulus.
    const bool most_significant = variable.size >= (count - 1) / variable.weight + 1;
    for (const Cut& cut : variable.cuts) {
      Cut of_number{cut.divisor * variable.weight, cut.modulus, cut.stride};
      bool pure = most_significant;
      if (!pure && cut.modulus == kUnlimited) {
        pure = variable.size % cut.divisor == 0;
        of_number.modulus = variable.size / cut.divisor;
      } else if (!pure) {
        pure = variable.size % (cut.divisor * cut.modulus) == 0;
      }
      if (pure)
        out.pure.push_back(of_number);
      else
        out.impure.push_back({variable.weight, variable.size, cut});
    }
  }
  simplify(out.pure, count);
  std::sort(out.impure.begin(), out.impure.end());
  return out;
}

/// Pairs each output dimension with the input dimension that has its size and its cuts.
std::optional<Index> matching_dimensions(const LayoutMap& from, const LayoutMap& to,
                                         const std::vector<Variable>& variables_from,
                                         const std::vector<Variable>& variables_to) {
  if (!from.separable() || !to.separable() || from.rank() != to.rank()) return std::nullopt;
  Index permutation;
  std::vector<bool> used(variables_from.size(), false);
  for (const Variable& wanted : variables_to) {
    size_t found = 0;
    while (found < used.size() && (used[found] || variables_from[found].size != wanted.size ||
                                   variables_from[found].cuts != wanted.cuts))
      ++found;
    if (found == used.size()) return std::nullopt;
    used[found] = true;
    permutation.push_back(static_cast<int64_t>(found));
  }
  return permutation;
}

// -- tiled: what most pairs are, without digits --------------------------------------------------------

/// Where one element lies, by the definition, for layouts whose tiles fold no dimensions; else nullopt.
std::optional<int64_t> place_of(const Shape& shape, int64_t number) {
  constexpr size_t kMost = 24;  // dimensions, all tiles' included
  struct Dimension {
    int64_t size = 1, index = 0;
  };
  std::array<Dimension, kMost> dimensions;  // most major first, at the end of the array
  const auto rank = static_cast<size_t>(shape.rank());
  if (rank > kMost) return std::nullopt;
  std::array<int64_t, kMost> index{};
  for (size_t i = rank; i-- > 0; number /= shape.dimensions[i]) index[i] = number % shape.dimensions[i];
  size_t first = kMost - rank;
  for (size_t i = 0; i < rank; ++i) {
    const size_t logical = shape.layout ? static_cast<size_t>(shape.layout->minor_to_major[rank - 1 - i]) : i;
    dimensions[first + i] = {shape.dimensions[logical], index[logical]};
  }
  for (const Tile& tile : tiles_of(shape)) {
    const size_t tiled = tile.dimensions.size();
    const size_t now =
        std::max(kMost - first, tiled);  // dimensions of size 1 in front, where there are fewer
    if (now + tiled > kMost) return std::nullopt;
    for (size_t i = kMost - now; i < first; ++i) dimensions[i] = {};
    first = kMost - now - tiled;
    std::copy(dimensions.begin() + static_cast<std::ptrdiff_t>(kMost - now),
              dimensions.end() - static_cast<std::ptrdiff_t>(tiled),
              dimensions.begin() + static_cast<std::ptrdiff_t>(first));
    for (size_t i = 0; i < tiled; ++i) {
      const int64_t size = tile.dimensions[i];
      if (size <= 0) return std::nullopt;  // folds
      const Dimension whole = dimensions[kMost - tiled + i];
      dimensions[kMost - 2 * tiled + i] = {(whole.size - 1) / size + 1, whole.index / size};
      dimensions[kMost - tiled + i] = {size, whole.index % size};
    }
  }
  int64_t place = 0, stride = 1;
  bool overflow = false;
  for (size_t i = kMost; i-- > first;) {
    int64_t part = 0;
    overflow |= __builtin_mul_overflow(dimensions[i].index, stride, &part);
    overflow |= __builtin_add_overflow(place, part, &place);
    overflow |= __builtin_mul_overflow(stride, dimensions[i].size, &stride);
  }
  return overflow ? std::nullopt : std::optional(place);
}

/// One step along some dimension of `steps` leads to different places in `a` and `b`.
bool some_step_differs(const Shape& steps, const Shape& a, const Shape& b) {
  int64_t weight = 1;
  for (size_t d = steps.dimensions.size(); d-- > 0; weight *= steps.dimensions[d]) {
    if (steps.dimensions[d] <= 1) continue;
    const std::optional<int64_t> place_a = place_of(a, weight), place_b = place_of(b, weight);
    if (place_a && place_b && *place_a != *place_b) return true;
  }
  return false;
}

/// Row-major arrays of equal rows whose tiles hold whole rows of tiles: both are one array of all rows.
/// Requires: the same tiles.
bool are_rows_of_tiles(const Shape& from, const Shape& to) {
  const std::span<const Tile> tiles = tiles_of(from);
  const auto is_row_major = [](const Shape& shape) {
    return shape.rank() >= 2 && std::ranges::is_sorted(shape.layout->minor_to_major, std::greater());
  };
  const auto fills_tiles = [](const Shape& shape, int64_t rows) {
    return shape.dim(shape.rank() - 2) % rows == 0;
  };
  if (tiles.empty() || tiles[0].dimensions.size() != 2 || !is_row_major(from) || !is_row_major(to))
    return false;
  const int64_t rows = tiles[0].dimensions[0], columns = tiles[0].dimensions[1];
  if (rows <= 0 || columns <= 0 || tiles.size() > 2) return false;
  if (tiles.size() == 2) {  // parts of a tile
    const std::span<const int64_t> part = tiles[1].dimensions;
    if (part.size() != 2 || part[0] <= 0 || part[1] != 1 || rows % part[0] != 0) return false;
  }
  return from.dim(from.rank() - 1) == to.dim(to.rank() - 1) && fills_tiles(from, rows) &&
         fills_tiles(to, rows);
}

BitcastClass classify_tiled(ShapeRef from, ShapeRef to) {
  if (same_tiles(*from, *to) && are_rows_of_tiles(*from, *to)) return {BitcastKind::kTiledReshape, {}};
  // Only arrays of one rank can be transposes of each other.
  if (from->rank() != to->rank() &&
      (some_step_differs(*from, *from, *to) || some_step_differs(*to, *from, *to)))
    return {};
  const Result<LayoutMap> map_from = LayoutMap::make(from), map_to = LayoutMap::make(to);
  if (!map_from || !map_to) return {};
  const auto variables_from = variables_of(*map_from), variables_to = variables_of(*map_to);
  if (!variables_from || !variables_to) return {};
  const int64_t count = from->element_count();
  if (canonical(*variables_from, count) == canonical(*variables_to, count))
    return {BitcastKind::kTiledReshape, {}};
  if (std::optional<Index> permutation =
          matching_dimensions(*map_from, *map_to, *variables_from, *variables_to))
    return {BitcastKind::kTiledTranspose, std::move(*permutation)};
  return {};
}

}  // namespace

std::string_view to_text(BitcastKind kind) {
  switch (kind) {
    case BitcastKind::kIdentity:
      return "identity";
    case BitcastKind::kReshape:
      return "reshape";
    case BitcastKind::kTranspose:
      return "transpose";
    case BitcastKind::kTiledReshape:
      return "tiled reshape";
    case BitcastKind::kTiledTranspose:
      return "tiled transpose";
    case BitcastKind::kReread:
      return "re-read";
  }
  return "re-read";
}

BitcastClass classify_bitcast(ShapeRef from, ShapeRef to) {
  if (from == to) return {BitcastKind::kIdentity, {}};
  if (!from->is_array() || !to->is_array() || element_storage_bits(from) != element_storage_bits(to))
    return {};
  const bool same_cuts = same_tiles(*from, *to) && same_splits(*from, *to);
  if (same_cuts && same(from->dimensions, to->dimensions) && order_of(*from) == order_of(*to))
    return {BitcastKind::kIdentity, {}};
  const int64_t count = from->element_count();
  if (from->is_unbounded() || to->is_unbounded() || count != to->element_count() || count == kUnlimited)
    return {};
  if (count == 0) return {BitcastKind::kReshape, {}};
  const bool split = is_split(*from) || is_split(*to);
  if (!split && !is_tiled(*from) && !is_tiled(*to) && unit_steps_agree(*from, *to) &&
      unit_steps_agree(*to, *from))
    return {BitcastKind::kReshape, {}};
  if (same_cuts)
    if (std::optional<Index> permutation = physical_permutation(*from, *to))
      return {BitcastKind::kTranspose, std::move(*permutation)};
  return split ? BitcastClass{} : classify_tiled(from, to);
}

std::optional<Diagnostic> bitcast_problem(ShapeRef from, ShapeRef to, bool allow_different_tail) {
  const auto problem = [&](std::string reason) {
    Diagnostic diagnostic;
    diagnostic.message = fmt::format("{} is not a bitcast of {}: {}", to_text(to), to_text(from), reason);
    return diagnostic;
  };
  if (from->is_array() && to->is_array() &&
      (from->memory_space() == kHostSpace) != (to->memory_space() == kHostSpace))
    return problem("only one of them is in host memory, S(5)");
  const Bytes size_from = array_size(from), size_to = array_size(to);
  if (size_from == size_to) return std::nullopt;
  if (allow_different_tail && from->is_array() && to->is_array() && from->is_static() && to->is_static() &&
      array_data_size(from) == array_data_size(to))
    return std::nullopt;
  return problem(
      fmt::format("it takes {} bytes, not {}", grouped(size_to.count()), grouped(size_from.count())));
}

bool bitcast_source(const LayoutMap& from, const LayoutMap& to, std::span<const int64_t> index,
                    std::span<int64_t> source) {
  return from.index(to.offset(index), source);
}

std::optional<bool> is_reshape_by_exhaustion(ShapeRef from, ShapeRef to) {
  constexpr int64_t kMostCompared = int64_t{1} << 20;
  if (element_storage_bits(from) != element_storage_bits(to) || from->element_count() != to->element_count())
    return false;
  if (from->element_count() > kMostCompared) return std::nullopt;
  const Result<LayoutMap> map_from = LayoutMap::make(from), map_to = LayoutMap::make(to);
  if (!map_from || !map_to) return false;
  for (int64_t k = 0; k < to->element_count(); ++k)
    if (map_from->offset(index_of_number(k, from->dimensions)) !=
        map_to->offset(index_of_number(k, to->dimensions)))
      return false;
  return true;
}

}  // namespace hlosim
