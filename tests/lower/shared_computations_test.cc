// Lowering of loops, fusions, calls and branches that have their computations in common with others.
#include <gtest/gtest.h>

#include <algorithm>

#include "hlo/graph.h"
#include "hlo/module_editor.h"
#include "lower/lower.h"
#include "modules/compact.h"
#include "modules/edit.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// Everything in the entry that calls computations a second time, on parameters of its own and, loops, a
/// third time on the result of the first.
class Twins {
 public:
  explicit Twins(const Module& given) : module_(given.copy()), editor_(module_) {}

  Module make() {
    const ComputationId entry = module_.entry;
    const std::vector<InstructionId> order = module_[entry].instructions;
    std::vector<InstructionId> results{module_[entry].root}, list;
    for (const InstructionId id : order) {
      bool calls = false;
      for_each_called(module_[id], [&](ComputationId) { calls = true; });
      list.push_back(id);
      if (!calls || module_[id].find(AttrKey::kControlPredecessors) ||
          op_table()[module_[id].opcode].has(kCollective | kAsyncStart | kAsyncUpdate | kAsyncDone))
        continue;
      std::vector<InstructionId> operands;
      for (const InstructionId operand : module_[id].operands) operands.push_back(other(operand, list));
      results.push_back(again(id, operands, list));
      if (!module_[id].find(AttrKey::kBody)) continue;
      const InstructionId chained[] = {id};
      results.push_back(again(id, chained, list));
    }
    made_ = results.size() - 1;
    std::vector<ShapeRef> shapes;
    for (const InstructionId id : results) shapes.push_back(module_[id].shape);
    list.push_back(editor_.add(entry, Opcode::kTuple, "results", module_.shapes().tuple(shapes), results));
    module_.computations[entry].root = list.back();
    module_.computations[entry].instructions = list;
    for (const AttrKey key :
         {AttrKey::kEntryComputationLayout, AttrKey::kInputOutputAlias, AttrKey::kBufferDonor,
          AttrKey::kAllowSpmdShardingPropagationToOutput, AttrKey::kAllowSpmdShardingPropagationToParameters})
      drop_header(module_, key);
    return compacted(module_, op_table());
  }
  size_t made() const { return made_; }

 private:
  InstructionId again(InstructionId id, std::span<const InstructionId> operands,
                      std::vector<InstructionId>& list) {
    const Instruction like = module_[id];
    list.push_back(editor_.add(module_.entry, like.opcode, "twin", like.shape, operands, like.attrs));
    return list.back();
  }

  /// Something else of that shape.
  InstructionId other(InstructionId operand, std::vector<InstructionId>& list) {
    if (module_[operand].literal || module_[operand].shape->is_token()) return operand;
    if (!is_tuple(module_[operand])) {
      const ShapeRef shape = module_[operand].shape;
      const InstructionId made = editor_.add_parameter(module_.entry, "other", shape);
      list.push_back(made);
      return made;
    }
    std::vector<InstructionId> elements;
    for (const InstructionId element :
         std::vector<InstructionId>(module_[operand].operands.begin(), module_[operand].operands.end()))
      elements.push_back(other(element, list));
    return again(operand, elements, list);
  }

  Module module_;
  ModuleEditor editor_;
  size_t made_ = 0;
};

/// Who calls a computation and what it calls agree about tiles and memory spaces.
void expect_agreement(const std::string& name, const Module& module) {
  const auto same = [&](InstructionId a, InstructionId b) {
    EXPECT_EQ(to_text(module[a].shape), to_text(module[b].shape))
        << name << ": " << module[a].name << ", " << module[b].name;
  };
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      const Instruction& at = module[id];
      if (const Attr* body = at.find(AttrKey::kBody)) {
        const ComputationId inner = body->computations()[0],
                            condition = at.find(AttrKey::kCondition)->computations()[0];
        for (const InstructionId other : {at.operands[0], module[inner].parameters[0], module[inner].root,
                                          module[condition].parameters[0]})
          same(id, other);
      } else if (op_table()[at.opcode].has(kFusion)) {
        const ComputationId inner = at.find(AttrKey::kCalls)->computations()[0];
        for (size_t i = 0; i < at.operands.size(); ++i) same(at.operands[i], module[inner].parameters[i]);
        same(id, module[inner].root);
      }
    }
}

TEST(LowerSharedComputations, GivesRightModules) {
  constexpr const char* kDevices[] = {"v4", "v5e", "v6e", "v7x"};
  size_t count = 0;
  test::for_each_module(4, [&](const std::string& name, Module& module) {
    if (module.instructions.size() > 2000) return;
    Twins twins(module);
    Module doubled = twins.make();
    DiagnosticList problems;
    if (twins.made() == 0 || !verify(doubled, op_table(), problems) || !is_plain(doubled)) return;
    const char* device_name = kDevices[count++ % std::size(kDevices)];
    const Device device = test::device_or_fail(device_name);
    const std::string what = name + " on " + device_name;
    SCOPED_TRACE(what);
    // By what lower() chooses, and by passes that leave the fusions that are there.
    std::vector<const Pass*> keeping = default_passes();
    std::erase_if(keeping, [](const Pass* one) { return one->name == "inline"; });
    for (const bool keeps_fusions : {false, true}) {
      const Module lowered = keeps_fusions ? run_passes(doubled, keeping, {op_table(), device})
                                           : lower(doubled, op_table(), device);
      EXPECT_EQ(test::difference(lowered, test::read_again(lowered)), "");
      if (keeps_fusions) expect_agreement(what, lowered);
      Module again = test::read_again(lowered);
      DiagnosticList found;
      EXPECT_TRUE(verify(again, op_table(), found)) << test::rendered(found);
    }
  });
  EXPECT_GT(count, 30u);
}

}  // namespace
}  // namespace hlosim
