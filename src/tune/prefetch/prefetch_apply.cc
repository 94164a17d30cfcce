// Plans as HLO: memory spaces, asynchronous copies, and where they stand in the schedule.
#include <algorithm>
#include <map>

#include "hlo/graph.h"
#include "hlo/module_reader.h"
#include "hlo/stored_values.h"
#include "memory/module_graph.h"
#include "modules/compact.h"
#include "modules/edit.h"
#include "prefetch/prefetch_model.h"

namespace hlosim {
namespace {

constexpr int64_t kSyncFlagSpace = 2;  // where a copy's context lies

class PlanWriter {
 public:
  PlanWriter(Module& module, const OpTable& table, const PrefetchModel& model, int32_t cross_program)
      : module_(module),
        table_(table),
        model_(model),
        editor_(module),
        cross_program_(cross_program),
        gaps_(model.regions.size()),
        gone_(module.instructions.size()) {
    for (size_t r = 0; r < gaps_.size(); ++r) gaps_[r].resize(model.problem.regions[r].steps.size() + 1);
    for (const Instruction& instruction : module.instructions)
      if (table[instruction.opcode].has(kFusion))
        ++fusions_of_[instruction.find(AttrKey::kCalls)->computations()[0]];
  }

  void write(const std::vector<ValuePlan>& plans) {
    // Before their operands may come from elsewhere.
    for (size_t v = 0; v < plans.size(); ++v)
      if (plans[v].replaced) write_replacement(static_cast<int32_t>(v), plans[v]);
    for (size_t v = 0; v < plans.size(); ++v)
      if (!plans[v].empty() && !plans[v].replaced) write_value(static_cast<int32_t>(v), plans[v]);
    for (size_t r = 0; r < model_.regions.size(); ++r) arrange(r);
    for (size_t c = 0; c < module_.computations.size(); ++c) {
      const ComputationId id{static_cast<int32_t>(c)};
      if (id.index < static_cast<int32_t>(model_.order.size()) && !model_.order[id].empty() &&
          std::find(model_.regions.begin(), model_.regions.end(), id) == model_.regions.end())
        module_.computations[id].instructions = model_.order[id];
    }
    mark_scheduled(module_);
  }

 private:
  struct Start {
    int32_t done = 0;  // gap
    double length = 0;
    InstructionId id;
  };
  struct Gap {
    std::vector<InstructionId> dones, joins;
    std::vector<Start> starts;
  };
  using Slot = PrefetchOrigin::Slot;

  ShapeRef in_space(ShapeRef shape, int64_t space) {
    return module_.shapes().with_memory_space(shape, space);
  }

  void write_value(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = model_.problem.values[static_cast<size_t>(v)];
    const PrefetchOrigin& origin = model_.origins[static_cast<size_t>(v)];
    std::vector<uint8_t> where(value.uses.size(), 0);  // 0: HBM, 1: as made, 2 …: a copy
    if (plan.made_on_chip)
      for (int32_t i = 0; i <= plan.kept_until; ++i) where[static_cast<size_t>(i)] = 1;
    for (size_t c = 0; c < plan.copies.size(); ++c)
      for (int32_t i = plan.copies[c].first; i <= plan.copies[c].last; ++i)
        where[static_cast<size_t>(i)] = static_cast<uint8_t>(c + 2);
    for (size_t i = 0; i < where.size(); ++i)
      if (value.uses[i].bit < 0) where[i] = 0;
    InstructionId in_hbm = origin.sources[0];
    const ShapeRef shape = module_[in_hbm].shape;
    if (plan.made_on_chip) {
      make_on_chip(origin);
      for (size_t i = 0; i < where.size(); ++i)
        if (where[i] == 1)
          for (const Slot& slot : origin.slots[i]) read_from_chip(slot);
    }
    if (plan.evict_done >= 0) {
      in_hbm = copy(value.region, in_hbm, shape, kDefaultMemorySpace, plan.evict_start, plan.evict_done,
                    value.copy_out, false);
      for (size_t i = 0; i < where.size(); ++i)
        if (where[i] == 0) redirect(origin, i, in_hbm);
    }
    for (size_t c = 0; c < plan.copies.size(); ++c) {
      const PlannedCopy& planned = plan.copies[c];
      const int32_t done = value.uses[static_cast<size_t>(planned.first)].position;
      const InstructionId there = planned.second >= 0
                                      ? copy_halves(v, in_hbm, shape, planned, done)
                                      : copy(value.region, in_hbm, shape, model_.chip.space, planned.start,
                                             done, value.copy_in, v == cross_program_ && c == 0);
      for (size_t i = 0; i < where.size(); ++i) {
        if (where[i] != c + 2) continue;
        redirect(origin, i, there);
        for (const Slot& slot : origin.slots[i]) read_from_chip(slot);
      }
    }
  }

