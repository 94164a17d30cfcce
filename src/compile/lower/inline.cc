#include "lower/inline.h"

#include <algorithm>
#include <map>
#include <set>

#include "layout/bitcast.h"

namespace hlosim {
namespace {

class Inliner {
 public:
  Inliner(ModuleEditor& editor, const OpTable& table)
      : editor_(editor), module_(editor.module()), table_(table), callers_(caller_counts(module_)) {}

  /// Opens the calls of the entry and of what still runs as control flow after that: what calls are replaced
  /// by may hold loops of its own, and computations that nobody calls any more needn't be opened.
  void run() {
    IdMap<ComputationId, uint8_t> seen(module_.computations.size());
    std::vector<ComputationId> found{module_.entry};
    seen[module_.entry] = true;
    for (size_t i = 0; i < found.size(); ++i) {
      run(found[i]);
      for (const InstructionId id : module_[found[i]].instructions)
        if (table_[module_[id].opcode].has(kCallsInline))
          for_each_called(module_[id], [&](ComputationId called) {
            if (!seen[called]) found.push_back(called);
            seen[called] = true;
          });
    }
  }

 private:
  void run(ComputationId id) {
    computation_ = id;
    const std::vector<InstructionId> order = module_[id].instructions;
    waited_for_.clear();
    for (const InstructionId at : order)
      if (const Attr* before = module_[at].find(AttrKey::kControlPredecessors))
        waited_for_.insert(before->instructions().begin(), before->instructions().end());
    now_.resize(module_.instructions.size());
    result_.clear();
    for (const InstructionId at : order) {
      forward(at);
      if (opens(at))
        now_[at] = open(module_[at]);
      else
        result_.push_back(at), now_[at] = at;
    }
    Computation& computation = module_.computations[id];
    computation.root = now_[computation.root];
    computation.instructions = std::move(result_);
  }

  /// What the instruction takes is what its operands have become.
  void forward(InstructionId id) {
    const auto stays = [&](InstructionId operand) { return now_[operand] == operand; };
    if (std::ranges::all_of(module_[id].operands, stays)) return;
    std::vector<InstructionId> operands(module_[id].operands.begin(), module_[id].operands.end());
    for (InstructionId& operand : operands) operand = now_[operand];
    editor_.set_operands(id, operands);
  }

  std::vector<InstructionId> mapped(InstructionId id,
                                    const std::map<InstructionId, InstructionId>& now) const {
    std::vector<InstructionId> operands(module_[id].operands.begin(), module_[id].operands.end());
    for (InstructionId& operand : operands) operand = now.at(operand);
    return operands;
  }

  bool has_control(InstructionId id) const {
    return waited_for_.contains(id) || module_[id].find(AttrKey::kControlPredecessors);
  }

  bool opens(InstructionId id) const {
    const Instruction& instruction = module_[id];
    if (has_control(id) || has_control_inside(instruction)) return false;
    if (table_[instruction.opcode].has(kFusion)) return true;
    return instruction.opcode == Opcode::kCall && !instruction.find(AttrKey::kBackendConfig) &&
           !instruction.find(AttrKey::kFrontendAttributes) && !instruction.find(AttrKey::kIsComposite) &&
           !shares_control_flow(instruction);
  }

  /// Loops and branches inside would have their computations in common with those of another caller.
  bool shares_control_flow(const Instruction& call) const {
    const ComputationId body = call.find(AttrKey::kToApply)->computations()[0];
    return callers_[body] > 1 && std::ranges::any_of(module_[body].instructions, [&](InstructionId id) {
             return table_[module_[id].opcode].has(kCallsInline);
           });
  }

  bool has_control_inside(const Instruction& caller) const {
    bool found = false;
    for_each_called(caller, [&](ComputationId called) {
      for (const InstructionId id : module_[called].instructions)
        found |= module_[id].find(AttrKey::kControlPredecessors) != nullptr;
    });
    return found;
  }

  static ComputationId called_by(const Instruction& caller) {
    ComputationId called;
    for_each_called(caller, [&](ComputationId id) { called = id; });
    return called;
  }

  /// A call that is being opened: how far it is, what its instructions are by now, and which instruction of
  /// the frame around it waits for the result.
  struct Frame {
    ComputationId called;
    InstructionId waiting;
    std::vector<InstructionId> arguments;
    size_t next = 0;
    std::map<InstructionId, InstructionId> now;
  };

