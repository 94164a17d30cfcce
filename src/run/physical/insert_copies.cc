// Copies wherever values that have to share memory are needed at the same time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hlo/module_editor.h"
#include "ops/dataflow.h"
#include "physical/prepare.h"

namespace hlosim {
namespace {

using Index = std::vector<int64_t>;

ValueRule rule_of(const Module& module, InstructionId id) { return dataflow(module[id].opcode).value; }

int64_t memory_space(ShapeRef shape) { return shape->layout ? shape->layout->memory_space : 0; }

class CopyInserter {
 public:
  CopyInserter(Module& module, const OpTable& table) : module_(module), table_(table), editor_(module) {}

  void run() {
    copy_donated();
    for (const ComputationId id : reachable())
      for (const InstructionId instruction : std::vector<InstructionId>(module_[id].instructions)) {
        if (rule_of(module_, instruction) == ValueRule::kLoop) copy_state(instruction);
        if (rule_of(module_, instruction) == ValueRule::kConditional) copy_branch_results(instruction);
      }
    const std::vector<ComputationId> all = reachable();
    for (const ComputationId id : all) list_users(id);
    for (const ComputationId id : all)
      for (const InstructionId instruction : std::vector<InstructionId>(module_[id].instructions))
        copy_updated(instruction);
    for (const ComputationId id : edited_) editor_.sort(id);
  }

 private:
  std::vector<ComputationId> reachable() const {
    std::vector<ComputationId> found = {module_.entry};
    std::set<ComputationId> seen = {module_.entry};
    for (size_t i = 0; i < found.size(); ++i)
      for (const InstructionId id : module_[found[i]].instructions)
        if (dataflow(module_[id].opcode).call == CallRule::kControlFlow)
          for (const ComputationId called : called_in_order(module_[id]))
            if (seen.insert(called).second) found.push_back(called);
    return found;
  }

  struct Source {
    InstructionId instruction;
    Index index;
    bool operator==(const Source&) const = default;
  };

  /// Back through tuples and their elements.
  Source resolve(InstructionId id, Index index) const {
    while (true) {
      const Instruction& instruction = module_[id];
      const ValueRule rule = rule_of(module_, id);
      if (rule == ValueRule::kTuple && !index.empty()) {
        id = instruction.operands[static_cast<size_t>(index.front())];
        index.erase(index.begin());
      } else if (rule == ValueRule::kElement) {
        index.insert(index.begin(), instruction.find(AttrKey::kIndex)->integer());
        id = instruction.operands[0];
      } else {
        return {id, index};
      }
    }
  }

  /// The same value, each array inside taken from `leaf(element, index)`.
  template <class F>
  InstructionId rebuild(InstructionId id, Index& index, F&& leaf) {
    edited_.insert(module_[id].parent);
    const ShapeRef shape = module_[id].shape;
    if (!shape->is_tuple()) return shape->is_array() ? leaf(id, index) : id;
    std::vector<InstructionId> elements;
    for (size_t i = 0; i < shape->elements.size(); ++i) {
      index.push_back(static_cast<int64_t>(i));
      elements.push_back(rebuild(editor_.element(id, index.back()), index, leaf));
      index.pop_back();
    }
    return editor_.tuple(id, elements);
  }

  /// Copies of what `wanted(index)` says of a parameter, at the start; all others read those.
  std::unordered_map<std::string, InstructionId> copy_parameter(
      InstructionId parameter, const std::function<bool(const Index&)>& wanted) {
    const ComputationId parent = module_[parameter].parent;
    const std::vector<InstructionId> others = module_[parent].instructions;
    std::unordered_map<std::string, InstructionId> copies;
    Index index;
    const InstructionId now = rebuild(parameter, index, [&](InstructionId leaf, const Index& at) {
      if (!wanted(at)) return leaf;
      return copies[text(at)] = editor_.copy(leaf, module_[leaf].shape);
    });
    for (const InstructionId user : others)
      if (std::ranges::count(module_[user].operands, parameter) > 0)
        editor_.replace_operand(user, parameter, now);
    if (module_[parent].root == parameter) module_.computations[parent].root = now;
    return copies;
  }

  static std::string text(const Index& index) { return fmt::format("{}", fmt::join(index, ",")); }

  /// A copy of `leaf` to lie where `wanted` says; of other types or dimensions, where it lies itself.
  ShapeRef copied_shape(InstructionId leaf, ShapeRef wanted) const {
    const ShapeRef own = module_[leaf].shape;
    return wanted && wanted->is_array() && compatible(own, wanted) && wanted->is_static() ? wanted : own;
  }

  /// The root gives copies, each made after what stands for it in `after`.
  void copy_root(ComputationId id, ShapeRef wanted_shape, const std::function<bool(const Index&)>& wanted,
                 const std::unordered_map<std::string, InstructionId>& after) {
    Index index;
    module_.computations[id].root =
        rebuild(module_[id].root, index, [&](InstructionId leaf, const Index& at) {
          if (!wanted(at)) return leaf;
          const InstructionId made = editor_.copy(leaf, copied_shape(leaf, subshape(wanted_shape, at)));
          if (const auto found = after.find(text(at)); found != after.end())
            editor_.add_control_predecessor(made, found->second);
          return made;
        });
  }

