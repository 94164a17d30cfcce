#include "physical/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hlo/graph.h"
#include "memory/own_live_range.h"
#include "ops/dataflow.h"
#include "ops/effects.h"
#include "ops/rewrite.h"

namespace hlosim {
namespace {

using Index = std::vector<int64_t>;

ValueRule rule_of(const Module& module, InstructionId id) { return dataflow(module[id].opcode).value; }

bool is_chain_part(ValueRule rule) {
  return rule == ValueRule::kAsyncUpdate || rule == ValueRule::kAsyncDone;
}

// ── calls ───────────────────────────────────────────────────────

/// A mention of a computation in an instruction.
struct Site {
  InstructionId caller;
  size_t mention = 0;
};

class CallSeparator {
 public:
  explicit CallSeparator(Module& module) : module_(module), editor_(module), sites_(module.computations.size()) {
    for (const Computation& computation : module.computations) note_sites(computation);
  }

  Result<void> run() {
    std::vector<ComputationId> order = callees_first(module_);
    std::reverse(order.begin(), order.end());
    for (const ComputationId id : order) {
      // Callers come first: all mentions are known by now.
      const std::vector<Site> sites = sites_[id];
      const bool is_embedded = std::any_of(sites.begin(), sites.end(),
                                           [&](const Site& site) { return !is_control_flow(site.caller); });
      bool is_taken = is_embedded;
      for (const Site& site : sites) {
        if (!is_control_flow(site.caller)) continue;
        if (!is_taken) {
          is_taken = true;
          continue;
        }
        if (module_.instructions.size() > kMostInstructions)
          return failure(fmt::format("with a computation for each call, module {} has more than {} instructions",
                                     module_.name, kMostInstructions));
        give_own(site, id);
      }
    }
    return {};
  }

 private:
  static constexpr size_t kMostInstructions = 1'000'000;

  bool is_control_flow(InstructionId id) const {
    return dataflow(module_[id].opcode).call == CallRule::kControlFlow;
  }

  void note_sites(const Computation& computation) {
    for (const InstructionId id : computation.instructions) {
      // Updates and dones run what their start names.
      if (is_chain_part(rule_of(module_, id))) continue;
      size_t mention = 0;
      for_each_called(module_[id], [&](ComputationId called) { sites_[called].push_back({id, mention++}); });
    }
  }

  void give_own(const Site& site, ComputationId id) {
    const ComputationId own = editor_.clone(id);
    sites_.resize(module_.computations.size());
    editor_.set_called(site.caller, site.mention, own);
    if (rule_of(module_, site.caller) == ValueRule::kAsyncStart) follow_chain(site.caller, id, own);
    const Computation cloned = module_[own];
    note_sites(cloned);
  }

  void follow_chain(InstructionId part, ComputationId before, ComputationId now) {
    const Computation& computation = module_[module_[part].parent];
    for (const InstructionId user : std::vector<InstructionId>(computation.instructions)) {
      const auto& operands = module_[user].operands;
      if (!is_chain_part(rule_of(module_, user)) || operands.empty() || operands[0] != part) continue;
      size_t mention = 0;
      std::vector<size_t> mentions;
      for_each_called(module_[user], [&](ComputationId called) {
        if (called == before) mentions.push_back(mention);
        ++mention;
      });
      for (const size_t number : mentions) editor_.set_called(user, number, now);
      follow_chain(user, before, now);
    }
  }

  Module& module_;
  ModuleEditor editor_;
  IdMap<ComputationId, std::vector<Site>> sites_;
};

// ── copies ──────────────────────────────────────────────────────

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

