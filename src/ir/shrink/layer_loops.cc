#include "shrink/layer_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "hlo/literal.h"
#include "hlo/module_editor.h"
#include "modules/trip_count.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

// ── stacks ──────────────────────────────────────────────────────

std::set<ComputationId> reached_from(const Module& module, ComputationId start) {
  std::set<ComputationId> reached;
  std::deque<ComputationId> open = {start};
  while (!open.empty()) {
    const ComputationId at = open.front();
    open.pop_front();
    if (!reached.insert(at).second) continue;
    for (const InstructionId id : module[at].instructions)
      for_each_called(module[id], [&](ComputationId called) { open.push_back(called); });
  }
  return reached;
}

/// The dimensions of the size of the loop's turns of which `id` reads or writes one element.
void add_stacks(const Module& module, const DimensionClasses& classes, InstructionId id, LayerLoop& loop) {
  const Instruction& instruction = module[id];
  const DimensionRule rule = op_rules(instruction).dimensions;
  const bool writes = rule == DimensionRule::kDynamicUpdate;
  if (!writes && rule != DimensionRule::kDynamicSlice) return;
  const ShapeRef whole = module[instruction.operands[0]].shape,
                 part = writes ? module[instruction.operands[1]].shape : instruction.shape;
  const size_t first = writes ? 2 : 1;
  for (int64_t i = 0; i < whole->rank(); ++i) {
    if (whole->dim(i) != loop.trips || part->dim(i) != 1) continue;
    loop.stacks.insert(classes.of(instruction.operands[0], 0, i));
    const size_t index = first + static_cast<size_t>(i);
    if (index < instruction.operands.size() && module[instruction.operands[index]].shape->is_scalar())
      loop.indices.push_back(instruction.operands[index]);
  }
}

/// The loop as if nothing was stated of it.
TripCount derived_trips(const Module& module, Instruction loop) {
  std::vector<Attr> attrs;
  for (const Attr& attr : loop.attrs)
    if (attr.key != AttrKey::kBackendConfig) attrs.push_back(attr);
  loop.attrs = attrs;
  return trip_count(module, loop);
}

// ── numbers ─────────────────────────────────────────────────────

/// Walks from scalars to all that they are computed from, whatever is called on the way.
class NumberWalk {
 public:
  explicit NumberWalk(const Module& module) : module_(module) {
    for (size_t i = 0; i < module.instructions.size(); ++i) {
      const InstructionId id{static_cast<int32_t>(i)};
      if (module[id].parent.valid())
        for_each_called(module[id], [&](ComputationId called) { callers_[called].push_back(id); });
    }
  }

  void run(InstructionId start) {
    open_.push_back({start, {}});
    while (!open_.empty()) {
      const Part part = open_.front();
      open_.pop_front();
      if (parts_.size() < kMost && parts_.insert(part).second) visit(part);
    }
  }

  /// Some number comes from where the walk can't follow.
  const std::string& problem() const { return problem_; }
  bool met(InstructionId id) const {
    const auto at = parts_.lower_bound({id, {}});
    return at != parts_.end() && at->id == id;
  }
  const std::set<InstructionId>& constants() const { return constants_; }

 private:
  static constexpr size_t kMost = 100000;
  /// An element of a tuple, outermost index last; none: the value itself.
  struct Part {
    InstructionId id;
    std::vector<int64_t> index;
    auto operator<=>(const Part&) const = default;
  };

  void visit(const Part& part) {
    const Instruction& at = module_[part.id];
    std::vector<int64_t> index = part.index;
    switch (op_rules(at).number) {
      case NumberRule::kElement:
        index.push_back(at.find(AttrKey::kIndex)->integer());
        return go(at.operands[0], index);
      case NumberRule::kTuple: {
        if (index.empty()) return;
        const auto element = static_cast<size_t>(index.back());
        index.pop_back();
        return go(at.operands[element], index);
      }
      case NumberRule::kSame:
      case NumberRule::kSameInteger:
        return go(at.operands[0], index);
      case NumberRule::kCalled:
        for_each_called(at, [&](ComputationId called) { go(module_[called].root, index); });
        return;
      case NumberRule::kParameter:
        return enter(at, index);
      case NumberRule::kConstant:
        constants_.insert(part.id);
        return;
      case NumberRule::kComputed:
        return compute(at, index);
    }
  }

  /// What callers pass.
  void enter(const Instruction& parameter, const std::vector<int64_t>& index) {
    const auto number = static_cast<size_t>(parameter.parameter_number);
    for (const InstructionId caller : callers_[parameter.parent]) {
      const Instruction& call = module_[caller];
      if (op_rules(call).value == ValueRule::kLoop) {
        go(call.operands[0], index);
        go(module_[call.find(AttrKey::kBody)->computations()[0]].root, index);
      } else if (number < call.operands.size() && op_rules(call).number == NumberRule::kCalled) {
        go(call.operands[number], index);
      } else {
        problem_ = fmt::format("it comes from the caller {}", call.name);
      }
    }
  }