  void copy_state(InstructionId loop) {
    const ComputationId body = loop_body(module_[loop]);
    const InstructionId parameter = module_[body].parameters[0], root = module_[body].root;
    const ShapeRef state = module_[parameter].shape;
    std::set<Index> changed;
    Index index;
    for_each_array(state, index, [&](const Index& at) {
      const Source source = resolve(root, at);
      // What is still under way goes round as it is.
      const bool is_under_way = table_[module_[source.instruction].opcode].has(kAsyncStart | kAsyncUpdate);
      if (source != Source{parameter, at} && !is_under_way) changed.insert(at);
    });
    const auto is_changed = [&](const Index& at) { return changed.contains(at); };
    const InstructionId start =
        rebuild(module_[loop].operands[0], index, [&](InstructionId leaf, const Index& at) {
          return is_changed(at) ? editor_.copy(leaf, copied_shape(leaf, subshape(state, at))) : leaf;
        });
    editor_.set_operand(loop, 0, start);
    copy_root(body, state, is_changed, copy_parameter(parameter, is_changed));
  }

  void copy_branch_results(InstructionId conditional) {
    for (const ComputationId branch : called_in_order(module_[conditional]))
      copy_root(branch, module_[conditional].shape, [](const Index&) { return true; }, {});
  }

  void copy_donated() {
    const Attr* attr = module_.find(AttrKey::kInputOutputAlias);
    if (!attr) return;
    const Computation entry = module_.entry_computation();
    std::set<Index> outputs;
    std::unordered_map<std::string, InstructionId> after;
    for (const Alias& alias : attr->aliases()) {
      const InstructionId parameter = entry.parameters[static_cast<size_t>(alias.parameter)];
      const Index from(alias.parameter_index.begin(), alias.parameter_index.end());
      const Index to(alias.output_index.begin(), alias.output_index.end());
      if (resolve(module_[module_.entry].root, to) == Source{parameter, from}) continue;
      const auto copies = copy_parameter(parameter, [&](const Index& at) { return at == from; });
      if (const auto copy = copies.find(text(from)); copy != copies.end()) after[text(to)] = copy->second;
      outputs.insert(to);
    }
    if (!outputs.empty())
      copy_root(
          module_.entry, module_.root(module_.entry).shape,
          [&](const Index& at) { return outputs.contains(at); }, after);
  }

  template <class F>
  static void for_each_array(ShapeRef shape, Index& index, F&& f) {
    if (shape->is_array()) f(index);
    if (!shape->is_tuple()) return;
    for (size_t i = 0; i < shape->elements.size(); ++i) {
      index.push_back(static_cast<int64_t>(i));
      for_each_array(shape->elements[i], index, f);
      index.pop_back();
    }
  }

  // ── updates in place ──────────────────────────────────────────
  void list_users(ComputationId id) {
    users_.resize(module_.instructions.size());
    for (const InstructionId instruction : module_[id].instructions)
      for (const InstructionId operand : module_[instruction].operands)
        users_[operand].push_back(instruction);
  }

  /// How often what `id` gives at `index` is read; results count as twice.
  int64_t count_reads(InstructionId id, const Index& index, int depth = 0) const {
    if (depth > 64 || module_[module_[id].parent].root == id) return 2;
    int64_t reads = 0;
    InstructionId last;
    for (const InstructionId user : users_[id]) {
      const ValueRule rule = rule_of(module_, user);
      if (rule == ValueRule::kTuple) {
        if (user == last) continue;
        for (size_t i = 0; i < module_[user].operands.size(); ++i) {
          if (module_[user].operands[i] != id) continue;
          Index inside = index;
          inside.insert(inside.begin(), static_cast<int64_t>(i));
          reads += count_reads(user, inside, depth + 1);
        }
      } else if (rule == ValueRule::kElement && !index.empty()) {
        if (module_[user].find(AttrKey::kIndex)->integer() == index[0])
          reads += count_reads(user, Index(index.begin() + 1, index.end()), depth + 1);
      } else {
        ++reads;
      }
      last = user;
    }
    return reads;
  }

  bool is_last_reader_of_own_memory(InstructionId operand, const Index& index) const {
    const Source source = resolve(operand, index);
    const ValueRule rule = rule_of(module_, source.instruction);
    const bool makes =
        rule == ValueRule::kMakesAll || (rule == ValueRule::kShallowCopy && source.index.empty());
    if (!makes || dataflow(module_[source.instruction].opcode).is_constant) return false;
    return count_reads(source.instruction, source.index) == 1;
  }

  void copy_updated(InstructionId id) {
    for (const InPlacePair& pair : in_place_pairs(module_, module_[id])) {
      const auto number = static_cast<size_t>(pair.operand);
      const InstructionId operand = module_[id].operands[number];
      const ShapeRef from = subshape(module_[operand].shape, pair.operand_index);
      const ShapeRef to = subshape(module_[id].shape, pair.output_index);
      if (memory_space(from) == memory_space(to) && is_last_reader_of_own_memory(operand, pair.operand_index))
        continue;
      Index index;
      editor_.set_operand(id, number, rebuild(operand, index, [&](InstructionId leaf, const Index& at) {
                            if (at != pair.operand_index) return leaf;
                            return editor_.copy(leaf, copied_shape(leaf, to));
                          }));
      users_.resize(module_.instructions.size());
    }
  }

  Module& module_;
  const OpTable& table_;
  ModuleEditor editor_;
  std::set<ComputationId> edited_;
  IdMap<InstructionId, std::vector<InstructionId>> users_;
};

}  // namespace

void insert_copies(Module& module, const OpTable& table) { CopyInserter(module, table).run(); }

}  // namespace hlosim
