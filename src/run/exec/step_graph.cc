#include "exec/step_graph.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/saturating.h"
#include "hlo/op_def.h"
#include "layout/strided_view.h"
#include "ops/leaf_forwarding.h"

namespace hlosim {

void append_arrays(const Literal& literal, MemoryPool& pool, std::vector<Array>& arrays) {
  if (literal.shape->is_tuple()) {
    for (const Literal* element : literal.elements) append_arrays(*element, pool, arrays);
    return;
  }
  Array array = make_array(pool, literal.shape);
  const auto bytes = static_cast<size_t>(data_bytes(literal.shape));
  const size_t given = std::min(bytes, literal.data.size());
  if (given > 0) std::memcpy(array.bytes(), literal.data.data(), given);
  if (bytes > given) std::memset(array.bytes() + given, 0, bytes - given);
  arrays.push_back(std::move(array));
}

namespace {

bool is_elided(const Literal& literal) {
  return literal.elided || std::any_of(literal.elements.begin(), literal.elements.end(),
                                       [](const Literal* element) { return is_elided(*element); });
}

class GraphMaker {
 public:
  GraphMaker(Module& module, const OpTable& table, MemoryPool& pool, const GraphOptions& options,
             DiagnosticList& sink)
      : module_(module),
        table_(table),
        pool_(pool),
        options_(options),
        sink_(sink),
        effects_(module.computations.size(), Effect::kUnknown) {}

  ComputationGraph make(ComputationId id) {
    Values arguments;
    for (const InstructionId parameter : module_[id].parameters)
      for_each_leaf(module_[parameter].shape, [&](ShapeRef leaf) { arguments.push_back(add_value(leaf)); });
    graph_.parameters = arguments;
    graph_.results = open(id, arguments);
    drop_unneeded();
    return std::move(graph_);
  }

  ComputationGraph make(InstructionId id) {
    const Instruction& instruction = module_[id];
    std::unordered_map<InstructionId, Values> values;
    for (const InstructionId operand : instruction.operands) {
      Values leaves;
      for_each_leaf(module_[operand].shape, [&](ShapeRef leaf) { leaves.push_back(add_value(leaf)); });
      graph_.parameters.insert(graph_.parameters.end(), leaves.begin(), leaves.end());
      values[operand] = std::move(leaves);
    }
    add(instruction, id, values);
    observe(instruction, values[id]);
    graph_.results = values[id];
    drop_unneeded();
    return std::move(graph_);
  }

 private:
  using Values = std::vector<ValueId>;
  enum class Effect : uint8_t { kUnknown, kNo, kYes };

  ValueId add_value(ShapeRef leaf) {
    graph_.values.push_back({leaf, {}});
    return static_cast<ValueId>(graph_.values.size() - 1);
  }

  // Adds what `id` does with `arguments` and returns the values of its root.
  Values open(ComputationId id, const Values& arguments) {
    const Computation& computation = module_[id];
    // Instructions of one computation have neighbouring ids only by accident: a map per opening.
    std::unordered_map<InstructionId, Values> values;
    values.reserve(computation.instructions.size());
    auto argument = arguments.begin();
    for (const InstructionId parameter : computation.parameters) {
      const auto leaves = leaf_count(module_[parameter].shape);
      values[parameter].assign(argument, argument + leaves);
      argument += leaves;
    }
    for (const InstructionId instruction : computation.instructions) {
      if (module_[instruction].parameter_number < 0) add(module_[instruction], instruction, values);
      observe(module_[instruction], values[instruction]);
    }
    return values[computation.root];
  }

  void add(const Instruction& instruction, InstructionId id,
           std::unordered_map<InstructionId, Values>& values) {
    if (instruction.literal) {
      values[id] = constant(instruction);
      return;
    }
    const OpContext op(module_, instruction, table_, nullptr);
    Values operands;
    for (const InstructionId operand : instruction.operands)
      operands.insert(operands.end(), values[operand].begin(), values[operand].end());
    if (op.def().forward && !loses_results(op)) {
      values[id] = forwarded(op, operands);
      return;
    }
    if (const auto call = opened_call(op); call && may_open(*call)) {
      values[id] = open(call->computation, selected(operands, call->arguments));
      return;
    }
    GraphNode node;
    node.instruction = &instruction;
    node.operands = std::move(operands);
    for_each_leaf(instruction.shape, [&](ShapeRef leaf) { node.results.push_back(add_value(leaf)); });
    node.keep = has_effect(instruction);
    find_reused(op, node);
    values[id] = node.results;
    graph_.nodes.push_back(std::move(node));
  }

  // As make_evaluation() has it: elementwise results take the place of an operand, reshapes that of theirs.
  void find_reused(const OpContext& op, GraphNode& node) const {
    if (node.results.size() != 1 || !op.shape()->is_array()) return;
    const bool moves_nothing = op.def().view && node.operands.size() == 1 && is_same_memory(op);
    if (!op.def().element && !moves_nothing) return;
    int64_t reused = -1;
    for (size_t i = node.operands.size(); i-- > 0;) {
      const ShapeRef operand = graph_.values[node.operands[i]].shape;
      if (data_bytes(operand) == data_bytes(op.shape()) &&
          operand->element_count() == op.shape()->element_count())
        reused = static_cast<int64_t>(i);
    }
    node.reused = {reused};
  }

  static bool is_same_memory(const OpContext& op) {
    StridedView view;
    const ShapeRef operand = op.operand_shape(0);
    return operand->is_array() && op.def().view(op, dense_view(operand->dimensions), view) &&
           view.is_dense() && view.offset == 0;
  }

