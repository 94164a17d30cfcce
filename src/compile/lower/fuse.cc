#include "lower/fuse.h"

#include <algorithm>
#include <unordered_map>

#include "hlo/same_content.h"
#include "hlo/stored_values.h"
#include "lower/fusions/fusion_plan.h"
#include "lower/roundings.h"

namespace hlosim {
namespace {

/// Writes the fusions of a plan into the module.
class FusionWriter {
 public:
  explicit FusionWriter(ModuleEditor& editor) : editor_(editor), module_(editor.module()) {}

  void write(ComputationId id, const FusionPlan& plan) {
    computation_ = id;
    make_room(plan);
    value_.resize(module_.instructions.size());
    inside_.resize(module_.instructions.size());
    fusion_of_.resize(module_.instructions.size());
    result_.clear();
    for (const FusionGroup& group : plan.groups) {
      if (group.members.size() == 1)
        put_alone(group.members[0]);
      else
        put_fusion(group);
    }
    const InstructionId root = stored(module_[id].root);
    Computation& computation = module_.computations[id];
    computation.root = root;
    computation.instructions = std::move(result_);
  }

 private:
  /// For what the fusions of a large plan copy, at once.
  void make_room(const FusionPlan& plan) {
    size_t copied = 0;
    for (const FusionGroup& group : plan.groups)
      if (group.members.size() > 1) copied += group.members.size() + 1;
    const size_t now = module_.instructions.size();
    if (copied > now / 2) module_.instructions.reserve(now + copied + copied / 8);
  }

  void put_alone(InstructionId id) {
    std::vector<InstructionId> operands;
    for (const InstructionId operand : module_[id].operands) operands.push_back(stored(operand));
    editor_.set_operands(id, operands);
    if (const Attr* before = module_[id].find(AttrKey::kControlPredecessors)) {
      std::vector<InstructionId> predecessors;
      for (const InstructionId predecessor : before->instructions())
        predecessors.push_back(stored(predecessor));
      editor_.set_attr(id, Attr::make_list(AttrKey::kControlPredecessors, before->syntax,
                                           module_.arena().copy(predecessors)));
    }
    value_[id] = id;
    result_.push_back(id);
  }

  /// A scalar constant stands wherever it is needed.
  InstructionId stored(InstructionId id) {
    if (!value_[id].valid()) {
      HLOSIM_CHECK(module_[id].literal, "{} is not stored", module_[id].name);
      value_[id] = id;
      result_.push_back(id);
    }
    return value_[id];
  }

  void put_fusion(const FusionGroup& group) {
    const ComputationId body = editor_.add_computation("fused_computation");
    module_.computations[body].execution_thread = module_[computation_].execution_thread;
    std::vector<InstructionId> operands;
    for (const InstructionId member : group.members) fusion_of_[member] = body;
    for (const InstructionId member : group.members)
      for (const InstructionId operand : module_[member].operands) {
        if (fusion_of_[operand] == body) continue;
        fusion_of_[operand] = body;
        inside_[operand] = editor_.add_parameter(body, "param", module_[operand].shape);
        editor_.place_like(inside_[operand], module_[operand]);
        operands.push_back(stored(operand));
      }
    std::vector<InstructionId> list = module_[body].instructions, mapped;
    list.reserve(list.size() + group.members.size());
    for (const InstructionId member : group.members) {
      mapped.clear();
      for (const InstructionId operand : module_[member].operands) mapped.push_back(inside_[operand]);
      const Instruction original = module_[member];
      const InstructionId copy = editor_.add(body, original.opcode, base_name(original.name), original.shape,
                                             mapped, original.attrs);
      module_.instructions[copy].literal = original.literal;
      editor_.place_like(copy, original);
      inside_[member] = copy;
      list.push_back(copy);
    }
    InstructionId root = inside_[group.outputs[0]];
    if (group.outputs.size() > 1) {
      std::vector<InstructionId> elements;
      std::vector<ShapeRef> shapes;
      for (const InstructionId output : group.outputs)
        elements.push_back(inside_[output]), shapes.push_back(module_[output].shape);
      root = editor_.add(body, Opcode::kTuple, "tuple", module_.shapes().tuple(shapes), elements);
      list.push_back(root);
    }
    module_.computations[body].root = root;
    module_.computations[body].instructions = std::move(list);
    put_call(group, body, operands);
  }

