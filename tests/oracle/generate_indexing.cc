// Random slices at runtime positions, gathers and scatters.
#include <fmt/format.h>

#include <algorithm>

#include "oracle/module_writer.h"

namespace hlosim::test {
namespace {

/// Scalar start indices for each dimension: constants, parameters, values.
std::vector<Ref> starts(ModuleWriter& w, Body& body, int64_t rank) {
  const ElementType type = w.random.one_of(
      {ElementType::kS32, ElementType::kS32, ElementType::kS32, ElementType::kU32, ElementType::kS64});
  std::vector<Ref> refs;
  for (int64_t d = 0; d < rank; ++d) {
    const bool negative = is_signed_integer(type) && w.random.chance(0.15);
    refs.push_back(w.random.chance(0.5)
                       ? w.obtain(body, {type, {}})
                       : w.constant(body, type, fmt::format("{}", negative ? -3 : w.random.between(0, 9))));
  }
  return refs;
}

Index smaller(RandomSource& random, const Index& dims) {
  Index sizes;
  for (const int64_t size : dims)
    sizes.push_back(random.chance(0.4) ? size : random.between(size > 0 ? 1 : 0, size));
  return sizes;
}

struct Windows {
  Index slice_sizes, collapsed, windowed, map, batching, index_batching;
  Index batch_dims;  // of the indices, without the vector
  int64_t vector_dim = 0;
  ArrayType indices;
};

/// How windows of `operand` are found: the common part of gather and scatter.
Windows random_windows(ModuleWriter& w, const ArrayType& operand) {
  Windows windows;
  const int64_t rank = operand.rank();
  Index free;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = operand.dims[static_cast<size_t>(d)];
    if (w.random.chance(0.15) && size > 0 && size < 10 && windows.batching.empty()) {
      windows.batching.push_back(d);
      windows.slice_sizes.push_back(1);
    } else if (w.random.chance(0.5) && size > 0) {
      windows.collapsed.push_back(d);
      windows.slice_sizes.push_back(1);
      free.push_back(d);
    } else {
      windows.windowed.push_back(d);
      windows.slice_sizes.push_back(w.random.chance(0.5) ? size : w.random.between(size > 0 ? 1 : 0, size));
      free.push_back(d);
    }
  }
  w.random.shuffle(free);
  const int64_t indexed = w.random.between(free.empty() ? 0 : 1, static_cast<int64_t>(free.size()));
  windows.map.assign(free.begin(), free.begin() + indexed);
  for (int64_t i = w.random.between(0, 2); i > 0; --i) windows.batch_dims.push_back(w.random.between(1, 6));
  for (const int64_t d : windows.batching)
    windows.batch_dims.insert(
        windows.batch_dims.begin() + w.random.between(0, static_cast<int64_t>(windows.batch_dims.size())),
        operand.dims[static_cast<size_t>(d)]);
  windows.indices.type = w.random.one_of(
      {ElementType::kS32, ElementType::kS32, ElementType::kU32, ElementType::kS64, ElementType::kS8});
  windows.indices.dims = windows.batch_dims;
  windows.vector_dim = static_cast<int64_t>(windows.batch_dims.size());
  if (indexed != 1 || w.random.chance(0.5)) {
    windows.vector_dim = w.random.between(0, windows.vector_dim);
    windows.indices.dims.insert(windows.indices.dims.begin() + windows.vector_dim, indexed);
  }
  for (const int64_t d : windows.batching) {  // some batch dimension of that size
    for (int64_t i = 0; i < windows.indices.rank(); ++i)
      if (i != windows.vector_dim &&
          windows.indices.dims[static_cast<size_t>(i)] == operand.dims[static_cast<size_t>(d)]) {
        windows.index_batching = {i};
        break;
      }
  }
  return windows;
}

/// Places of the window dimensions among `rank` dimensions, ascending.
Index window_places(RandomSource& random, size_t windows, size_t rank) {
  Index all;
  for (size_t d = 0; d < rank; ++d) all.push_back(static_cast<int64_t>(d));
  random.shuffle(all);
  Index places(all.begin(), all.begin() + static_cast<int64_t>(windows));
  std::sort(places.begin(), places.end());
  return places;
}

/// Window sizes at `places`, batch sizes elsewhere.
Index spread(const Index& places, const Index& window_sizes, const Index& batch_sizes) {
  Index dims;
  size_t window = 0, batch = 0;
  while (window + batch < window_sizes.size() + batch_sizes.size()) {
    const auto d = static_cast<int64_t>(window + batch);
    const bool is_window = window < places.size() && places[window] == d;
    dims.push_back(is_window ? window_sizes[window] : batch_sizes[batch]);
    (is_window ? window : batch) += 1;
  }
  return dims;
}

}  // namespace