  /// Puts what the call computes into the list; returns its result. Calls may stand in calls to any depth.
  InstructionId open(const Instruction& caller) {
    std::vector<Frame> stack;
    stack.push_back({called_by(caller), {}, {caller.operands.begin(), caller.operands.end()}, 0, {}});
    for (;;) {
      Frame& frame = stack.back();
      if (frame.next < module_[frame.called].instructions.size()) {
        open_next(stack);
        continue;
      }
      const InstructionId result = frame.now.at(module_[frame.called].root), waiting = frame.waiting;
      stack.pop_back();
      if (stack.empty()) return result;
      stack.back().now[waiting] = result;
    }
  }

  /// The next instruction of the innermost call: it goes to the list, or is a call to be opened first.
  void open_next(std::vector<Frame>& stack) {
    Frame& frame = stack.back();
    const InstructionId id = module_[frame.called].instructions[frame.next++];
    const Instruction original = module_[id];
    if (original.parameter_number >= 0) {
      frame.now[id] = frame.arguments[static_cast<size_t>(original.parameter_number)];
      return;
    }
    if (opens(id)) {
      stack.push_back({called_by(original), id, mapped(id, frame.now), 0, {}});
      return;
    }
    const InstructionId copy = editor_.add(computation_, original.opcode, base_name(original.name),
                                           original.shape, mapped(id, frame.now), original.attrs);
    module_.instructions[copy].literal = original.literal;
    editor_.place_like(copy, original);
    if (table_[original.opcode].rules.value == ValueRule::kAsyncStart) own_computation(copy, frame.called);
    result_.push_back(copy), frame.now[id] = copy;
  }

  /// What wraps a group of collectives may be called by one start alone: copies of `body`'s start wrap
  /// copies.
  void own_computation(InstructionId start, ComputationId body) {
    const ComputationId wrapped = called_by(module_[start]);
    const bool is_first = wrapped_.insert(wrapped).second;
    if (callers_[body] > 1 || !is_first) editor_.set_called(start, 0, editor_.clone(wrapped));
  }

  /// "add" of "add.12".
  static std::string_view base_name(std::string_view name) { return name.substr(0, name.find('.')); }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  IdMap<ComputationId, int32_t> callers_;
  ComputationId computation_;
  std::set<InstructionId> waited_for_;
  std::set<ComputationId> wrapped_;          // by starts of opened calls
  IdMap<InstructionId, InstructionId> now_;  // what the instructions of computations that were gone over are
  std::vector<InstructionId> result_;
};

/// A copy into another order of the dimensions.
bool only_reorders(const Module& module, const Instruction& instruction) {
  if (instruction.opcode != Opcode::kCopy || instruction.find(AttrKey::kControlPredecessors) ||
      !instruction.shape->is_array())
    return false;
  const Layout *from = module[instruction.operands[0]].shape->layout, *to = instruction.shape->layout;
  return from && to && !std::ranges::equal(from->minor_to_major, to->minor_to_major);
}

}  // namespace

bool bitcasts_can_be_spelled_out(const Module& module) {
  ShapePool shapes = module.shapes().copy();
  return std::ranges::all_of(module.instructions, [&](const Instruction& instruction) {
    return instruction.opcode != Opcode::kBitcast ||
           ModuleEditor::spelling_of(shapes, module[instruction.operands[0]].shape, instruction.shape)
               .has_value();
  });
}

void spell_out_layouts(ModuleEditor& editor, const OpTable&) {
  Module& module = editor.module();
  drop_header(module, AttrKey::kIsScheduled);
  for (size_t i = 0; i < module.instructions.size(); ++i) editor.spell_out_bitcast({static_cast<int32_t>(i)});
  for (size_t i = 0; i < module.computations.size(); ++i) {
    const ComputationId computation{static_cast<int32_t>(i)};
    std::set<InstructionId> gone;
    for (const InstructionId id : module[computation].instructions)
      if (only_reorders(module, module[id])) {
        editor.replace_everywhere(computation, id, module[id].operands[0]);
        gone.insert(id);
      }
    std::erase_if(module.computations[computation].instructions,
                  [&](InstructionId id) { return gone.contains(id); });
  }
}

void inline_calls(ModuleEditor& editor, const OpTable& table) {
  if (editor.module().computations.size() > 1) Inliner(editor, table).run();
}

}  // namespace hlosim
