#include "evaluate/reduction_evaluation.h"

#include <algorithm>
#include <cstring>

#include "cpu_kernels/element.h"
#include "cpu_kernels/fold.h"
#include "cpu_kernels/strided_copy.h"
#include "evaluate/called_computation.h"
#include "evaluate/recognised.h"
#include "ops/require.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

// ── reduce ──────────────────────────────────────────────────────

/// The runtime sizes and the strides of an operand's dimensions, and which of them go away.
struct Reduction {
  std::vector<int64_t> dimensions, strides;
  std::vector<uint8_t> is_reduced;

  int64_t count(bool reduced) const {
    int64_t count = 1;
    for (size_t i = 0; i < dimensions.size(); ++i)
      if ((is_reduced[i] != 0) == reduced) count *= dimensions[i];
    return count;
  }
};

/// Offsets of the kept or the reduced indices in row-major order.
class OffsetWalk {
 public:
  OffsetWalk(const Reduction& reduction, bool reduced, int64_t number) {
    for (size_t i = reduction.dimensions.size(); i-- > 0;) {
      if ((reduction.is_reduced[i] != 0) != reduced || reduction.dimensions[i] == 1) continue;
      const int64_t size = reduction.dimensions[i];
      const int64_t digit = number > 0 ? number % size : 0;  // a size may be 0: then there is nothing to walk
      loops_.push_back({size, reduction.strides[i], digit});
      offset_ += digit * reduction.strides[i];
      if (number > 0) number /= size;
    }
  }
  int64_t offset() const { return offset_; }
  /// Indices from here on whose elements are neighbours, this one included; at least 1.
  int64_t neighbours() const {
    return !loops_.empty() && loops_[0].stride == 1 ? loops_[0].size - loops_[0].digit : 1;
  }
  void next() {
    for (Loop& loop : loops_) {
      offset_ += loop.stride;
      if (++loop.digit < loop.size) return;
      offset_ -= loop.size * loop.stride;
      loop.digit = 0;
    }
  }

 private:
  struct Loop {
    int64_t size, stride, digit;
  };
  std::vector<Loop> loops_;  // most minor first
  int64_t offset_ = 0;
};

template <class T>
void collect(const std::byte* in, const int64_t* columns, int64_t n, int64_t offset, std::byte* out) {
  for (int64_t b = 0; b < n; ++b)
    std::memcpy(out + b * static_cast<int64_t>(sizeof(T)),
                in + (columns[b] + offset) * static_cast<int64_t>(sizeof(T)), sizeof(T));
}

/// out[b] ← in[columns[b] + offset]
void collect(int64_t width, const std::byte* in, const int64_t* columns, int64_t n, int64_t offset,
             std::byte* out) {
  switch (width) {
    case 1:
      return collect<uint8_t>(in, columns, n, offset, out);
    case 2:
      return collect<uint16_t>(in, columns, n, offset, out);
    case 4:
      return collect<uint32_t>(in, columns, n, offset, out);
    case 8:
      return collect<uint64_t>(in, columns, n, offset, out);
    default:
      return collect<std::array<uint64_t, 2>>(in, columns, n, offset, out);
  }
}

/// Any computation, element by element in row-major order; a block of outputs at a time.
class GeneralReduce {
 public:
  static constexpr int64_t kBlock = ElementProgram::kBlock;

  GeneralReduce(const AppliedComputation& applied, size_t count) : applied_(applied), count_(count) {}

