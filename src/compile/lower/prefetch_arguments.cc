#include "lower/prefetch_arguments.h"

#include <algorithm>
#include <map>
#include <set>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "lower/on_chip.h"
#include "model/instruction_cost.h"
#include "model/memory_system.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

/// A copy to make, begun just before step `begin` and there before step `use`.
struct Prefetch {
  struct Reader {
    InstructionId kernel;
    size_t operand = 0;
  };
  std::vector<Reader> readers;
  size_t begin = 0, use = 0;
};

class Prefetcher {
 public:
  Prefetcher(ModuleEditor& editor, const OpTable& table, const Device& device, OnChip home,
             const InstructionCosts& costs, RoomNeeds& needs)
      : editor_(editor),
        module_(editor.module()),
        table_(table),
        memory_(device.config),
        home_(home),
        costs_(costs),
        needs_(needs),
        callers_(caller_counts(module_)) {}

  void run(ComputationId entry, int64_t room) {
    whole_ = room;
    room_ = room_in_loops(module_, home_.space, room);
    plan_and_write(entry);
  }

 private:
  /// Returns how much of the home is taken at most. A body is planned once, however many loops have it.
  int64_t plan_and_write(ComputationId id) {
    if (const auto done = taken_in_.find(id); done != taken_in_.end()) return done->second;
    std::map<InstructionId, int64_t> inside;  // what loops hold besides their tuples
    for (const InstructionId at : std::vector<InstructionId>(module_[id].instructions))
      if (const Attr* body = module_[at].find(AttrKey::kBody))
        inside[at] = plan_and_write(body->computations()[0]);
    const int64_t budget = room_.at(id);
    order_ = module_[id].instructions;
    fetched_.clear();
    copy_of_.clear();
    measure(id, inside);
    std::vector<Prefetch> plan;
    for (const InstructionId value : order_)
      if (may_fetch(id, value)) plan_for_readers(value, users_[value], budget, plan);
    for (size_t i = 1; i < order_.size(); ++i)
      if (is_kernel(order_[i])) plan_for(id, i, budget, plan);
    const int64_t most = taken_.empty() ? 0 : *std::max_element(taken_.begin(), taken_.end());
    write(id, plan);
    taken_in_[id] = most;
    return most;
  }

  bool is_fusion(InstructionId id) const { return table_[module_[id].opcode].has(kFusion); }
  bool is_kernel(InstructionId id) const {
    const FusionRole role = fusion_role(table_, module_[id]);
    return is_fusion(id) || (role != FusionRole::kNone && role != FusionRole::kCopy && !module_[id].literal);
  }

  /// Bytes taken and time that HBM is idle, step by step.
  void measure(ComputationId id, const std::map<InstructionId, int64_t>& inside) {
    users_ = users_of(module_, id);
    step_.resize(module_.instructions.size());
    for (size_t i = 0; i < order_.size(); ++i) step_[order_[i]] = i;
    taken_.assign(order_.size(), 0);
    idle_.assign(order_.size(), 0);
    for (size_t i = 0; i < order_.size(); ++i) {
      const InstructionId at = order_[i];
      size_t last = i;
      for (const InstructionId user : users_[at]) last = std::max(last, step_[user]);
      const int64_t bytes = module_[at].find(AttrKey::kIndex) ? 0 : bytes_in(module_[at].shape, home_.space);
      const size_t end = bytes > 0 ? last_use(at, last) : 0;
      for (size_t k = i; bytes > 0 && k <= end; ++k) taken_[k] += bytes;
      if (const auto found = inside.find(at); found != inside.end()) taken_[i] += found->second;
      const InstructionCost& cost = costs_[at];
      const int64_t busy = cost.busy[index_of(memory_.unit_of(memory_.hbm()))].count();
      idle_[i] = std::max<int64_t>(0, cost.time().count() - busy);
    }
  }

  /// Where the last use is, of elements of a tuple too.
  size_t last_use(InstructionId id, size_t last) const {
    if (!module_[id].shape->is_tuple()) return last;
    for (const InstructionId element : users_[id])
      for (const InstructionId user : users_[element]) last = std::max(last, step_[user]);
    return last;
  }

