// Who uses what: as a slow, obvious count over the whole module has it.
#include "hlo/graph.h"

#include <gtest/gtest.h>

#include <map>

#include "hlo/module_editor.h"
#include "support/own_modules.h"

namespace hlosim {
namespace {

using Table = std::map<InstructionId, std::vector<InstructionId>>;

Table counted(const Module& module, ComputationId computation) {
  Table users;
  for (const InstructionId id : module[computation].instructions)
    for (const InstructionId operand : module[id].operands)
      if (std::ranges::count(users[operand], id) == 0) users[operand].push_back(id);
  return users;
}

void expect_counted(const std::string& name, const Module& module) {
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const ComputationId computation{static_cast<int32_t>(c)};
    const Users users = users_of(module, computation);
    Table expected = counted(module, computation);
    for (int32_t i = -1; i <= static_cast<int32_t>(module.instructions.size()); ++i)
      ASSERT_TRUE(std::ranges::equal(users[InstructionId{i}], expected[InstructionId{i}]))
          << name << ": instruction " << i << " in " << module[computation].name;
  }
}

TEST(Users, AreThoseThatACountFinds) {
  size_t count = 0;
  test::for_each_module(40, [&](const std::string& name, Module& module) {
    if (module.instructions.size() > 500) return;
    ++count;
    expect_counted(name, module);
  });
  EXPECT_GT(count, 100u);
}

TEST(Users, OfWhatIsAddedFarFromTheRest) {
  std::string text =
      "HloModule m\nf { a = f32[] parameter(0) b = f32[] negate(a) ROOT c = f32[] add(a, b) }\nENTRY e {";
  for (int i = 0; i < 2000; ++i)
    text += " x" + std::to_string(i) + " = f32[] parameter(" + std::to_string(i) + ")";
  Module module = test::module_or_fail(text + " ROOT r = f32[] call(x7), to_apply=f }");
  ModuleEditor editor(module);
  const ComputationId first{0};
  for (int i = 0; i < 2; ++i) {
    const InstructionId operands[] = {module[first].parameters[0], module[first].root};
    const InstructionId sum = editor.add(first, Opcode::kAdd, "sum", module[operands[0]].shape, operands);
    module.computations[first].instructions.push_back(sum);
    module.computations[first].root = sum;
  }
  expect_counted("m", module);
}

TEST(Users, OfAComputationWithoutUses) {
  const Module module = test::module_or_fail("ENTRY e { ROOT x = f32[] parameter(0) }");
  EXPECT_TRUE(users_of(module, module.entry)[module.entry_computation().root].empty());
  EXPECT_TRUE(Users()[module.entry_computation().root].empty());
}

}  // namespace
}  // namespace hlosim