  /// Copies of what `wanted(index)` says of a parameter, at the start; everybody else reads those.
  std::unordered_map<std::string, InstructionId> copy_parameter(InstructionId parameter,
                                                                const std::function<bool(const Index&)>& wanted) {
    const ComputationId parent = module_[parameter].parent;
    const std::vector<InstructionId> others = module_[parent].instructions;
    std::unordered_map<std::string, InstructionId> copies;
    Index index;
    const InstructionId now = rebuild(parameter, index, [&](InstructionId leaf, const Index& at) {
      if (!wanted(at)) return leaf;
      return copies[text(at)] = editor_.copy(leaf, module_[leaf].shape);
    });
    for (const InstructionId user : others)
      for (size_t i = 0; i < module_[user].operands.size(); ++i)
        if (module_[user].operands[i] == parameter) editor_.set_operand(user, i, now);
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
    const InstructionId start = rebuild(module_[loop].operands[0], index, [&](InstructionId leaf, const Index& at) {
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
      copy_root(module_.entry, module_.root(module_.entry).shape,
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
      for (const InstructionId operand : module_[instruction].operands) users_[operand].push_back(instruction);
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
    const bool makes = rule == ValueRule::kMakesAll || (rule == ValueRule::kShallowCopy && source.index.empty());
    if (!makes || dataflow(module_[source.instruction].opcode).is_constant) return false;
    return count_reads(source.instruction, source.index) == 1;
  }

  void copy_updated(InstructionId id) {
    for (const InPlacePair& pair : in_place_pairs(module_, module_[id])) {
      const auto number = static_cast<size_t>(pair.operand);
      const InstructionId operand = module_[id].operands[number];
      if (is_last_reader_of_own_memory(operand, pair.operand_index)) continue;
      Index index;
      editor_.set_operand(id, number, rebuild(operand, index, [&](InstructionId leaf, const Index& at) {
                            if (at != pair.operand_index) return leaf;
                            return editor_.copy(leaf, copied_shape(leaf, subshape(module_[id].shape, pair.output_index)));
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

ShapeRef without_splits(ShapePool& shapes, ShapeRef shape) {
  if (shape->is_tuple()) {
    std::vector<ShapeRef> elements;
    for (const ShapeRef element : shape->elements) elements.push_back(without_splits(shapes, element));
    return shapes.tuple(elements);
  }
  if (!shape->is_array() || !shape->layout || shape->layout->splits.empty()) return shape;
  Layout whole = *shape->layout;
  whole.splits = {};
  return shapes.with_layout(shape, shapes.layout(whole));
}

/// There is one memory per space: the pieces of a split array lie in it as one.
void join_pieces(Module& module) {
  for (Instruction& instruction : module.instructions)
    instruction.shape = without_splits(module.shapes(), instruction.shape);
}

/// The native layouts of a device, where the text has none: bitcasts keep what they mean.
void give_tiling(Module& module, const TilingPolicy& policy) {
  ModuleEditor editor(module);
  for (size_t i = 0; i < module.instructions.size(); ++i)
    if (carries_tiles(module[InstructionId{static_cast<int32_t>(i)}].shape)) return;
  for (size_t i = 0; i < module.instructions.size(); ++i) editor.spell_out_bitcast({static_cast<int32_t>(i)});
  std::unordered_map<ShapeRef, ShapeRef> tiled;
  for (Instruction& instruction : module.instructions) {
    ShapeRef& shape = tiled[instruction.shape];
    if (!shape) shape = with_native_tiling(module.shapes(), instruction.shape, policy);
    instruction.shape = shape;
  }
}

}  // namespace

Result<void> separate_calls(Module& module) { return CallSeparator(module).run(); }

void insert_copies(Module& module, const OpTable& table) { CopyInserter(module, table).run(); }

/// Something is written into a buffer while another value in it is still needed: whatever the order of the
/// ranges that follow one another, that can't go well.
std::optional<std::string> missing_copy(const BufferAnalysis& analysis) {
  const std::vector<LiveRange> ranges =
      own_live_ranges(analysis.graph, analysis.places, analysis.values, analysis.schedule);
  const Module& module = analysis.graph.module();
  for (BufferIndex buffer = 0; buffer < analysis.buffers->size(); ++buffer) {
    const std::span<const ValueIndex> members = analysis.buffers->values(buffer);
    if (members.size() < 2) continue;
    for (const ValueIndex written : members) {
      const LiveRange& from = ranges[static_cast<size_t>(written)];
      if (!from.known() || analysis.values[written].is_phi) continue;
      for (const ValueIndex other : members) {
        const LiveRange& range = ranges[static_cast<size_t>(other)];
        if (other == written || !range.known() || range.start > from.start || range.end <= from.start) continue;
        if (range.start == from.start && other > written) continue;
        return fmt::format("{} is written where {} is needed until step {}", module[analysis.definer(written)].name,
                           module[analysis.definer(other)].name, range.end);
      }
    }
  }
  return std::nullopt;
}

void order_effects(Module& module, const OpTable& table) {
  ModuleEditor editor(module);
  const ModuleGraph graph(module);
  for (const ComputationId id : control_flow_of(graph)) {
    InstructionId last;
    for (const InstructionId instruction : module[id].instructions) {
      if (!uses_device_state(module, table, module[instruction])) continue;
      if (last.valid()) editor.add_control_predecessor(instruction, last);
      last = instruction;
    }
  }
}

Result<std::unique_ptr<BufferAnalysis>> prepare_and_place(Module& module, const OpTable& table,
                                                          const PreparationOptions& options) {
  join_pieces(module);
  if (Result<void> separated = separate_calls(module); !separated) return tl::unexpected(separated.error());
  const bool keeps_order = !options.random_order && options.schedule <= ScheduleSource::kText;
  if (!module.is_scheduled() || !keeps_order) {
    order_effects(module, table);
    insert_copies(module, table);
  } else if (const auto analysis = analyse_buffers(module, table, {}); analysis && missing_copy(**analysis)) {
    insert_copies(module, table);
  }
  if (options.native_tiling && !options.random_layouts) give_tiling(module, *options.native_tiling);
  if (options.random_layouts)
    if (Result<void> given = give_random_layouts(module, table, *options.random_layouts); !given)
      return tl::unexpected(given.error());
  BufferOptions buffers;
  buffers.alignment = options.alignment;
  buffers.padded = true;
  buffers.schedule = options.schedule;
  if (options.random_order) {
    give_random_order(module, *options.random_order);
    buffers.schedule = ScheduleSource::kText;
  }
  return analyse_buffers(module, table, buffers);
}

}  // namespace hlosim