  /// An argument in HBM, or an element of what the body of a loop carries.
  bool may_fetch(ComputationId id, InstructionId value) const {
    const Instruction& instruction = module_[value];
    const bool argument =
        instruction.parameter_number >= 0 ||
        (is_tuple_element(instruction) && module_[instruction.operands[0]].parameter_number >= 0);
    return argument && instruction.shape->is_array() && instruction.shape->rank() > 0 &&
           instruction.shape->memory_space() == kDefaultMemorySpace && id.valid();
  }

  /// The kernel reads all of it, and not to change it; it may be told where that lies.
  bool reads_whole(InstructionId kernel, size_t operand) {
    if (!is_fusion(kernel)) return fusion_role(table_, module_[kernel]) != FusionRole::kPart;
    const ComputationId body = module_[kernel].find(AttrKey::kCalls)->computations()[0];
    if (callers_[body] > 1 || operand >= module_[body].parameters.size()) return false;
    look_into(body);
    return reads_whole_[operand];
  }

  /// Time that HBM takes to hand out so many bytes.
  int64_t time_of(int64_t bytes) const {
    Traffic traffic;
    traffic.read = Bytes(bytes);
    return memory_.busy(memory_.hbm(), traffic).count();
  }

  /// Requires: it fits.
  void take(size_t first, size_t last, int64_t bytes, int64_t budget) {
    for (size_t i = first; i <= last; ++i) {
      taken_[i] += bytes;
      needs_.needs(home_.space, taken_[i] + (whole_ - budget));
    }
  }

  /// Takes `need` of what the kernels before `use` leave, back to `begin`.
  void take_idle(size_t begin, size_t use, int64_t need) {
    for (size_t i = use; i-- > begin && need > 0;) {
      const int64_t takes = std::min(idle_[i], need);
      idle_[i] -= takes;
      need -= takes;
    }
  }

  /// The first step from which on HBM is idle long enough before `use` and there is room, if any; else the
  /// nearest to it.
  size_t begin_for(size_t use, int64_t bytes, int64_t budget, int64_t& found) const {
    const int64_t need = time_of(bytes);
    size_t begin = use;
    while (begin > 0 && found < need && !module_[order_[begin - 1]].find(AttrKey::kBody) &&
           taken_[begin - 1] + bytes <= budget)
      found += idle_[--begin];
    return begin;
  }

  bool has_product(InstructionId kernel) {
    if (!is_fusion(kernel)) return fusion_role(table_, module_[kernel]) == FusionRole::kProduct;
    look_into(module_[kernel].find(AttrKey::kCalls)->computations()[0]);
    return body_has_product_;
  }

  /// What is asked of the body for each of its parameters.
  void look_into(ComputationId body) {
    if (body == body_) return;
    body_ = body;
    body_has_product_ = false;
    reads_whole_.assign(module_[body].parameters.size(), true);
    for (const InstructionId inner : module_[body].instructions) {
      const Instruction& instruction = module_[inner];
      const FusionRole role = fusion_role(table_, instruction);
      body_has_product_ = body_has_product_ || role == FusionRole::kProduct;
      const bool takes_all = role != FusionRole::kNone &&
                             (role != FusionRole::kPart || instruction.opcode == Opcode::kTranspose);
      if (takes_all) continue;
      for (const InstructionId operand : instruction.operands)
        if (const int64_t number = module_[operand].parameter_number; number >= 0)
          reads_whole_[static_cast<size_t>(number)] = false;
    }
  }

