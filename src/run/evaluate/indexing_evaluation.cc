#include "evaluate/indexing_evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "cpu_kernels/strided_copy.h"
#include "evaluate/called_computation.h"
#include "ops/require.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

// Walking all index vectors in row-major order: the place of a vector's first number among the indices, of
// its window in the operand as far as batching dimensions decide, and of its slice in the result or the
// updates.
struct VectorLoop {
  int64_t size, indices_stride, operand_stride, slice_stride;
};

class VectorWalk {
 public:
  /// From vector `number` on. Where a size is 0 there is none, and the walk isn't to be used.
  VectorWalk(const std::vector<VectorLoop>& loops, int64_t number) : loops_(loops), digits_(loops.size()) {
    for (size_t i = loops.size(); number > 0 && i-- > 0;) {
      digits_[i] = number % loops[i].size;
      number /= loops[i].size;
      add(loops[i], digits_[i]);
    }
  }
  int64_t indices = 0, operand = 0, slice = 0;  // elements

  void next() {
    for (size_t i = loops_.size(); i-- > 0;) {
      add(loops_[i], 1);
      if (++digits_[i] < loops_[i].size) return;
      add(loops_[i], -loops_[i].size);
      digits_[i] = 0;
    }
  }

 private:
  void add(const VectorLoop& loop, int64_t steps) {
    indices += steps * loop.indices_stride;
    operand += steps * loop.operand_stride;
    slice += steps * loop.slice_stride;
  }
  const std::vector<VectorLoop>& loops_;
  std::vector<int64_t> digits_;
};

// One number of an index vector.
struct IndexNumber {
  int64_t indices_offset;  // from the vector's first number
  int64_t operand_stride;
  int64_t limit;  // the largest start at which the window is inside
};

struct IndexPlan {
  std::vector<VectorLoop> loops;
  std::vector<IndexNumber> numbers;
  ElementType index_type{};
  int64_t vectors = 1;
  std::string beyond;  // what batching dimensions of the indices ask for and the operand doesn't have
};

struct IndexKeys {
  AttrKey batching, indices_batching, map;
};

/// `slice_strides`: of the result's or updates' dimensions that are no window dimensions, in order;
/// `window`: its size in each operand dimension.
IndexPlan plan_indices(const OpContext& op, ShapeRef operand, ShapeRef indices, const IndexKeys& keys,
                       const std::vector<int64_t>& slice_strides, const std::vector<int64_t>& window) {
  IndexPlan plan;
  plan.index_type = indices->element_type;
  const int64_t vector_dim = op.integer(AttrKey::kIndexVectorDim);
  const std::vector<int64_t> operand_strides = dense_strides(operand->dimensions);
  const std::vector<int64_t> indices_strides = dense_strides(indices->dimensions);
  const Dimensions batching = op.ints(keys.batching), paired = op.ints(keys.indices_batching);
  for (int64_t i = 0; i < indices->rank(); ++i) {
    if (i == vector_dim) continue;
    VectorLoop loop{indices->dim(i), indices_strides[static_cast<size_t>(i)], 0,
                    slice_strides[plan.loops.size()]};
    for (size_t b = 0; b < paired.size(); ++b)
      if (paired[b] == i) {
        loop.operand_stride = operand_strides[static_cast<size_t>(batching[b])];
        if (const int64_t size = operand->dim(batching[b]); loop.size > size)
          plan.beyond = fmt::format(
              "dimension {} of the indices {} has {} elements, expected at most the {} of the "
              "operand {} in its batching dimension {}",
              i, text_of(indices), loop.size, size, text_of(operand), batching[b]);
      }
    plan.loops.push_back(loop);
    plan.vectors *= loop.size;
  }
  const Dimensions map = op.ints(keys.map);
  const int64_t step = vector_dim < indices->rank() ? indices_strides[static_cast<size_t>(vector_dim)] : 0;
  for (size_t k = 0; k < map.size(); ++k) {
    const auto d = static_cast<size_t>(map[k]);
    plan.numbers.push_back(
        {static_cast<int64_t>(k) * step, operand_strides[d], operand->dimensions[d] - window[d]});
  }
  return plan;
}

