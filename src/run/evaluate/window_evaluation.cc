#include "evaluate/window_evaluation.h"

#include <algorithm>
#include <cstring>

#include "cpu_kernels/element.h"
#include "cpu_kernels/strided_copy.h"
#include "evaluate/called_computation.h"
#include "evaluate/recognised.h"
#include "evaluate/sliding_fold.h"
#include "evaluate/window_walk.h"
#include "ops/infer.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

/// False after a report: too many positions to walk.
bool require_walkable(EvaluateContext& op) {
  int64_t positions = 1;
  for (const WindowDimension& dimension : op.window()) {
    positions = std::max(positions, dimension.size);
    const bool far = std::max({dimension.stride, dimension.base_dilation, dimension.window_dilation}) >
                         (int64_t{1} << 40) ||
                     std::abs(dimension.padding_low) > (int64_t{1} << 40);
    if (far || positions > kMostWindowPositions) {
      op.unsupported("the window is beyond 2^28 positions or 2^40 elements");
      return false;
    }
  }
  return true;
}

/// Dimensions without attribute `window`: it does nothing.
std::vector<WindowDimension> window_of(const OpContext& op) {
  std::vector<WindowDimension> window(op.window().begin(), op.window().end());
  window.resize(static_cast<size_t>(op.operand_shape(0)->rank()));
  return window;
}

void convert_one(ElementType from, ElementType to, const std::byte* in, std::byte* out) {
  if (from == to) {
    std::memcpy(out, in, static_cast<size_t>(byte_width(from)));
    return;
  }
  const ElementKernel kernel = element_kernel(ElementOp::kConvert, from, to);
  alignas(16) std::byte value[16];
  std::memcpy(value, in, static_cast<size_t>(byte_width(from)));
  const void* operands[] = {value};
  kernel.fn(out, operands, kernel.immediate, 1);
}

// ── reduce-window ───────────────────────────────────────────────

struct ReduceWindowPlan {
  explicit ReduceWindowPlan(const WindowWalk& w) : walk(w) {}
  WindowWalk walk;
  AppliedComputation reduce;
  std::optional<SlidingFold> sliding;  // instead of the walk
  size_t count = 0;
  std::vector<ElementType> inputs, inits, accumulators;  // accumulators: of the results
};

// Room of one thread: values that aren't neighbours where they lie.
class TapRooms {
 public:
  explicit TapRooms(size_t count) : rooms_(count) {}
  std::byte* room(size_t k, int64_t bytes) {
    if (static_cast<int64_t>(rooms_[k].size()) < bytes) rooms_[k].resize(static_cast<size_t>(bytes));
    return rooms_[k].data();
  }

 private:
  std::vector<std::vector<std::byte>> rooms_;
};

void run_pieces(const ReduceWindowPlan& plan, Invocation& call, std::span<std::byte* const> out,
                int64_t begin, int64_t end) {
  Applier applier(plan.reduce, call.device());
  TapRooms rooms(2 * plan.count);
  std::vector<const void*> arguments(2 * plan.count);
  std::vector<void*> results(plan.count);
  for (int64_t piece = begin; piece < end; ++piece) {
    const int64_t first = plan.walk.first_place(piece);
    plan.walk.for_each_tap(piece, [&](const RowTap& tap) {
      for (size_t k = 0; k < plan.count; ++k) {
        const int64_t width = byte_width(plan.accumulators[k]), input_width = byte_width(plan.inputs[k]);
        std::byte* current = out[k] + (first + tap.first) * width;
        const std::byte* elements = call.operand(k).bytes() + tap.element * input_width;
        if (tap.step != 1) {
          std::byte* const room = rooms.room(k, tap.count * width);
          copy_spaced(width, current, tap.step, room, 1, tap.count);
          current = room;
        }
        if (tap.element_step != 1) {
          std::byte* const room = rooms.room(plan.count + k, tap.count * input_width);
          copy_spaced(input_width, elements, tap.element_step, room, 1, tap.count);
          elements = room;
        }
        results[k] = current;
        arguments[k] = current;
        arguments[plan.count + k] = elements;
      }
      applier.run(arguments.data(), results.data(), tap.count);
      for (size_t k = 0; k < plan.count && tap.step != 1; ++k) {
        const int64_t width = byte_width(plan.accumulators[k]);
        copy_spaced(width, static_cast<const std::byte*>(results[k]), 1, out[k] + (first + tap.first) * width,
                    tap.step, tap.count);
      }
    });
  }
}