  /// A copy or slice that stood in one step goes on beside others, to the chip.
  void write_replacement(int32_t v, const ValuePlan& plan) {
    const PrefetchValue& value = model_.problem.values[static_cast<size_t>(v)];
    const PrefetchOrigin& origin = model_.origins[static_cast<size_t>(v)];
    const Instruction what = module_[origin.maker];
    const int32_t start = plan.copies[0].start, done = value.uses[0].position;
    const InstructionId there = what.opcode == Opcode::kCopy
                                    ? copy(value.region, what.operands[0], what.shape, model_.chip.space,
                                           start, done, value.copy_in, false)
                                    : asynchronous(value, what, start, done);
    for (size_t i = 0; i < value.uses.size(); ++i) {
      redirect(origin, i, there);
      for (const Slot& slot : origin.slots[i]) read_from_chip(slot);
    }
    std::vector<InstructionId> names = {origin.maker};
    const auto& users = users_in(what.parent);
    for (size_t i = 0; i < names.size(); ++i) {
      gone_[names[i]] = 1;
      for (const InstructionId user : users[names[i]])
        if (module_[user].opcode == Opcode::kBitcast) names.push_back(user);
    }
  }

  /// The instruction in a computation of its own between a start and a done; the done.
  InstructionId asynchronous(const PrefetchValue& value, const Instruction& what, int32_t start,
                             int32_t done) {
    const ComputationId body = editor_.add_computation("async_computation");
    module_.computations[body].is_async_sugar = true;
    std::vector<InstructionId> parameters;
    std::vector<ShapeRef> operands;
    for (const InstructionId operand : what.operands) {
      operands.push_back(module_[operand].shape);
      parameters.push_back(editor_.add_parameter(body, "param", operands.back()));
    }
    std::vector<Attr> own, wrapped;
    for (const Attr& attr : what.attrs) (is_common_attr(attr.key) ? own : wrapped).push_back(attr);
    const ShapeRef to = in_space(what.shape, model_.chip.space);
    const InstructionId root = editor_.add(body, what.opcode, to_text(what.opcode), to, parameters, wrapped);
    module_.computations[body].instructions.push_back(root);
    module_.computations[body].root = root;
    own.push_back(computation_attr(module_, AttrKey::kCalls, body));
    const std::string name(to_text(what.opcode));
    const ShapeRef parts[] = {module_.shapes().tuple(operands), to, context()};
    const InstructionId begin = editor_.add(what.parent, Opcode::kAsyncStart, name + "-start",
                                            module_.shapes().tuple(parts), what.operands, own);
    const InstructionId started[] = {begin};
    const InstructionId end = editor_.add(what.parent, Opcode::kAsyncDone, name + "-done", to, started);
    put_in_gaps(value.region, begin, end, start, done, value.copy_in);
    return end;
  }

  /// A copy pair in its gaps; the done.
  InstructionId copy(int32_t region, InstructionId from, ShapeRef shape, int64_t space, int32_t start,
                     int32_t done, double length, bool cross_program) {
    const ComputationId parent = model_.regions[static_cast<size_t>(region)];
    const ShapeRef to = in_space(shape, space);
    const ShapeRef parts[] = {to, module_[from].shape, context()};
    std::vector<Attr> attrs;
    if (cross_program) attrs.push_back(Attr::make_int(AttrKey::kCrossProgramPrefetchIndex, 0));
    const InstructionId source[] = {from};
    const InstructionId begin =
        editor_.add(parent, Opcode::kCopyStart, "copy-start", module_.shapes().tuple(parts), source, attrs);
    const InstructionId started[] = {begin};
    const InstructionId end = editor_.add(parent, Opcode::kCopyDone, "copy-done", to, started);
    put_in_gaps(region, begin, end, start, done, length);
    return end;
  }