  Values forwarded(const OpContext& op, const Values& operands) {
    std::vector<int64_t> leaves;
    op.def().forward(op, leaves);
    Values opened;
    if (std::any_of(leaves.begin(), leaves.end(), [](int64_t leaf) { return opened_index(leaf) >= 0; })) {
      const std::optional<OpenedCall> call = opened_call(op);
      HLOSIM_CHECK(call, "{} opens nothing", op.instruction().name);
      opened = open(call->computation, selected(operands, call->arguments));
    }
    Values result;
    size_t i = 0;
    for_each_leaf(op.shape(), [&](ShapeRef leaf) {
      HLOSIM_CHECK(i < leaves.size(), "{} of {} leaves of {}", i, leaves.size(), op.instruction().name);
      const int64_t from = leaves[i++];
      if (from >= 0)
        result.push_back(operands[static_cast<size_t>(from)]);
      else if (opened_index(from) >= 0)
        result.push_back(opened[static_cast<size_t>(opened_index(from))]);
      else
        result.push_back(add_value(leaf));
    });
    return result;
  }

  static Values selected(const Values& operands, const std::vector<int64_t>& leaves) {
    Values chosen;
    for (const int64_t leaf : leaves) chosen.push_back(operands[static_cast<size_t>(leaf)]);
    return chosen;
  }

  // A computation that calls another twice, which calls a third twice, … would grow without end.
  bool may_open(const OpenedCall& call) {
    constexpr size_t kOpenedLimit = 200000;
    opened_ += module_[call.computation].instructions.size();
    return opened_ < kOpenedLimit;
  }

  Values constant(const Instruction& instruction) {
    std::vector<Array> arrays;
    int64_t bytes = 0;
    for_each_leaf(instruction.shape, [&](ShapeRef leaf) { bytes = saturating_add(bytes, data_bytes(leaf)); });
    if (bytes > options_.max_constant_bytes)
      report(instruction,
             fmt::format("it takes {} bytes, more than the {} there are", bytes, options_.max_constant_bytes),
             "--max-memory sets the limit");
    else if (!is_elided(*instruction.literal))
      append_arrays(*instruction.literal, pool_, arrays);
    else if (options_.elided && instruction.shape->is_array())
      arrays.push_back(options_.elided(instruction, pool_));
    else
      report(instruction, "its value is left out, {...}, so the module can't be run",
             "--elided=zeros or --elided=random makes up a value");
    Values result;
    for_each_leaf(instruction.shape, [&](ShapeRef leaf) {
      result.push_back(add_value(leaf));
      if (result.size() > arrays.size()) return;
      Array& array = graph_.values.back().constant;
      array = arrays[result.size() - 1];
      array.shape = leaf;
    });
    return result;
  }

  void report(const Instruction& instruction, std::string_view what, std::string hint) {
    Diagnostic diagnostic;
    diagnostic.message = fmt::format("constant {}: {}", instruction.name, what);
    diagnostic.hint = std::move(hint);
    diagnostic.source = module_.source;
    diagnostic.offset = instruction.opcode_offset;
    sink_.add(std::move(diagnostic));
  }

  void observe(const Instruction& instruction, const Values& values) {
    if (!options_.traced || !options_.traced(instruction)) return;
    GraphNode node;
    node.instruction = &instruction;
    node.operands = values;
    node.keep = true;
    node.evaluation = [&instruction, show = options_.observer](Invocation& call) {
      std::vector<Array> arrays;
      for (size_t i = 0; i < call.operand_count(); ++i) arrays.push_back(call.operand(i));
      show(call.device(), instruction, arrays);
    };
    graph_.nodes.push_back(std::move(node));
  }

  bool has_effect(const Instruction& instruction) {
    const Attr* said = instruction.find(AttrKey::kCustomCallHasSideEffect);
    bool found = table_[instruction.opcode].has(kSideEffect) || (said && said->flag());
    for_each_called(instruction, [&](ComputationId called) { found = found || has_effect(called); });
    return found;
  }

  bool has_effect(ComputationId id) {
    Effect& effect = effects_[id];
    if (effect == Effect::kUnknown) {
      const auto& instructions = module_[id].instructions;
      const bool found = std::any_of(instructions.begin(), instructions.end(), [&](InstructionId i) {
        const Instruction& one = module_[i];
        return has_effect(one) || (options_.traced && options_.traced(one));
      });
      effects_[id] = found ? Effect::kYes : Effect::kNo;
    }
    return effects_[id] == Effect::kYes;
  }

  void drop_unneeded() {
    std::vector<bool> needed(graph_.values.size(), false);
    for (const ValueId value : graph_.results) needed[value] = true;
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      node->keep = node->keep || std::any_of(node->results.begin(), node->results.end(),
                                             [&](ValueId value) { return needed[value]; });
      if (node->keep)
        for (const ValueId value : node->operands) needed[value] = true;
    }
    std::erase_if(graph_.nodes, [](const GraphNode& node) { return !node.keep; });
  }

  Module& module_;
  const OpTable& table_;
  MemoryPool& pool_;
  const GraphOptions& options_;
  DiagnosticList& sink_;
  IdMap<ComputationId, Effect> effects_;
  size_t opened_ = 0;  // instructions of computations opened so far
  ComputationGraph graph_;
};

}  // namespace

ComputationGraph make_graph(Module& module, const OpTable& table, ComputationId computation, MemoryPool& pool,
                            const GraphOptions& options, DiagnosticList& sink) {
  return GraphMaker(module, table, pool, options, sink).make(computation);
}

ComputationGraph make_graph(Module& module, const OpTable& table, InstructionId instruction, MemoryPool& pool,
                            const GraphOptions& options, DiagnosticList& sink) {
  return GraphMaker(module, table, pool, options, sink).make(instruction);
}

}  // namespace hlosim