// Calls f(T()) with the C++ type of an integer type's elements.
template <class F>
void with_index_type(ElementType type, F&& f) {
  const bool is_signed = is_signed_integer(type);
  switch (byte_width(type)) {
    case 1:
      return is_signed ? f(int8_t()) : f(uint8_t());
    case 2:
      return is_signed ? f(int16_t()) : f(uint16_t());
    case 4:
      return is_signed ? f(int32_t()) : f(uint32_t());
    default:
      return is_signed ? f(int64_t()) : f(uint64_t());
  }
}

// As int64; what is beyond that is beyond any limit.
template <class T>
int64_t index_value(T value) {
  if constexpr (sizeof(T) == 8 && static_cast<T>(-1) > 0)
    return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
  else
    return static_cast<int64_t>(value);
}

/// Strides of `array` in its dimensions that are not (or are) among `named`.
std::vector<int64_t> strides_of(ShapeRef array, Dimensions named, bool among) {
  const std::vector<int64_t> all = dense_strides(array->dimensions);
  std::vector<int64_t> strides;
  for (int64_t i = 0; i < array->rank(); ++i)
    if (holds(named, i) == among) strides.push_back(all[static_cast<size_t>(i)]);
  return strides;
}

int64_t window_grain(int64_t window_bytes) { return std::max<int64_t>(1, (256 << 10) / (window_bytes + 16)); }

}  // namespace

// ── gather ──────────────────────────────────────────────────────

Evaluation evaluate_gather(EvaluateContext& op) {
  const ShapeRef operand = op.operand_shape(0), indices = op.operand_shape(1), result = op.shape();
  if (operand->element_type != result->element_type) return op.unsupported();
  const int64_t width = byte_width(result->element_type);
  const Dimensions sizes = op.ints(AttrKey::kSliceSizes), offset_dims = op.ints(AttrKey::kOffsetDims);
  const Dimensions collapsed = op.ints(AttrKey::kCollapsedSliceDims),
                   batching = op.ints(AttrKey::kOperandBatchingDims);
  const std::vector<int64_t> window(sizes.begin(), sizes.end());
  IndexPlan plan = plan_indices(
      op, operand, indices,
      {AttrKey::kOperandBatchingDims, AttrKey::kStartIndicesBatchingDims, AttrKey::kStartIndexMap},
      strides_of(result, offset_dims, false), window);
  if (!plan.beyond.empty()) return op.unsupported(plan.beyond);
  // The window's dimensions in the result, those that are left out have size 1.
  const std::vector<int64_t> offset_strides = strides_of(result, offset_dims, true);
  std::vector<int64_t> to(window.size(), 0);
  int64_t window_bytes = width;
  for (size_t d = 0, next = 0; d < window.size(); ++d) {
    window_bytes *= window[d];
    const auto dimension = static_cast<int64_t>(d);
    if (!holds(collapsed, dimension) && !holds(batching, dimension)) to[d] = offset_strides[next++];
  }
  StridedCopy copy(window, dense_strides(operand->dimensions), to, width);
  if (result->element_count() == 0) return [](Invocation& call) { call.make_result(); };
  return [plan = std::move(plan), copy = std::move(copy), width, window_bytes](Invocation& call) {
    const std::byte* from = call.operand(0).bytes();
    std::byte* out = call.make_result().bytes();
    with_index_type(plan.index_type, [&]<class T>(T) {
      const T* numbers = call.in<T>(1);
      parallel_for(plan.vectors, window_grain(window_bytes), [&](int64_t begin, int64_t end) {
        VectorWalk walk(plan.loops, begin);
        for (int64_t v = begin; v < end; ++v, walk.next()) {
          int64_t place = walk.operand;
          for (const IndexNumber& number : plan.numbers)
            place += std::clamp<int64_t>(index_value(numbers[walk.indices + number.indices_offset]), 0,
                                         number.limit) *
                     number.operand_stride;
          copy.run_here(from + place * width, out + walk.slice * width);
        }
      });
    });
  };
}

