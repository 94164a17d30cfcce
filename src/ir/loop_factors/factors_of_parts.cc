// Slices, pads, reads and writes at computed places.
#include <algorithm>

#include "base/contains.h"
#include "loop_factors/factor_rules.h"
#include "loop_factors/parallel_indices.h"

namespace hlosim {

namespace {

/// Starts that are written as one list have an entry for each dimension.
void fix_index_lists(FactorBuilder& make, int64_t first) {
  for (int64_t array = first; array < make.made.operand_leaves; ++array)
    for (int64_t i = 0; i < make.rank(array); ++i) make.fix({array, i});
}

}  // namespace

void slice_factors(FactorBuilder& make) {
  const auto slices = make.op.int_lists(AttrKey::kSlice);
  for (int64_t i = 0; i < make.rank(0); ++i) {
    const DimensionPlace whole{0, i}, part{make.result(), i};
    const auto slice = slices[static_cast<size_t>(i)];
    if (make.size(whole) == make.size(part))
      make.tie(FactorKind::kAlong, {whole, part});
    else
      make.tie(FactorKind::kPart, {whole, part}, {slice[0], slice[1]});
  }
}

void pad_factors(FactorBuilder& make) {
  const auto paddings = make.op.int_lists(AttrKey::kPadding);
  for (int64_t i = 0; i < make.rank(0); ++i) {
    const DimensionPlace part{0, i}, whole{make.result(), i};
    const auto padding = paddings[static_cast<size_t>(i)];
    if (padding[2] != 0) {  // room between the elements
      make.fix(part);
      make.fix(whole);
    } else if (padding[0] == 0 && padding[1] == 0) {
      make.tie(FactorKind::kAlong, {part, whole});
    } else {
      make.tie(FactorKind::kPart, {part, whole}, {padding[0], padding[1]});
    }
  }
}

void concatenate_factors(FactorBuilder& make) {
  const int64_t along = make.op.ints(AttrKey::kDimensions)[0];
  for (int64_t i = 0; i < make.rank(make.result()); ++i) {
    std::vector<DimensionPlace> places;
    for (int64_t array = 0; array < make.array_count(); ++array) places.push_back({array, i});
    make.tie(i == along ? FactorKind::kPart : FactorKind::kAlong, places);
  }
}

void dynamic_slice_factors(FactorBuilder& make) {
  for (int64_t i = 0; i < make.rank(0); ++i) {
    const DimensionPlace whole[] = {{0, i}};
    make.tie_block(whole, {make.result(), i});
  }
  fix_index_lists(make, 1);
}

void dynamic_update_factors(FactorBuilder& make) {
  for (int64_t i = 0; i < make.rank(0); ++i) {
    const DimensionPlace wholes[] = {{0, i}, {make.result(), i}};
    make.tie_block(wholes, {1, i});
  }
  fix_index_lists(make, 2);
}

namespace {

/// How gather and scatter pair dimensions; `windows`: of the array of what is read or written; `map`: along
/// which dimension of the array each component of an index goes.
struct Indexing {
  std::span<const int64_t> windows, without_window, batching, indices_batching, map;
};

/// Of each dimension of the array, the one of the indices that it is walked through with; -1: none.
std::vector<int64_t> indices_beside(const FactorBuilder& make, int64_t indices, const Indexing& how) {
  std::vector<int64_t> beside(static_cast<size_t>(make.rank(0)), -1);
  for (size_t i = 0; i < how.batching.size(); ++i)
    beside[static_cast<size_t>(how.batching[i])] = how.indices_batching[i];
  for (const ParallelIndex& one : parallel_indices(make.op, indices, how.map)) {
    const bool has_batch = contains(how.indices_batching, one.indices);
    if (!has_batch && contains(how.without_window, one.array))
      beside[static_cast<size_t>(one.array)] = one.indices;
  }
  return beside;
}

/// `arrays`: what is read or changed; `indices`; `parts`: what is read, or the updates. The dimensions of
/// `arrays` that are no window are on their own, or those of the indices.
void indexing_factors(FactorBuilder& make, std::span<const int64_t> arrays, int64_t indices,
                      std::span<const int64_t> parts, const Indexing& how) {
  size_t window = 0;
  std::vector<std::vector<DimensionPlace>> by_index(static_cast<size_t>(make.rank(indices)));
  const std::vector<int64_t> beside = indices_beside(make, indices, how);
  for (int64_t i = 0; i < make.rank(arrays[0]); ++i) {
    std::vector<DimensionPlace> wholes;
    for (const int64_t array : arrays) wholes.push_back({array, i});
    if (const int64_t index = beside[static_cast<size_t>(i)]; index >= 0) {
      auto& places = by_index[static_cast<size_t>(index)];
      places.insert(places.end(), wholes.begin(), wholes.end());
    } else if (contains(how.without_window, i)) {
      make.tie(FactorKind::kAlong, wholes);
    } else {
      const int64_t dimension = how.windows[window++];
      if (make.size({parts[0], dimension}) == 1 && make.size(wholes[0]) > 1) {
        make.tie(FactorKind::kAlong, wholes);
        continue;
      }
      for (const int64_t part : parts) wholes.push_back({part, dimension});
      make.tie(FactorKind::kAlong, wholes);
    }
  }
  const int64_t vector = make.op.integer(AttrKey::kIndexVectorDim);
  int64_t index = 0;
  for (int64_t i = 0; i < make.rank(parts[0]); ++i) {
    if (contains(how.windows, i)) continue;
    if (index == vector) ++index;
    auto& places = by_index[static_cast<size_t>(index)];
    places.push_back({indices, index++});
    for (const int64_t part : parts) places.push_back({part, i});
    make.tie(FactorKind::kAlong, places);
  }
  if (vector < make.rank(indices)) make.fix({indices, vector});
}

}  // namespace

void gather_factors(FactorBuilder& make) {
  const int64_t arrays[] = {0}, parts[] = {make.result()};
  const OpContext& op = make.op;
  indexing_factors(make, arrays, 1, parts,
                   {op.ints(AttrKey::kOffsetDims), op.ints(AttrKey::kCollapsedSliceDims),
                    op.ints(AttrKey::kOperandBatchingDims), op.ints(AttrKey::kStartIndicesBatchingDims),
                    op.ints(AttrKey::kStartIndexMap)});
}

void scatter_factors(FactorBuilder& make) {
  const int64_t count = make.op.operand_count() / 2;
  std::vector<int64_t> arrays, parts;
  for (int64_t i = 0; i < count; ++i) {
    arrays.push_back(i);
    arrays.push_back(make.result(i));
    parts.push_back(count + 1 + i);
  }
  const OpContext& op = make.op;
  indexing_factors(make, arrays, count, parts,
                   {op.ints(AttrKey::kUpdateWindowDims), op.ints(AttrKey::kInsertedWindowDims),
                    op.ints(AttrKey::kInputBatchingDims), op.ints(AttrKey::kScatterIndicesBatchingDims),
                    op.ints(AttrKey::kScatterDimsToOperandDims)});
}

}  // namespace hlosim