  void compute(const Instruction& at, const std::vector<int64_t>& index) {
    if (op_rules(at).value == ValueRule::kLoop) {  // what another loop ends with
      go(at.operands[0], index);
      return go(module_[at.find(AttrKey::kBody)->computations()[0]].root, index);
    }
    if (op_table()[at.opcode].forward) {
      if (index.empty() && !at.operands.empty()) go(at.operands[0], index);
      return;
    }
    const bool is_arithmetic =
        op_rules(at).dimensions == DimensionRule::kElement && at.shape->element_count() == 1;
    if (!is_arithmetic) {
      if (!at.operands.empty()) problem_ = fmt::format("it comes from {}", at.name);
      return;
    }
    for (const InstructionId operand : at.operands) go(operand, {});
  }

  void go(InstructionId id, std::vector<int64_t> index) { open_.push_back({id, std::move(index)}); }

  const Module& module_;
  std::map<ComputationId, std::vector<InstructionId>> callers_;
  std::deque<Part> open_;
  std::set<Part> parts_;
  std::set<InstructionId> constants_;
  std::string problem_;
};

/// Is the constant used by what was walked through alone?
bool serves_only(const Module& module, const NumberWalk& walk, InstructionId constant) {
  const auto& list = module[module[constant].parent].instructions;
  return std::all_of(list.begin(), list.end(), [&](InstructionId id) {
    const auto operands = module[id].operands;
    return std::find(operands.begin(), operands.end(), constant) == operands.end() || walk.met(id);
  });
}

}  // namespace

std::vector<LayerLoop> layer_loops(const Module& module, const OpTable& table,
                                   const DimensionClasses& classes) {
  std::vector<LayerLoop> loops;
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      if (table[module[id].opcode].rules.value != ValueRule::kLoop) continue;
      const TripCount trips = trip_count(module, module[id]);
      if (!trips.known() || trips.count < 2) continue;
      LayerLoop loop{id, trips.count, {}, {}};
      for (const ComputationId inside :
           reached_from(module, module[id].find(AttrKey::kBody)->computations()[0]))
        for (const InstructionId at : module[inside].instructions) add_stacks(module, classes, at, loop);
      if (!loop.stacks.empty()) loops.push_back(std::move(loop));
    }
  return loops;
}

LayerNumbers layer_numbers(const Module& module, const LayerLoop& loop, int64_t layers) {
  LayerNumbers numbers;
  NumberWalk walk(module);
  const ComputationId condition = module[loop.id].find(AttrKey::kCondition)->computations()[0];
  walk.run(module[condition].root);
  for (const InstructionId index : loop.indices) walk.run(index);
  numbers.problem = walk.problem();
  for (const InstructionId constant : walk.constants()) {
    const Literal& literal = *module[constant].literal;
    if (!literal.shape->is_scalar() || literal.elided || !is_integer(literal.shape->element_type)) continue;
    const int64_t value = integer_at(literal, 0);
    if (value >= -1 && value <= 1) continue;
    if (value != loop.trips && value != loop.trips - 1)
      numbers.problem = fmt::format("{} is {}", module[constant].name, value);
    else if (!serves_only(module, walk, constant))
      numbers.problem = fmt::format("{} is used otherwise as well", module[constant].name);
    else
      numbers.constants.emplace_back(constant, value - loop.trips + layers);
  }
  if (!numbers.problem.empty()) return numbers;
  Module changed = module.copy();
  set_layers(changed, {loop}, numbers.constants, layers);
  const TripCount trips = derived_trips(changed, changed[loop.id]);
  if (!trips.known() || trips.count != layers)
    numbers.problem = "the constants that it counts its turns with are not known";
  return numbers;
}

void set_layers(Module& module, const std::vector<LayerLoop>& loops,
                const std::vector<std::pair<InstructionId, int64_t>>& constants, int64_t layers) {
  for (const auto& [id, value] : constants) {
    Literal literal = *module[id].literal;
    std::vector<std::byte> data(static_cast<size_t>(byte_width(literal.shape->element_type)));
    std::memcpy(data.data(), &value, std::min(data.size(), sizeof(value)));
    literal.data = module.arena().copy(data);
    module.instructions[id].literal = module.arena().make<Literal>(literal);
  }
  for (const LayerLoop& loop : loops) {
    const Attr* config = module[loop.id].find(AttrKey::kBackendConfig);
    const size_t at = config ? config->text().find("known_trip_count") : std::string_view::npos;
    if (at == std::string_view::npos) continue;
    std::string text(config->text());
    const size_t begin = text.find_first_of("0123456789", at),
                 end = text.find_first_not_of("0123456789", begin);
    if (begin == std::string::npos) continue;
    text.replace(begin, end - begin, std::to_string(layers));
    Attr made = Attr::make_text(config->key, config->syntax, module.arena().copy(std::string_view(text)));
    made.offset = config->offset;
    ModuleEditor(module).set_attr(loop.id, made);
  }
}

}  // namespace hlosim
