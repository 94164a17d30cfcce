#include "modules/trip_count.h"

#include <charconv>
#include <deque>
#include <string_view>
#include <vector>

#include "base/rounding.h"
#include "hlo/literal.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

// ── stated ──────────────────────────────────────────────────────

/// The number in `"known_trip_count":{"n":"5"}`, quoted or escaped as it may be.
std::optional<int64_t> stated_count(const Instruction& loop) {
  const Attr* attr = loop.find(AttrKey::kBackendConfig);
  if (!attr) return std::nullopt;
  const std::string_view text = attr->text();
  const size_t at = text.find("known_trip_count");
  if (at == std::string_view::npos) return std::nullopt;
  const size_t digits = text.find_first_of("0123456789}", at);
  if (digits == std::string_view::npos || text[digits] == '}') return std::nullopt;
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data() + digits, text.data() + text.size(), count);
  return error == std::errc() ? std::optional(count) : std::nullopt;
}

// ── derived ─────────────────────────────────────────────────────

/// A called computation under inspection: its parameters are the operands of `call`, seen from `outer`.
struct Frame {
  const Frame* outer = nullptr;
  const Instruction* call = nullptr;
};

/// Where a scalar comes from.
struct Origin {
  enum class Kind : uint8_t { kNothing, kConstant, kState, kOperation } kind = Kind::kNothing;
  int64_t value = 0;                       // kConstant
  int64_t element = -1;                    // kState: of the loop's tuple; -1: the state is the scalar itself
  const Instruction* operation = nullptr;  // kOperation
  const Frame* frame = nullptr;            // of the operation
};

bool is_integer_scalar(ShapeRef shape) {
  return shape->is_scalar() && (is_integer(shape->element_type) || is_pred(shape->element_type));
}

class Tracer {
 public:
  explicit Tracer(const Module& module) : module_(module) {}

  Origin trace(InstructionId id, const Frame* frame = nullptr) { return trace(id, frame, {}); }
  /// Element `index` of a tuple; -1: the value itself.
  Origin trace_element(InstructionId id, int64_t index) {
    return trace(id, nullptr, index < 0 ? std::vector<int64_t>() : std::vector<int64_t>{index});
  }

 private:
  Origin trace(InstructionId id, const Frame* frame, std::vector<int64_t> index) {
    constexpr int kMostSteps = 10000;
    for (int step = 0; step < kMostSteps; ++step) {
      const Instruction& at = module_[id];
      switch (op_rules(at).number) {
        case NumberRule::kElement:
          index.push_back(at.find(AttrKey::kIndex)->integer());
          id = at.operands[0];
          continue;
        case NumberRule::kTuple: {
          if (index.empty() || static_cast<size_t>(index.back()) >= at.operands.size()) return {};
          id = at.operands[static_cast<size_t>(index.back())];
          index.pop_back();
          continue;
        }
        case NumberRule::kSame:
          id = at.operands[0];
          continue;
        case NumberRule::kSameInteger:
          if (!index.empty() || !is_integer_scalar(at.shape) ||
              module_[at.operands[0]].shape->element_count() != 1)
            return {};
          if (!module_[at.operands[0]].shape->is_array() ||
              !is_integer(module_[at.operands[0]].shape->element_type))
            return {};
          id = at.operands[0];
          continue;
        case NumberRule::kCalled: {
          frames_.push_back({frame, &at});
          frame = &frames_.back();
          const Attr* calls = at.find(AttrKey::kCalls);
          id = module_[(calls ? calls : at.find(AttrKey::kToApply))->computations()[0]].root;
          continue;
        }
        case NumberRule::kParameter: {
          if (!frame) return state(index);
          id = frame->call->operands[static_cast<size_t>(at.parameter_number)];
          frame = frame->outer;
          continue;
        }
        case NumberRule::kConstant:
          return constant(at, index);
        case NumberRule::kComputed:
          return index.empty() ? Origin{Origin::Kind::kOperation, 0, -1, &at, frame} : Origin{};
      }
    }
    return {};
  }

  static Origin state(const std::vector<int64_t>& index) {
    if (index.size() > 1) return {};
    return {Origin::Kind::kState, 0, index.empty() ? -1 : index[0], nullptr, nullptr};
  }

  static Origin constant(const Instruction& instruction, const std::vector<int64_t>& index) {
    const Literal* literal = instruction.literal;
    for (size_t i = index.size(); literal && i-- > 0;)
      literal = index[i] >= 0 && static_cast<size_t>(index[i]) < literal->elements.size()
                    ? literal->elements[static_cast<size_t>(index[i])]
                    : nullptr;
    if (!literal || literal->elided || !literal->shape->is_array() || literal->shape->element_count() != 1)
      return {};
    if (!is_integer(literal->shape->element_type) && !is_pred(literal->shape->element_type)) return {};
    return {Origin::Kind::kConstant, integer_at(*literal, 0), -1, nullptr, nullptr};
  }