/// Of the computations that may be associated freely, those that lose nothing by it: small floats round each
/// step.
bool slides(const ReduceWindowPlan& plan) {
  const ElementType type = plan.accumulators[0];
  return plan.count == 1 && recognised_fold(plan.reduce) && plan.inits[0] == type && plan.inputs[0] == type &&
         !(is_float(type) && byte_width(type) < 4);
}

}  // namespace

Evaluation evaluate_reduce_window(EvaluateContext& op) {
  if (!require_walkable(op)) return nullptr;
  const ShapeRef input = op.operand_shape(0);
  auto plan = std::make_shared<ReduceWindowPlan>(WindowWalk(input->dimensions, window_of(op)));
  const int64_t count = op.operand_count() / 2;
  plan->count = static_cast<size_t>(count);
  for_each_leaf(op.shape(), [&](ShapeRef leaf) { plan->accumulators.push_back(leaf->element_type); });
  std::vector<ElementType> given = plan->accumulators;
  for (int64_t k = 0; k < count; ++k) {
    plan->inputs.push_back(op.operand_shape(k)->element_type);
    plan->inits.push_back(op.operand_shape(count + k)->element_type);
    given.push_back(plan->inputs.back());
    const ElementType to = plan->accumulators[static_cast<size_t>(k)];
    if (plan->inits.back() != to && !element_kernel(ElementOp::kConvert, plan->inits.back(), to))
      return op.unsupported();
  }
  if (!plan->reduce.make(op, op.called(), given, plan->accumulators)) return nullptr;
  if (slides(*plan)) plan->sliding = SlidingFold::make(input->dimensions, window_of(op));
  return [plan](Invocation& call) {
    if (plan->sliding) {
      std::byte* const out = call.make_result().bytes();
      plan->sliding->run(plan->reduce, call.device(), call.operand(0).bytes(), call.operand(1).bytes(), out);
      return;
    }
    std::vector<std::byte*> out;
    for (size_t k = 0; k < plan->count; ++k) {
      Array& result = call.make_result(k);
      alignas(16) std::byte init[16];
      convert_one(plan->inits[k], plan->accumulators[k], call.operand(plan->count + k).bytes(), init);
      fill_elements(result.bytes(), init, byte_width(plan->accumulators[k]), result.count());
      out.push_back(result.bytes());
    }
    const auto pieces = [&](int64_t begin, int64_t end) { run_pieces(*plan, call, out, begin, end); };
    if (plan->reduce.is_parallel())
      parallel_for(plan->walk.piece_count(), std::max<int64_t>(1, 32768 / plan->walk.piece_work()), pieces);
    else
      pieces(0, plan->walk.piece_count());
  };
}

// ── select-and-scatter ──────────────────────────────────────────

namespace {

struct SelectPlan {
  explicit SelectPlan(const WindowWalk& w) : walk(w) {}
  WindowWalk walk;
  AppliedComputation select, scatter;
  ElementType type{}, source_type{}, init_type{};
};

// The selected element of each place of a piece.
class Selection {
 public:
  Selection(const SelectPlan& plan, DeviceState& device) : plan_(plan), applier_(plan.select, device) {}

  /// selected()[i]: number of the element that place i selects, -1 where the window sees none.
  void run(const std::byte* elements, int64_t piece) {
    const auto places = static_cast<size_t>(plan_.walk.place_count(piece));
    selected_.assign(places, -1);
    values_.resize(places * 16);
    candidates_.resize(places * 16);
    current_.resize(places * 16);
    keeps_.resize(places);
    plan_.walk.for_each_tap(piece, [&](const RowTap& tap) { visit(elements, tap); });
  }
  std::span<const int64_t> selected() const { return selected_; }