// ── scatter ─────────────────────────────────────────────────────

namespace {

struct ScatterPlan {
  IndexPlan indices;
  AppliedComputation combine;
  size_t count = 0;       // operands
  bool replaces = false;  // the update is the result
  int64_t window = 1;     // elements
  struct Operand {
    int64_t width = 1;  // bytes of an element
    int64_t update_width = 1;
    StridedCopy replace;      // a window of the updates to its place
    StridedCopy load, store;  // a window of the operand to dense memory and back
    StridedCopy load_update;
  };
  std::vector<Operand> operands;
};

// Room for windows that aren't in one piece where they lie.
struct WindowRoom {
  Buffer current, update;
};

// Result = combine(current, update) for one window of each operand.
void combine_window(const ScatterPlan& plan, Applier& applier, std::span<std::byte* const> current,
                    std::span<const std::byte* const> updates, std::span<const WindowRoom> rooms,
                    std::vector<const void*>& arguments, std::vector<void*>& results) {
  for (size_t k = 0; k < plan.count; ++k) {
    const ScatterPlan::Operand& operand = plan.operands[k];
    const WindowRoom& room = rooms[k];
    if (room.current) operand.load.run_here(current[k], room.current.data());
    if (room.update) operand.load_update.run_here(updates[k], room.update.data());
    results[k] = room.current ? room.current.data() : current[k];
    arguments[k] = results[k];
    arguments[plan.count + k] = room.update ? room.update.data() : updates[k];
  }
  applier.run(arguments.data(), results.data(), plan.window);
  for (size_t k = 0; k < plan.count; ++k)
    if (rooms[k].current) plan.operands[k].store.run_here(rooms[k].current.data(), current[k]);
}

/// Calls f(place of the window in the operands, place of its slice in the updates), in elements, for each
/// index vector whose window is inside.
template <class F>
void for_each_window(const IndexPlan& plan, const Array& indices, F&& f) {
  with_index_type(plan.index_type, [&]<class T>(T) {
    const T* numbers = indices.as<T>();
    VectorWalk walk(plan.loops, 0);
    for (int64_t v = 0; v < plan.vectors; ++v, walk.next()) {
      int64_t place = walk.operand;
      bool inside = true;
      for (const IndexNumber& number : plan.numbers) {
        const int64_t start = index_value(numbers[walk.indices + number.indices_offset]);
        inside &= start >= 0 && start <= number.limit;
        if (inside) place += start * number.operand_stride;
      }
      if (inside) f(place, walk.slice);
    }
  });
}

void run_scatter(const ScatterPlan& plan, Invocation& call) {
  const Array indices = call.operand(plan.count);
  std::vector<Array> updates, results;
  for (size_t k = 0; k < plan.count; ++k) updates.push_back(call.operand(plan.count + 1 + k));
  for (size_t k = 0; k < plan.count; ++k) {
    Array array = call.take(k);
    if (!array.data.unique()) {
      Buffer copy = call.device().pool().allocate(data_bytes(array.shape));
      const int64_t bytes[] = {data_bytes(array.shape)}, one[] = {1};
      StridedCopy(bytes, one, one, 1).run(array.bytes(), copy.data());
      array.data = std::move(copy);
    }
    results.push_back(std::move(array));
  }
  if (plan.window > 0 && plan.replaces) {
    const ScatterPlan::Operand& operand = plan.operands[0];
    for_each_window(plan.indices, indices, [&](int64_t place, int64_t slice) {
      operand.replace.run_here(updates[0].bytes() + slice * operand.width,
                               results[0].bytes() + place * operand.width);
    });
  } else if (plan.window > 0) {
    Applier applier(plan.combine, call.device());
    std::vector<const void*> arguments(2 * plan.count);
    std::vector<void*> out(plan.count);
    std::vector<WindowRoom> rooms(plan.count);
    std::vector<std::byte*> current(plan.count);
    std::vector<const std::byte*> update(plan.count);
    for (size_t k = 0; k < plan.count; ++k) {
      const ScatterPlan::Operand& operand = plan.operands[k];
      if (operand.load.contiguous_bytes() == 0)
        rooms[k].current = call.device().pool().allocate(plan.window * operand.width);
      if (operand.load_update.contiguous_bytes() == 0)
        rooms[k].update = call.device().pool().allocate(plan.window * operand.update_width);
    }
    for_each_window(plan.indices, indices, [&](int64_t place, int64_t slice) {
      if (call.device().failed()) return;
      for (size_t k = 0; k < plan.count; ++k) {
        current[k] = results[k].bytes() + place * plan.operands[k].width;
        update[k] = updates[k].bytes() + slice * plan.operands[k].update_width;
      }
      combine_window(plan, applier, current, update, rooms, arguments, out);
    });
  }
  for (size_t k = 0; k < plan.count; ++k) call.set_result(std::move(results[k]), k);
}

}  // namespace