void generate_dynamic(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return a.rank() > 0; });
  if (!x) return;
  const ArrayType block{x->array.type, smaller(w.random, x->array.dims)};
  std::vector<Ref> operands = {*x};
  const bool update = w.random.chance(0.5);
  if (update) operands.push_back(w.obtain(body, block));
  const std::vector<Ref> at = starts(w, body, x->array.rank());
  operands.insert(operands.end(), at.begin(), at.end());
  if (update)
    w.emit(body, x->array, "dynamic-update-slice", operands);
  else
    w.emit(body, block, "dynamic-slice", operands, "dynamic_slice_sizes=" + list_text(block.dims));
}

void generate_gather(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return a.rank() > 0 && a.count() < 4000; });
  if (!x) return;
  const Windows windows = random_windows(w, x->array);
  if (windows.batching.size() != windows.index_batching.size()) return;
  Index sizes;
  for (const int64_t d : windows.windowed) sizes.push_back(windows.slice_sizes[static_cast<size_t>(d)]);
  const size_t rank = sizes.size() + windows.batch_dims.size();
  const Index places = window_places(w.random, sizes.size(), rank);
  const ArrayType result{x->array.type, spread(places, sizes, windows.batch_dims)};
  if (result.count() > 6000) return;
  const Ref indices = w.obtain(body, windows.indices);
  std::string attributes = fmt::format(
      "offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim={}, slice_sizes={}",
      list_text(places), list_text(windows.collapsed), list_text(windows.map), windows.vector_dim,
      list_text(windows.slice_sizes));
  if (!windows.batching.empty())
    attributes += fmt::format(", operand_batching_dims={}, start_indices_batching_dims={}",
                              list_text(windows.batching), list_text(windows.index_batching));
  w.emit(body, result, "gather", {*x, indices}, attributes);
}

void generate_scatter(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return a.rank() > 0 && a.count() < 4000; });
  if (!x) return;
  const Windows windows = random_windows(w, x->array);
  if (windows.batching.size() != windows.index_batching.size()) return;
  Index sizes;
  for (const int64_t d : windows.windowed) sizes.push_back(windows.slice_sizes[static_cast<size_t>(d)]);
  const Index places = window_places(w.random, sizes.size(), sizes.size() + windows.batch_dims.size());
  ArrayType updates{x->array.type, spread(places, sizes, windows.batch_dims)};
  if (updates.count() > 4000) return;
  const Ref indices = w.obtain(body, windows.indices);
  const ElementType type = x->array.type;
  std::string attributes = fmt::format(
      "update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, index_vector_dim={}",
      list_text(places), list_text(windows.collapsed), list_text(windows.map), windows.vector_dim);
  if (!windows.batching.empty())
    attributes += fmt::format(", input_batching_dims={}, scatter_indices_batching_dims={}",
                              list_text(windows.batching), list_text(windows.index_batching));
  const Ref update = w.obtain(body, updates);
  if (w.random.chance(0.1)) {  // two arrays at once
    const ElementType second = w.random.one_of({ElementType::kS32, ElementType::kF32});
    const Ref y = w.obtain(body, {second, x->array.dims}), v = w.obtain(body, {second, updates.dims});
    const std::string both =
        w.computation_of({type, second, type, second}, [&](Body& inner, const std::vector<Ref>& p) {
          const Ref sum = w.emit(inner, {second, {}}, "add", {p[1], p[3]});
          return inner.add(w.name("t"), w.tuple_shape({{type, {}}, {second, {}}}), "tuple",
                           {p[2].line, sum.line});
        });
    w.emit_tuple(body, {x->array, y.array}, "scatter", {*x, y, indices, update, v},
                 attributes + ", to_apply=" + both);
    return;
  }
  const bool overwrite = w.random.chance(0.3);
  const std::string combiner =
      overwrite ? w.computation_of({type, type}, [](Body&, const std::vector<Ref>& p) { return p[1].line; })
                : random_reducer(w, type);
  w.emit(body, x->array, "scatter", {*x, indices, update}, attributes + ", to_apply=" + combiner);
}

}  // namespace hlosim::test