 private:
  void visit(const std::byte* elements, const RowTap& tap) {
    const int64_t width = byte_width(plan_.type);
    copy_spaced(width, elements + tap.element * width, tap.element_step, candidates_.data(), 1, tap.count);
    // Places without a value compare whatever lies there; the answer isn't asked for.
    copy_spaced(width, values_.data() + tap.first * width, tap.step, current_.data(), 1, tap.count);
    const void* in[] = {current_.data(), candidates_.data()};
    void* out[] = {keeps_.data()};
    applier_.run(in, out, tap.count);
    for (int64_t i = 0; i < tap.count; ++i) {
      const int64_t place = tap.first + i * tap.step;
      int64_t& selected = selected_[static_cast<size_t>(place)];
      if (selected >= 0 && keeps_[static_cast<size_t>(i)] != std::byte{0}) continue;
      selected = tap.element + i * tap.element_step;
      std::memcpy(values_.data() + place * width, candidates_.data() + i * width, static_cast<size_t>(width));
    }
  }
  const SelectPlan& plan_;
  Applier applier_;
  std::vector<int64_t> selected_;
  std::vector<std::byte> values_, candidates_, current_, keeps_;
};

void run_select_and_scatter(const SelectPlan& plan, Invocation& call) {
  Array& result = call.make_result();
  const int64_t width = byte_width(plan.type), source_width = byte_width(plan.source_type);
  alignas(16) std::byte init[16];
  convert_one(plan.init_type, plan.type, call.operand(2).bytes(), init);
  fill_elements(result.bytes(), init, width, result.count());
  // Select for all places, on several threads; then scatter in their order.
  const int64_t pieces = plan.walk.piece_count();
  std::vector<int64_t> selected(static_cast<size_t>(call.operand(1).count()));
  const auto select = [&](int64_t begin, int64_t end) {
    Selection selection(plan, call.device());
    for (int64_t piece = begin; piece < end; ++piece) {
      selection.run(call.operand(0).bytes(), piece);
      std::ranges::copy(selection.selected(), selected.begin() + plan.walk.first_place(piece));
    }
  };
  if (plan.select.is_parallel())
    parallel_for(pieces, std::max<int64_t>(1, 32768 / plan.walk.piece_work()), select);
  else
    select(0, pieces);
  Applier scatter(plan.scatter, call.device(), 1);
  for (size_t place = 0; place < selected.size(); ++place) {
    if (selected[place] < 0) continue;
    std::byte* const to = result.bytes() + selected[place] * width;
    const void* in[] = {call.operand(1).bytes() + static_cast<int64_t>(place) * source_width, to};
    void* out[] = {to};
    scatter.run(in, out, 1);
  }
}

}  // namespace

Evaluation evaluate_select_and_scatter(EvaluateContext& op) {
  if (!require_walkable(op)) return nullptr;
  auto plan = std::make_shared<SelectPlan>(WindowWalk(op.operand_shape(0)->dimensions, window_of(op)));
  plan->type = op.shape()->element_type;
  plan->source_type = op.operand_shape(1)->element_type;
  plan->init_type = op.operand_shape(2)->element_type;
  if (op.operand_shape(0)->element_type != plan->type ||
      (plan->init_type != plan->type && !element_kernel(ElementOp::kConvert, plan->init_type, plan->type)))
    return op.unsupported();
  const ElementType compared[] = {plan->type, plan->type}, pred[] = {ElementType::kPred};
  const ElementType scattered[] = {plan->source_type, plan->type}, result[] = {plan->type};
  if (!plan->select.make(op, op.called(AttrKey::kSelect), compared, pred) ||
      !plan->scatter.make(op, op.called(AttrKey::kScatter), scattered, result))
    return nullptr;
  return [plan](Invocation& call) { run_select_and_scatter(*plan, call); };
}

}  // namespace hlosim