  /// What several products read comes onto the chip once, hidden or not: seen in products of one matrix with
  /// two vectors (v6e). Norms read their argument as often as they need it (v7x).
  void plan_for_readers(InstructionId value, std::span<const InstructionId> users, int64_t budget,
                        std::vector<Prefetch>& plan) {
    if (users.size() < 2) return;
    Prefetch one;
    size_t last = 0;
    for (const InstructionId user : users) {
      const Instruction& kernel = module_[user];
      if (!is_kernel(user)) continue;
      for (size_t k = 0; k < kernel.operands.size(); ++k) {
        if (kernel.operands[k] != value) continue;
        if (!reads_whole(user, k) || !has_product(user)) return;
        if (one.readers.empty()) one.use = step_[user];
        one.readers.push_back({user, k});
        last = step_[user];
      }
    }
    if (one.readers.size() < 2 || last == one.use) return;
    const int64_t bytes = array_size(module_[value].shape).count();
    for (size_t i = one.use; i <= last; ++i)
      if (taken_[i] + bytes > budget) return;
    int64_t found = 0;
    one.begin = begin_for(one.use, bytes, budget, found);
    take_idle(one.begin, one.use, found);
    take(one.begin, last, bytes, budget);
    fetched_.insert(value);
    plan.push_back(std::move(one));
  }