  /// `in`: inputs, `inits`: scalars of the accumulators' types, `out`: dense accumulators.
  void run(DeviceState& device, const Reduction& reduction, std::span<const std::byte* const> in,
           std::span<const std::byte* const> inits, std::span<std::byte* const> out) const {
    const int64_t outputs = reduction.count(false), folded = reduction.count(true);
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, folded) / kBlock) * kBlock;
    const auto blocks = [&](int64_t begin, int64_t end) {
      Applier applier(applied_, device, kBlock);
      Block block(*this, reduction, in, applier);
      for (int64_t first = begin; first < end; first += kBlock) {
        const int64_t n = std::min(kBlock, end - first);
        for (size_t k = 0; k < count_; ++k) spread(inits[k], accumulator(out, k, first), k, n);
        block.fold(first, n, folded, out);
      }
    };
    if (applied_.is_parallel())
      parallel_for(outputs, grain, blocks);
    else
      blocks(0, outputs);
  }

 private:
  int64_t accumulator_width(size_t k) const { return byte_width(applied_.given()[k]); }
  int64_t input_width(size_t k) const { return byte_width(applied_.given()[count_ + k]); }
  std::byte* accumulator(std::span<std::byte* const> out, size_t k, int64_t i) const {
    return out[k] + i * accumulator_width(k);
  }
  void spread(const std::byte* init, std::byte* to, size_t k, int64_t n) const {
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(to + i * accumulator_width(k), init, static_cast<size_t>(accumulator_width(k)));
  }

  // Room of one thread.
  class Block {
   public:
    Block(const GeneralReduce& reduce, const Reduction& reduction, std::span<const std::byte* const> in,
          Applier& applier)
        : reduce_(reduce),
          reduction_(reduction),
          in_(in),
          applier_(applier),
          columns_(static_cast<size_t>(kBlock)),
          arguments_(2 * reduce.count_),
          results_(reduce.count_) {
      for (size_t k = 0; k < reduce.count_; ++k)
        rows_.push_back(std::make_unique_for_overwrite<std::byte[]>(
            static_cast<size_t>(kSteps * kBlock * reduce.input_width(k))));
    }

    void fold(int64_t first, int64_t n, int64_t folded, std::span<std::byte* const> out) {
      OffsetWalk kept(reduction_, false, first);
      for (int64_t b = 0; b < n; ++b, kept.next()) columns_[static_cast<size_t>(b)] = kept.offset();
      for (size_t k = 0; k < results_.size(); ++k) {
        results_[k] = reduce_.accumulator(out, k, first);
        arguments_[k] = results_[k];
      }
      const int64_t stride = even_stride(n);
      OffsetWalk reduced(reduction_, true, 0);
      for (int64_t r = 0; r < folded;) {
        // Steps whose elements are neighbours are fetched together.
        const int64_t steps = stride > 1 ? std::min({kSteps, reduced.neighbours(), folded - r}) : 1;
        if (stride != 1) fetch(steps, n, stride, reduced.offset());
        for (int64_t step = 0; step < steps; ++step, reduced.next()) {
          for (size_t k = 0; k < results_.size(); ++k) {
            const int64_t width = reduce_.input_width(k);
            arguments_[results_.size() + k] = stride == 1 ? in_[k] + (columns_[0] + reduced.offset()) * width
                                                          : rows_[k].get() + step * n * width;
          }
          applier_.run(arguments_.data(), results_.data(), n);
        }
        r += steps;
      }
    }

   private:
    static constexpr int64_t kSteps = 32;

    /// The distance of the outputs' elements, 0 where it is not the same everywhere.
    int64_t even_stride(int64_t n) const {
      if (n == 1) return 1;
      const int64_t stride = columns_[1] - columns_[0];
      for (int64_t b = 1; b < n; ++b)
        if (columns_[static_cast<size_t>(b)] != columns_[0] + b * stride) return 0;
      return stride;
    }
    void fetch(int64_t steps, int64_t n, int64_t stride, int64_t offset) {
      for (size_t k = 0; k < results_.size(); ++k) {
        const int64_t width = reduce_.input_width(k);
        if (steps == 1) {
          collect(width, in_[k], columns_.data(), n, offset, rows_[k].get());
          continue;
        }
        const int64_t dimensions[] = {steps, n}, from[] = {1, stride}, to[] = {n, 1};
        StridedCopy(dimensions, from, to, width)
            .run_here(in_[k] + (columns_[0] + offset) * width, rows_[k].get());
      }
    }

    const GeneralReduce& reduce_;
    const Reduction& reduction_;
    std::span<const std::byte* const> in_;
    Applier& applier_;
    std::vector<int64_t> columns_;  // offsets of the outputs' elements
    std::vector<std::unique_ptr<std::byte[]>> rows_;
    std::vector<const void*> arguments_;
    std::vector<void*> results_;
  };

  const AppliedComputation& applied_;
  size_t count_;
};