  const Module& module_;
  std::deque<Frame> frames_;  // stable addresses
};

__extension__ typedef __int128 Wide;  // differences of any two int64

/// while (start; start `direction` bound; start += step). Empty: endless, or past what int64 counts.
std::optional<int64_t> count_steps(Wide start, Wide step, Wide bound, std::string_view direction) {
  if (direction == "GT" || direction == "GE") {
    start = -start;
    step = -step;
    bound = -bound;
    direction = direction == "GT" ? "LT" : "LE";
  }
  if (direction == "LE") ++bound;
  Wide count = 0;
  if (direction == "LT" || direction == "LE") {
    if (start >= bound) return 0;
    if (step <= 0) return std::nullopt;
    count = ceil_div(bound - start, step);
  } else if (direction == "NE") {
    if (start == bound) return 0;
    if (step == 0 || (bound - start) % step != 0 || (bound - start) / step < 0) return std::nullopt;
    count = (bound - start) / step;
  } else {  // EQ
    if (start != bound) return 0;
    if (step == 0) return std::nullopt;
    count = 1;
  }
  if (count > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(count);
}

std::string_view mirrored(std::string_view direction) {
  if (direction == "LT") return "GT";
  if (direction == "GT") return "LT";
  if (direction == "LE") return "GE";
  if (direction == "GE") return "LE";
  return direction;
}

class LoopAnalysis {
 public:
  LoopAnalysis(const Module& module, const Instruction& loop)
      : module_(module),
        loop_(loop),
        tracer_(module),
        body_(called(AttrKey::kBody)),
        condition_(called(AttrKey::kCondition)) {}

  std::optional<int64_t> count() {
    const Origin root = tracer_.trace(module_[condition_].root);
    if (root.kind == Origin::Kind::kConstant)
      return root.value == 0 ? std::optional<int64_t>(0) : std::nullopt;
    if (root.kind != Origin::Kind::kOperation || root.operation->opcode != Opcode::kCompare)
      return std::nullopt;
    const Origin left = tracer_.trace(root.operation->operands[0], root.frame);
    const Origin right = tracer_.trace(root.operation->operands[1], root.frame);
    const std::string_view direction = root.operation->find(AttrKey::kDirection)->text();
    if (const auto counted = count_with(left, right, direction)) return counted;
    return count_with(right, left, mirrored(direction));
  }

 private:
  ComputationId called(AttrKey key) const { return loop_.find(key)->computations()[0]; }

  std::optional<int64_t> count_with(const Origin& variable, const Origin& limit, std::string_view direction) {
    if (variable.kind != Origin::Kind::kState) return std::nullopt;
    const auto bound = invariant(limit);
    const auto start = initial(variable.element);
    const auto step = step_of(variable.element);
    if (!bound || !start || !step) return std::nullopt;
    return count_steps(*start, *step, *bound, direction);
  }

  std::optional<int64_t> initial(int64_t element) {
    const Origin origin = tracer_.trace_element(loop_.operands[0], element);
    return origin.kind == Origin::Kind::kConstant ? std::optional(origin.value) : std::nullopt;
  }

  /// A constant, or an element of the state that starts as one and that the body hands on.
  std::optional<int64_t> invariant(const Origin& origin) {
    if (origin.kind == Origin::Kind::kConstant) return origin.value;
    if (origin.kind != Origin::Kind::kState) return std::nullopt;
    const Origin next = tracer_.trace_element(module_[body_].root, origin.element);
    if (next.kind != Origin::Kind::kState || next.element != origin.element) return std::nullopt;
    return initial(origin.element);
  }

  std::optional<int64_t> step_of(int64_t element) {
    const Origin next = tracer_.trace_element(module_[body_].root, element);
    if (next.kind != Origin::Kind::kOperation) return std::nullopt;
    const Identity identity = op_rules(*next.operation).identity;
    if (identity != Identity::kSum && identity != Identity::kDifference) return std::nullopt;
    const Origin left = tracer_.trace(next.operation->operands[0], next.frame);
    const Origin right = tracer_.trace(next.operation->operands[1], next.frame);
    const auto is_variable = [&](const Origin& o) {
      return o.kind == Origin::Kind::kState && o.element == element;
    };
    if (is_variable(left))
      if (const auto step = invariant(right)) return identity == Identity::kSum ? *step : -*step;
    if (identity == Identity::kSum && is_variable(right)) return invariant(left);
    return std::nullopt;
  }

  const Module& module_;
  const Instruction& loop_;
  Tracer tracer_;
  ComputationId body_, condition_;
};

}  // namespace

TripCount trip_count(const Module& module, const Instruction& loop) {
  if (const auto stated = stated_count(loop)) return {TripCount::Source::kStated, *stated};
  if (const auto derived = LoopAnalysis(module, loop).count()) return {TripCount::Source::kDerived, *derived};
  return {};
}

}  // namespace hlosim
