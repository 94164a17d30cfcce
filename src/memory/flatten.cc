#include "memory/live_values.h"

namespace hlosim {
namespace {

class Flattener {
 public:
  Flattener(const Module& module, const OpTable& table,
            const IdMap<ComputationId, std::vector<InstructionId>>& order)
      : module_(module), table_(table), order_(order), seen_(module.computations.size()) {
    schedule_.step_of = IdMap<InstructionId, int32_t>(module.instructions.size(), -1);
    schedule_.span_of = IdMap<ComputationId, FlatSchedule::Range>(module.computations.size());
  }

  FlatSchedule run() {
    open(module_.entry);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::vector<InstructionId>& order = order_[frame.id];
      if (frame.position == order.size()) {
        schedule_.span_of[frame.id].last = now() - 1;
        frames_.pop_back();
        continue;
      }
      const InstructionId id = order[frame.position];
      if (open_next_callee(id)) continue;
      ++frame.position;
      schedule_.step_of[id] = now();
      schedule_.steps.push_back(id);
    }
    return std::move(schedule_);
  }

 private:
  struct Frame {
    ComputationId id;
    size_t position = 0;
  };

  int32_t now() const { return static_cast<int32_t>(schedule_.steps.size()); }

  void open(ComputationId id) {
    seen_[id] = true;
    schedule_.span_of[id].first = now();
    frames_.push_back({id, 0});
  }

  bool open_next_callee(InstructionId id) {
    const OpDef& def = table_[module_[id].opcode];
    if (!def.has(kCallsInline) && !def.has(kAsyncStart)) return false;
    ComputationId next;
    // A loop names its condition first or last; it runs first.
    if (const Attr* condition = module_[id].find(AttrKey::kCondition);
        condition && !seen_[condition->computations()[0]])
      next = condition->computations()[0];
    for_each_called(module_[id], [&](ComputationId callee) {
      if (!next.valid() && !seen_[callee] && !order_[callee].empty()) next = callee;
    });
    if (!next.valid()) return false;
    open(next);
    return true;
  }

  const Module& module_;
  const OpTable& table_;
  const IdMap<ComputationId, std::vector<InstructionId>>& order_;
  IdMap<ComputationId, uint8_t> seen_;
  FlatSchedule schedule_;
  std::vector<Frame> frames_;
};

}  // namespace

FlatSchedule flatten(const Module& module, const OpTable& table,
                     const IdMap<ComputationId, std::vector<InstructionId>>& order) {
  return Flattener(module, table, order).run();
}

}  // namespace hlosim