  void put_call(const FusionGroup& group, ComputationId body, const std::vector<InstructionId>& operands) {
    std::vector<Attr> attrs = {Attr::make_text(AttrKey::kKind, AttrSyntax::kWord, group.kind),
                               computation_attr(module_, AttrKey::kCalls, body)};
    if (const Attr* metadata = module_[group.outputs[0]].find(AttrKey::kMetadata)) attrs.push_back(*metadata);
    const ShapeRef shape = module_[module_[body].root].shape;
    const InstructionId call = editor_.add(computation_, Opcode::kFusion, "fusion", shape, operands, attrs);
    editor_.place_like(call, module_[group.outputs[0]]);
    result_.push_back(call);
    if (group.outputs.size() == 1) {
      value_[group.outputs[0]] = call;
      return;
    }
    for (size_t i = 0; i < group.outputs.size(); ++i) {
      const InstructionId from[] = {call};
      const Attr index[] = {Attr::make_int(AttrKey::kIndex, static_cast<int64_t>(i))};
      const InstructionId element = editor_.add(computation_, Opcode::kGetTupleElement, "get-tuple-element",
                                                module_[group.outputs[i]].shape, from, index);
      editor_.place_like(element, module_[group.outputs[i]]);
      result_.push_back(element);
      value_[group.outputs[i]] = element;
    }
  }

  /// "add" of "add.12".
  static std::string_view base_name(std::string_view name) { return name.substr(0, name.find('.')); }

  ModuleEditor& editor_;
  Module& module_;
  ComputationId computation_;
  // Of all instructions of before, whatever their computation:
  IdMap<InstructionId, InstructionId> value_;      // what stands for it
  IdMap<InstructionId, ComputationId> fusion_of_;  // the last fusion that computes or takes it
  IdMap<InstructionId, InstructionId> inside_;     // what it is there
  std::vector<InstructionId> result_;
};

}  // namespace

namespace {

/// Plans of computations with the same content, found once: models repeat their blocks.
class Plans {
 public:
  Plans(Module& module, const OpTable& table, const DeviceConfig& device, const Room& vmem)
      : module_(module),
        table_(table),
        device_(device),
        vmem_(vmem),
        contents_(module, IdMap<ComputationId, uint8_t>(module.computations.size(), 1)) {}

  FusionPlan plan(ComputationId id) {
    const int32_t number = contents_[id];
    if (number < 0) return plan_fusions(module_, table_, device_, vmem_, id);
    const auto [known, is_new] = known_.try_emplace(number);
    if (!is_new) return placed(known->second, id);
    FusionPlan plan = plan_fusions(module_, table_, device_, vmem_, id);
    known->second = {plan, module_[id].instructions};
    return plan;
  }

 private:
  struct Known {
    FusionPlan plan;
    std::vector<InstructionId> list;  // its computation's, as it was
  };

  /// The plan for another computation with the same content.
  FusionPlan placed(const Known& known, ComputationId id) const {
    const std::vector<InstructionId>& list = module_[id].instructions;
    std::unordered_map<InstructionId, InstructionId> there;
    there.reserve(list.size());
    for (size_t i = 0; i < list.size(); ++i) there.emplace(known.list[i], list[i]);
    FusionPlan plan = known.plan;
    for (FusionGroup& group : plan.groups)
      for (std::vector<InstructionId>* ids : {&group.members, &group.outputs})
        for (InstructionId& one : *ids) one = there.at(one);
    return plan;
  }

  Module& module_;
  const OpTable& table_;
  const DeviceConfig& device_;
  const Room vmem_;
  const ContentNumbers contents_;
  std::unordered_map<int32_t, Known> known_;  // by number
};

}  // namespace

void fuse(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device, RoomNeeds& needs) {
  drop_roundings(editor, table, device);
  FusionWriter writer(editor);
  Plans plans(editor.module(), table, device, needs.vmem(device));
  for (const FlowComputation& flow : flow_computations(editor.module(), table))
    if (!flow.is_condition) writer.write(flow.id, plans.plan(flow.id));
}

}  // namespace hlosim