/// What does not depend on the run.
struct ReducePlan {
  size_t count = 0;     // inputs, and results
  Reduction reduction;  // by the bounds
  AppliedComputation applied;
  FoldKernel fold;       // where the computation is recognised
  bool widened = false;  // the fold runs in f32, which the accumulators are, on converted inputs
  std::vector<ElementType> accumulators, inputs, inits, results;
  std::vector<ShapeRef> shapes;  // of the results
};

/// Value i converted from one type to another; the same bytes where they agree.
void convert_elements(ElementType from, ElementType to, const std::byte* in, std::byte* out, int64_t n) {
  if (from == to) {
    std::memcpy(out, in, static_cast<size_t>(n * byte_width(from)));
    return;
  }
  const ElementKernel kernel = element_kernel(ElementOp::kConvert, from, to);
  parallel_for(n, 32 << 10, [&](int64_t begin, int64_t end) {
    const void* operands[] = {in + begin * byte_width(from)};
    kernel.fn(out + begin * byte_width(to), operands, kernel.immediate, end - begin);
  });
}

/// The elements within the runtime sizes, dense, to the places that the bounds give them.
void spread_by_bounds(const std::vector<int64_t>& sizes, ShapeRef shape, const std::byte* from,
                      std::byte* to) {
  StridedCopy(sizes, dense_strides(sizes), dense_strides(shape->dimensions), byte_width(shape->element_type))
      .run(from, to);
}

void run_reduce(const ReducePlan& plan, Invocation& call) {
  Reduction reduction = plan.reduction;
  std::vector<int64_t> kept;  // runtime sizes of the results
  for (size_t i = 0; i < reduction.dimensions.size(); ++i) {
    for (size_t k = 0; k < plan.count; ++k)
      reduction.dimensions[i] =
          std::min(reduction.dimensions[i], call.operand(k).size(static_cast<int64_t>(i)));
    if (!reduction.is_reduced[i]) kept.push_back(reduction.dimensions[i]);
  }
  const bool whole = std::ranges::equal(kept, plan.shapes[0]->dimensions);
  const int64_t outputs = reduction.count(false);
  MemoryPool& pool = call.device().pool();

  std::vector<const std::byte*> in, inits;
  std::vector<std::byte*> out;
  std::vector<Buffer> own;  // accumulators that aren't the results' own memory
  alignas(16) std::byte init_room[16];
  std::vector<std::array<std::byte, 16>> init_values(plan.count);
  for (size_t k = 0; k < plan.count; ++k) {
    in.push_back(call.operand(k).bytes());
    convert_elements(plan.inits[k], plan.accumulators[k], call.operand(plan.count + k).bytes(), init_room, 1);
    std::memcpy(init_values[k].data(), init_room, sizeof init_room);
    inits.push_back(init_values[k].data());
    Array& result = call.make_result(k);
    if (!whole) result.sizes = std::make_shared<const std::vector<int64_t>>(kept);
    const bool direct = whole && plan.accumulators[k] == plan.results[k];
    own.push_back(direct ? Buffer() : pool.allocate(outputs * byte_width(plan.accumulators[k])));
    out.push_back(direct ? result.bytes() : own.back().data());
  }
  if (plan.widened) {
    const int64_t elements = call.operand(0).count();
    const Buffer wide = pool.allocate(elements * byte_width(ElementType::kF32));
    convert_elements(plan.inputs[0], ElementType::kF32, in[0], wide.data(), elements);
    fold(plan.fold, reduction.dimensions, reduction.strides, reduction.is_reduced, wide.data(), inits[0],
         out[0]);
  } else if (plan.fold) {
    fold(plan.fold, reduction.dimensions, reduction.strides, reduction.is_reduced, in[0], inits[0], out[0]);
  } else {
    GeneralReduce(plan.applied, plan.count).run(call.device(), reduction, in, inits, out);
  }
  for (size_t k = 0; k < plan.count; ++k) {
    if (!own[k]) continue;
    std::byte* result = call.result(k).bytes();
    const Buffer converted = whole ? Buffer() : pool.allocate(outputs * byte_width(plan.results[k]));
    convert_elements(plan.accumulators[k], plan.results[k], own[k].data(), whole ? result : converted.data(),
                     outputs);
    if (!whole) spread_by_bounds(kept, plan.shapes[k], converted.data(), result);
  }
}