Evaluation evaluate_scatter(EvaluateContext& op) {
  auto plan = std::make_shared<ScatterPlan>();
  const int64_t count = op.operand_count() / 2;
  plan->count = static_cast<size_t>(count);
  const ShapeRef operand = op.operand_shape(0), updates = op.operand_shape(count + 1);
  const Dimensions window_dims = op.ints(AttrKey::kUpdateWindowDims);
  const Dimensions inserted = op.ints(AttrKey::kInsertedWindowDims),
                   batching = op.ints(AttrKey::kInputBatchingDims);
  const std::vector<int64_t> update_strides = strides_of(updates, window_dims, true);
  std::vector<int64_t> window, from;
  for (int64_t d = 0, next = 0; d < operand->rank(); ++d) {
    const bool left_out = holds(inserted, d) || holds(batching, d);
    window.push_back(left_out ? 1 : updates->dim(window_dims[static_cast<size_t>(next)]));
    from.push_back(left_out ? 0 : update_strides[static_cast<size_t>(next)]);
    plan->window *= window.back();
    next += !left_out;
  }
  plan->indices = plan_indices(
      op, operand, op.operand_shape(count),
      {AttrKey::kInputBatchingDims, AttrKey::kScatterIndicesBatchingDims, AttrKey::kScatterDimsToOperandDims},
      strides_of(updates, window_dims, false), window);
  if (!plan->indices.beyond.empty()) return op.unsupported(plan->indices.beyond);
  const std::vector<int64_t> operand_strides = dense_strides(operand->dimensions),
                             dense = dense_strides(window);
  std::vector<ElementType> given, wanted;
  for (int64_t k = 0; k < count; ++k) {
    const ElementType type = op.operand_shape(k)->element_type;
    const ShapeRef result =
        op.shape()->is_tuple() ? op.shape()->elements[static_cast<size_t>(k)] : op.shape();
    if (result->element_type != type) return op.unsupported();
    given.push_back(type);
    const int64_t width = byte_width(type),
                  update_width = byte_width(op.operand_shape(count + 1 + k)->element_type);
    plan->operands.push_back({width, update_width, StridedCopy(window, from, operand_strides, width),
                              StridedCopy(window, operand_strides, dense, width),
                              StridedCopy(window, dense, operand_strides, width),
                              StridedCopy(window, from, dense, update_width)});
  }
  wanted = given;
  for (int64_t k = 0; k < count; ++k) given.push_back(op.operand_shape(count + 1 + k)->element_type);
  if (!plan->combine.make(op, op.called(), given, wanted)) return nullptr;
  plan->replaces = count == 1 && plan->combine.is_direct() && plan->combine.returns_parameter(1);
  return [plan](Invocation& call) { run_scatter(*plan, call); };
}

}  // namespace hlosim