  /// Slices one after the other, joined where they lie.
  InstructionId copy_halves(int32_t v, InstructionId from, ShapeRef shape, const PlannedCopy& planned,
                            int32_t done) {
    const PrefetchValue& value = model_.problem.values[static_cast<size_t>(v)];
    const PrefetchOrigin& origin = model_.origins[static_cast<size_t>(v)];
    const ComputationId parent = model_.regions[static_cast<size_t>(value.region)];
    const int64_t end = shape->dim(origin.cut);
    InstructionId dones[2];
    for (const size_t half : {0, 1}) {
      const int64_t first = half == 0 ? 0 : origin.cut_at, last = half == 0 ? origin.cut_at : end;
      std::vector<int64_t> size(shape->dimensions.begin(), shape->dimensions.end());
      size[static_cast<size_t>(origin.cut)] = last - first;
      const ShapeRef part =
          module_.shapes().with_layout(module_.shapes().with_dimensions(shape, size), shape->layout);
      const ShapeRef to = in_space(part, model_.chip.space);
      const ComputationId slice = slice_computation(module_[from].shape, to, origin.cut, first, last);
      const ShapeRef sources[] = {module_[from].shape};
      const ShapeRef parts[] = {module_.shapes().tuple(sources), to, context()};
      const Attr attrs[] = {computation_attr(module_, AttrKey::kCalls, slice)};
      const InstructionId source[] = {from};
      const InstructionId begin = editor_.add(parent, Opcode::kAsyncStart, "slice-start",
                                              module_.shapes().tuple(parts), source, attrs);
      const InstructionId started[] = {begin};
      dones[half] = editor_.add(parent, Opcode::kAsyncDone, "slice-done", to, started);
      put_in_gaps(value.region, begin, dones[half], half == 0 ? planned.start : planned.second, done,
                  value.halves[half].copy_in);
    }
    const Attr target[] = {
        Attr::make_text(AttrKey::kCustomCallTarget, AttrSyntax::kString, "\"ConcatBitcast\"")};
    const InstructionId joined = editor_.add(parent, Opcode::kCustomCall, "concat-bitcast",
                                             in_space(shape, model_.chip.space), dones, target);
    gaps_[static_cast<size_t>(value.region)][static_cast<size_t>(done)].joins.push_back(joined);
    return joined;
  }

  /// What such a start runs.
  ComputationId slice_computation(ShapeRef from, ShapeRef to, int64_t dimension, int64_t first,
                                  int64_t last) {
    const ComputationId id = editor_.add_computation("async_slice");
    module_.computations[id].is_async_sugar = true;
    const InstructionId operand[] = {editor_.add_parameter(id, "param", from)};
    std::vector<std::vector<int64_t>> bounds;
    for (int64_t d = 0; d < from->rank(); ++d)
      bounds.push_back({d == dimension ? first : 0, d == dimension ? last : from->dim(d), 1});
    const Attr attrs[] = {int_lists_attr(module_, AttrKey::kSlice, AttrSyntax::kSlices, bounds)};
    const InstructionId root = editor_.add(id, Opcode::kSlice, "slice", to, operand, attrs);
    module_.computations[id].instructions.push_back(root);
    module_.computations[id].root = root;
    return id;
  }

  ShapeRef context() {
    const ShapeRef u32 = module_.shapes().scalar(ElementType::kU32);
    return in_space(module_.shapes().with_layout(u32, module_.shapes().default_layout(0)), kSyncFlagSpace);
  }

  void put_in_gaps(int32_t region, InstructionId begin, InstructionId end, int32_t start, int32_t done,
                   double length) {
    std::vector<Gap>& gaps = gaps_[static_cast<size_t>(region)];
    // In the order of the simulator.
    std::vector<Start>& starts = gaps[static_cast<size_t>(start)].starts;
    const auto later = std::find_if(starts.begin(), starts.end(), [&](const Start& other) {
      return done != other.done ? done < other.done : length < other.length;
    });
    starts.insert(later, {done, length, begin});
    gaps[static_cast<size_t>(done)].dones.push_back(end);
  }

  /// Every name of the array is of one on the chip; the fusion that makes it knows.
  void make_on_chip(const PrefetchOrigin& origin) {
    set_element_space(origin.maker, origin.element);
    if (table_[module_[origin.maker].opcode].has(kFusion)) {
      const InstructionId root = module_[own_body(origin.maker)].root;
      set_element_space(root, origin.element);
      if (origin.element >= 0)
        set_element_space(module_[root].operands[static_cast<size_t>(origin.element)], -1);
    }
    std::vector<InstructionId> names = origin.sources;
    const auto& users = users_in(module_[origin.maker].parent);
    for (size_t i = 0; i < names.size(); ++i) {
      set_element_space(names[i], -1);
      for (const InstructionId user : users[names[i]])
        if (module_[user].opcode == Opcode::kBitcast) names.push_back(user);
    }
  }
  void set_element_space(InstructionId id, int64_t element) {
    Instruction& instruction = module_.instructions[id];
    if (element < 0) {
      instruction.shape = in_space(instruction.shape, model_.chip.space);
      return;
    }
    std::vector<ShapeRef> elements(instruction.shape->elements.begin(), instruction.shape->elements.end());
    elements[static_cast<size_t>(element)] =
        in_space(elements[static_cast<size_t>(element)], model_.chip.space);
    instruction.shape = module_.shapes().tuple(elements);
  }
  const Users& users_in(ComputationId id) {
    const auto [place, is_new] = users_.try_emplace(id);
    if (is_new) place->second = users_of(module_, id);
    return place->second;
  }