  void plan_for(ComputationId id, size_t use, int64_t budget, std::vector<Prefetch>& plan) {
    const Instruction kernel = module_[order_[use]];
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
      const InstructionId value = kernel.operands[k];
      if (!may_fetch(id, value) || fetched_.contains(value) || !reads_whole(order_[use], k) ||
          std::ranges::count(kernel.operands, value) != 1)
        continue;
      const int64_t bytes = array_size(module_[value].shape).count();
      const int64_t need = time_of(bytes);
      int64_t found = 0;
      const size_t begin = begin_for(use, bytes, budget, found);
      if (keep_until(value, begin, {order_[use], k}, bytes, budget, plan)) continue;
      if (taken_[use] + bytes > budget) continue;
      const bool hidden = found >= need && begin < use;
      if (!hidden && !(id == module_.entry && saves(order_[use], k, need - found))) continue;
      take_idle(begin, use, need);
      take(begin, use, bytes, budget);
      copy_of_[value] = plan.size();
      plan.push_back({{{order_[use], k}}, begin, use});
    }
  }

  /// The product brings operands in again, as too little of them fits into its blocks, and is faster by more
  /// than `stall` if the smallest of them is on the chip. XLA:TPU's module of an attention for v6e begins
  /// with such a copy, a cross-program prefetch.
  bool saves(InstructionId kernel, size_t operand, int64_t stall) {
    if (!has_product(kernel)) return false;
    const std::span<const InstructionId> operands = module_[kernel].operands;
    const auto size = [&](InstructionId id) { return total_array_size(module_[id].shape).count(); };
    for (const InstructionId other : operands)
      if (module_[other].shape->is_array() && size(other) < size(operands[operand]) &&
          module_[other].shape->memory_space() == kDefaultMemorySpace && module_[other].shape->rank() > 1)
        return false;
    const InstructionCost& cost = costs_[kernel];
    Bytes moved{};
    for (const Traffic& traffic : cost.traffic) add_bytes(moved, traffic.total());
    const int64_t again = time_of((moved - cost.padded_bytes).count());
    UnitTimes busy = cost.busy;
    Picoseconds& hbm = busy[index_of(memory_.unit_of(memory_.hbm()))];
    hbm = Picoseconds(std::max<int64_t>(0, hbm.count() - again));
    const Picoseconds least = *std::max_element(busy.begin(), busy.end());
    return cost.stream.count() - least.count() > stall;
  }

  /// Where another copy would begin while an earlier kernel still has one, that one stays for `reader`, if
  /// there is room: a softmax has one copy for its sum and its quotient (XLA:TPU's module of one for v6e).
  bool keep_until(InstructionId value, size_t begin, Prefetch::Reader reader, int64_t bytes, int64_t budget,
                  std::vector<Prefetch>& plan) {
    const auto found = copy_of_.find(value);
    if (found == copy_of_.end()) return false;
    Prefetch& one = plan[found->second];
    const size_t last = step_[one.readers.back().kernel], use = step_[reader.kernel];
    if (begin > last) return false;
    for (size_t i = last + 1; i <= use; ++i)
      if (taken_[i] + bytes > budget) return false;
    // With less room the other copy would begin later.
    for (size_t i = begin; i <= last; ++i) needs_.needs(home_.space, taken_[i] + bytes + (whole_ - budget));
    take(last + 1, use, bytes, budget);
    one.readers.push_back(reader);
    return true;
  }

  void write(ComputationId id, const std::vector<Prefetch>& plan) {
    std::vector<std::vector<InstructionId>> starts(order_.size()), dones(order_.size());
    for (const Prefetch& one : plan) {
      const InstructionId value = module_[one.readers[0].kernel].operands[one.readers[0].operand];
      const ShapeRef from = module_[value].shape, to = module_.shapes().with_memory_space(from, home_.space);
      const ShapeRef context = module_.shapes().with_memory_space(
          module_.shapes().with_default_layouts(module_.shapes().scalar(ElementType::kU32)), kSyncSpace);
      const ShapeRef parts[] = {to, from, context};
      const InstructionId source[] = {value};
      starts[one.begin].push_back(
          editor_.add(id, Opcode::kCopyStart, "copy-start", module_.shapes().tuple(parts), source));
      const InstructionId begun[] = {starts[one.begin].back()};
      const InstructionId done = editor_.add(id, Opcode::kCopyDone, "copy-done", to, begun);
      dones[one.use].push_back(done);
      for (const Prefetch::Reader& reader : one.readers) {
        editor_.set_operand(reader.kernel, reader.operand, done);
        if (!is_fusion(reader.kernel)) continue;
        const ComputationId body = module_[reader.kernel].find(AttrKey::kCalls)->computations()[0];
        module_.instructions[module_[body].parameters[reader.operand]].shape = to;
      }
    }
    std::vector<InstructionId> list;
    // Arguments first: a copy may begin before the text names its source.
    for (const InstructionId at : order_)
      if (is_source(at)) list.push_back(at);
    for (size_t i = 0; i < order_.size(); ++i) {
      list.insert(list.end(), starts[i].begin(), starts[i].end());
      list.insert(list.end(), dones[i].begin(), dones[i].end());
      if (!is_source(order_[i])) list.push_back(order_[i]);
    }
    module_.computations[id].instructions = std::move(list);
  }
  bool is_source(InstructionId id) const {
    const Instruction& instruction = module_[id];
    return !instruction.find(AttrKey::kControlPredecessors) &&
           (instruction.parameter_number >= 0 ||
            (is_tuple_element(instruction) && module_[instruction.operands[0]].parameter_number >= 0));
  }

  static constexpr int64_t kSyncSpace = 2;  // where XLA:TPU keeps the flags of copies

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  MemorySystem memory_;
  OnChip home_;
  const InstructionCosts& costs_;
  RoomNeeds& needs_;
  int64_t whole_ = 0;  // room of the entry
  const IdMap<ComputationId, int32_t> callers_;
  std::map<ComputationId, int64_t> room_, taken_in_;  // bytes
  std::vector<InstructionId> order_;
  Users users_;                        // of the computation at hand
  IdMap<InstructionId, size_t> step_;  // of its instructions, and of others
  ComputationId body_;                 // of the fusion that was looked at last
  bool body_has_product_ = false;
  std::vector<bool> reads_whole_;      // by parameter
  std::vector<int64_t> taken_, idle_;  // bytes; picoseconds
  std::set<InstructionId> fetched_;
  std::map<InstructionId, size_t> copy_of_;  // the last one in the plan
};

/// The cost of a kernel that a custom call names may depend on how much VMEM there is.
bool has_custom_calls(const Module& module) {
  return std::ranges::any_of(module.instructions, [](const Instruction& instruction) {
    return instruction.find(AttrKey::kCustomCallTarget) != nullptr;
  });
}

}  // namespace

void prefetch_arguments(ModuleEditor& editor, const OpTable& table, const Device& device, RoomNeeds& needs) {
  Module& module = editor.module();
  const OnChip home = needs.home(device.config);
  if (home.room() == 0) return;
  if (has_custom_calls(module)) needs.needs_all();
  AssumptionList assumptions;
  const Result<InstructionCosts> costs = cost_instructions(module, table, device, {}, assumptions);
  if (!costs) return;
  Prefetcher(editor, table, device, home, *costs, needs).run(module.entry, home.room());
  mark_scheduled(module);
}

}  // namespace hlosim
