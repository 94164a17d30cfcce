// What is left of a computation after one walk over it.
#include "modules/list_rewriter.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/own_modules.h"

namespace hlosim {
namespace {

using Visit = std::function<InstructionId(ListRewriter&, InstructionId)>;

/// Runs over all computations; how many of them changed. Afterwards each lists what is needed, no more.
size_t rewrite(const std::string& name, Module& module, const Visit& visit) {
  size_t changed = 0;
  ModuleEditor editor(module);
  for (size_t i = 0; i < module.computations.size(); ++i) {
    const ComputationId id{static_cast<int32_t>(i)};
    const std::vector<InstructionId> before = module[id].instructions;
    ListRewriter rewriter(editor, op_table());
    rewriter.run(id, [&](InstructionId at) { return visit(rewriter, at); });
    EXPECT_EQ(module[id].instructions, needed_instructions(module, op_table(), id))
        << name << " " << module[id].name;
    changed += module[id].instructions != before;
  }
  return changed;
}

bool is_copy(const Instruction& instruction) { return instruction.opcode == Opcode::kCopy; }

TEST(ListRewriter, LeavesWhatIsNeeded) {
  size_t untouched = 0, without_copies = 0, with_more = 0, with_others = 0;
  test::for_each_module(20, [&](const std::string& name, const Module& module) {
    Module same = module.copy(), fewer = module.copy(), more = module.copy(), others = module.copy();
    untouched += rewrite(name, same, [](ListRewriter&, InstructionId at) { return at; });
    // Replaced by what stands before it.
    without_copies += rewrite(name, fewer, [&](ListRewriter& rewriter, InstructionId at) {
      return is_copy(rewriter.module()[at]) ? rewriter.module()[at].operands[0] : at;
    });
    // Replaced by something new, and something new that nobody asks for.
    with_more += rewrite(name, more, [&](ListRewriter& rewriter, InstructionId at) {
      if (!is_copy(rewriter.module()[at])) return at;
      const ShapeRef shape = rewriter.module()[at].shape;
      const InstructionId operand = rewriter.module()[at].operands[0];
      rewriter.add(Opcode::kCopy, shape, {operand});
      return rewriter.add(Opcode::kCopy, shape, {operand});
    });
    // Other operands in place, so that what they were needn't stay.
    with_others += rewrite(name, others, [&](ListRewriter& rewriter, InstructionId at) {
      Module& now = rewriter.module();
      if (now[at].operands.empty() || !is_copy(now[now[at].operands[0]])) return at;
      std::vector<InstructionId> operands(now[at].operands.begin(), now[at].operands.end());
      operands[0] = now[operands[0]].operands[0];
      rewriter.editor().set_operands(at, operands);
      return at;
    });
  });
  EXPECT_GT(without_copies, 5u);
  EXPECT_GT(with_more, 5u);
  EXPECT_GT(with_others, 5u);
  EXPECT_GT(untouched, 0u);  // what nothing needed is gone
}

}  // namespace
}  // namespace hlosim