/// Conversions among the types of a plan exist; else reports.
bool require_conversions(EvaluateContext& op, const ReducePlan& plan) {
  for (size_t k = 0; k < plan.count; ++k)
    for (const auto& [from, to] :
         {std::pair(plan.inits[k], plan.accumulators[k]), std::pair(plan.accumulators[k], plan.results[k])})
      if (from != to && !element_kernel(ElementOp::kConvert, from, to)) {
        op.unsupported();
        return false;
      }
  return true;
}

}  // namespace

Evaluation evaluate_reduce(EvaluateContext& op) {
  auto plan = std::make_shared<ReducePlan>();
  plan->count = static_cast<size_t>(op.operand_count() / 2);
  const ShapeRef input = op.operand_shape(0);
  plan->reduction = {
      {input->dimensions.begin(), input->dimensions.end()}, dense_strides(input->dimensions), {}};
  for (int64_t i = 0; i < input->rank(); ++i)
    plan->reduction.is_reduced.push_back(holds(op.ints(AttrKey::kDimensions), i));
  std::vector<ElementType> given;
  for_each_leaf(result_of(op, op.called()),
                [&](ShapeRef leaf) { plan->accumulators.push_back(leaf->element_type); });
  for_each_leaf(op.shape(), [&](ShapeRef leaf) {
    plan->results.push_back(leaf->element_type);
    plan->shapes.push_back(leaf);
  });
  given = plan->accumulators;
  for (int64_t k = 0; k < op.operand_count() / 2; ++k) {
    plan->inputs.push_back(op.operand_shape(k)->element_type);
    plan->inits.push_back(op.operand_shape(op.operand_count() / 2 + k)->element_type);
    given.push_back(plan->inputs.back());
  }
  if (!plan->applied.make(op, op.called(), given, plan->accumulators) || !require_conversions(op, *plan))
    return nullptr;
  if (const auto recognised = recognised_fold(plan->applied)) {
    plan->fold = fold_kernel(*recognised, plan->inputs[0]);
    // Sums of half precision round once, as those of the other floats that programs sum up.
    const bool sums = *recognised == FoldOp::kAdd || *recognised == FoldOp::kMultiply;
    if (sums && plan->inputs[0] == ElementType::kF16) {
      plan->widened = true;
      plan->accumulators[0] = ElementType::kF32;
      plan->fold = fold_kernel(*recognised, ElementType::kF32);
    }
  }
  return [plan](Invocation& call) { run_reduce(*plan, call); };
}

std::optional<RowFold> row_fold(EvaluateContext& op) {
  if (op.def().evaluation != EvaluationKind::kReduce || op.operand_count() != 2) return std::nullopt;
  const ShapeRef input = op.operand_shape(0);
  const ElementType type = input->element_type;
  if (!input->is_static() || op.operand_shape(1)->element_type != type || op.shape()->element_type != type ||
      !op.element_program(op.called()))
    return std::nullopt;
  RowFold found{{}, 1, 1};
  for (int64_t i = 0; i < input->rank(); ++i) {
    const int64_t size = input->dim(i);
    if (size == 1) continue;
    if (holds(op.ints(AttrKey::kDimensions), i))
      found.row *= size;
    else if (found.row > 1)
      return std::nullopt;
    else
      found.rows *= size;
  }
  AppliedComputation applied;
  const ElementType given[] = {type, type};
  if (found.row > kUncutRow || !applied.make(op, op.called(), given, std::span(given).first(1)))
    return std::nullopt;
  if (const auto recognised = recognised_fold(applied)) found.kernel = fold_kernel(*recognised, type);
  if (!found.kernel) return std::nullopt;
  return found;
}

}  // namespace hlosim