  /// The operands of use `use` come from `source`, through bitcasts as before.
  void redirect(const PrefetchOrigin& origin, size_t use, InstructionId source) {
    std::map<InstructionId, std::vector<InstructionId>> operands;  // of each user, as they become
    for (const Slot& slot : origin.slots[use]) {
      const auto [at, is_new] = operands.try_emplace(slot.user);
      if (is_new) at->second.assign(module_[slot.user].operands.begin(), module_[slot.user].operands.end());
      InstructionId& operand = at->second[static_cast<size_t>(slot.operand)];
      operand = as_seen(origin, operand, source);
    }
    for (const auto& [user, list] : operands) editor_.set_operands(user, list);
  }
  InstructionId as_seen(const PrefetchOrigin& origin, InstructionId name, InstructionId source) {
    if (std::ranges::count(origin.sources, name) > 0) return source;
    const auto key = std::pair(name, source);
    if (const auto found = seen_.find(key); found != seen_.end()) return found->second;
    const InstructionId operand[] = {as_seen(origin, module_[name].operands[0], source)};
    const ShapeRef shape = in_space(module_[name].shape, module_[source].shape->memory_space());
    const InstructionId id = editor_.add(module_[name].parent, module_[name].opcode, module_[name].name,
                                         shape, operand, module_[name].attrs);
    seen_.emplace(key, id);
    return id;
  }

  /// The parameter of a fusion, and of fusions inside, is on the chip.
  void read_from_chip(const Slot& slot) {
    if (!table_[module_[slot.user].opcode].has(kFusion)) return;
    const ComputationId body = own_body(slot.user);
    if (static_cast<size_t>(slot.operand) >= module_[body].parameters.size()) return;
    const InstructionId parameter = module_[body].parameters[static_cast<size_t>(slot.operand)];
    set_element_space(parameter, -1);
    for (const InstructionId at : std::vector<InstructionId>(module_[body].instructions))
      for (size_t k = 0; k < module_[at].operands.size(); ++k)
        if (module_[at].operands[k] == parameter) read_from_chip({at, static_cast<int32_t>(k)});
  }

  /// Bodies that several fusions share become several.
  ComputationId own_body(InstructionId fusion) {
    const ComputationId body = module_[fusion].find(AttrKey::kCalls)->computations()[0];
    int32_t& count = fusions_of_[body];
    if (count <= 1) return body;
    --count;
    const ComputationId own = editor_.clone(body);
    fusions_of_[own] = 1;
    for (const InstructionId inner : module_[own].instructions)
      if (table_[module_[inner].opcode].has(kFusion))
        ++fusions_of_[module_[inner].find(AttrKey::kCalls)->computations()[0]];
    editor_.set_called(fusion, 0, own);
    return own;
  }

  // ── order ──

  void arrange(size_t region) {
    const ComputationId id = model_.regions[region];
    written_.assign(module_.instructions.size(), 0);
    list_.clear();
    int32_t position = 0;
    const std::vector<int32_t>& steps = model_.problem.regions[region].steps;
    const auto write_gap = [&] {
      const Gap& gap = gaps_[region][static_cast<size_t>(position)];
      for (const InstructionId done : gap.dones) emit(done);
      for (const InstructionId join : gap.joins) emit(join);
      for (const Start& start : gap.starts) emit(start.id);
    };
    write_gap();
    for (const InstructionId at : model_.order[id]) {
      emit(at);
      if (static_cast<size_t>(position) < steps.size() &&
          model_.steps[static_cast<size_t>(steps[static_cast<size_t>(position)])] == at) {
        ++position;
        write_gap();
      }
    }
    module_.computations[id].instructions = list_;
  }

  /// What costs no time may have to come sooner than it stood.
  void emit(InstructionId id) {
    if (static_cast<size_t>(id.index) < gone_.size() && gone_[id]) return;
    uint8_t& written = written_[static_cast<size_t>(id.index)];
    if (written) return;
    written = 1;
    for_each_predecessor(module_[id], [&](InstructionId before) { emit(before); });
    list_.push_back(id);
  }

  Module& module_;
  const OpTable& table_;
  const PrefetchModel& model_;
  ModuleEditor editor_;
  int32_t cross_program_;
  std::vector<std::vector<Gap>> gaps_;
  std::map<ComputationId, int32_t> fusions_of_;
  std::map<ComputationId, Users> users_;
  std::map<std::pair<InstructionId, InstructionId>, InstructionId> seen_;
  IdMap<InstructionId, uint8_t> gone_;  // of those that were there at first
  std::vector<uint8_t> written_;
  std::vector<InstructionId> list_;
};

}  // namespace

Module apply_prefetches(const Module& module, const OpTable& table, const PrefetchModel& model,
                        const std::vector<ValuePlan>& plans, int32_t cross_program) {
  Module copy = module.copy();
  PlanWriter(copy, table, model, cross_program).write(plans);
  return compacted(copy, table);
}

}  // namespace hlosim
