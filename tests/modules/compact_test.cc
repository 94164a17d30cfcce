// Copies of modules, and modules without what editing left behind.
#include "modules/compact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "hlo/module_editor.h"
#include "support/own_modules.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

constexpr std::string_view kText = R"(HloModule m, entry_computation_layout={(f32[8,128])->f32[8,128]}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  p = f32[8,128] parameter(0)
  k = f32[8,128] constant({...})
  n = f32[8,128] negate(p)
  s = ((f32[8,128]), f32[8,128], u32[]) negate-start(n), metadata={op_name="x"}
  d = f32[8,128] negate-done(s)
  r = f32[8,128] all-reduce(d), to_apply=sum
  ROOT t = f32[8,128] add(r, n), control-predecessors={k}
}
)";

/// Something is added to the module and something is changed in it.
void edit(Module& module, int64_t space) {
  ModuleEditor editor(module);
  const ComputationId entry = module.entry;
  const ShapeRef shape = module.shapes().with_memory_space(module.root(entry).shape, space);
  const InstructionId operands[] = {module[entry].root};
  const InstructionId copy = editor.add(entry, Opcode::kCopy, "copy", shape, operands);
  module.computations[entry].instructions.push_back(copy);
  module.computations[entry].root = copy;
}

TEST(ModuleCopy, SaysTheSame) {
  size_t count = 0;
  test::for_each_module(20, [&](const std::string& name, Module& module) {
    EXPECT_EQ(test::difference(module, module.copy()), "") << name;
    ++count;
  });
  EXPECT_GT(count, 100u);
}

TEST(ModuleCopy, SharesNothingThatChanges) {
  Module module = test::module_or_fail(kText);
  const std::string before = to_text(module, op_table());
  Module copy = module.copy();
  edit(copy, kVmemSpace);
  EXPECT_EQ(to_text(module, op_table()), before);
  const std::string after = to_text(copy, op_table());
  EXPECT_THAT(after, HasSubstr("S(1)"));
  edit(module, kHostSpace);
  EXPECT_EQ(to_text(copy, op_table()), after);
  module = Module();
  EXPECT_EQ(to_text(copy, op_table()), after);
}

TEST(ModuleCopy, HasTheShapesOfTheModule) {
  Module module = test::module_or_fail(kText);
  Module copy = module.copy();
  const ShapeRef shape = module.root(module.entry).shape;
  EXPECT_EQ(copy.root(copy.entry).shape, shape);
  EXPECT_EQ(copy.shapes().array(ElementType::kF32, shape->dimensions, shape->layout), shape);
  EXPECT_EQ(copy.shapes().default_layout(2), module.shapes().default_layout(2));
  // What is made afterwards is equal, but not one.
  const ShapeRef one = module.shapes().with_memory_space(shape, 1),
                 other = copy.shapes().with_memory_space(shape, 1);
  EXPECT_NE(one, other);
  EXPECT_EQ(to_text(one), to_text(other));
  EXPECT_EQ(one->logical, other->logical);
}

TEST(ModuleCopy, GoesOnInThreads) {
  const Module module = test::module_or_fail(kText);
  Module expected = module.copy();
  for (int64_t space = 1; space < 50; ++space) edit(expected, space);
  std::vector<std::string> texts(8);
  std::vector<std::thread> threads;
  for (std::string& text : texts)
    threads.emplace_back([&module, &text] {
      Module copy = module.copy();
      for (int64_t space = 1; space < 50; ++space) edit(copy, space);
      text = to_text(copy, op_table());
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : texts) EXPECT_EQ(text, to_text(expected, op_table()));
}

TEST(Compacted, IsWhatTheTextGives) {
  test::for_each_module(20, [&](const std::string& name, const Module& module) {
    const Module compact = compacted(module, op_table());
    ASSERT_EQ(test::difference(compact, test::read_again(module)), "") << name;
    ASSERT_EQ(test::difference(made_compact(compact.copy(), op_table()), compact), "") << name;
  });
}

// What is handed on as it is would have been made anew alike.
TEST(Compacted, OfACompactModuleIsThatModule) {
  size_t compact = 0, with_tuples = 0;
  test::for_each_module(20, [&](const std::string& name, Module& module) {
    Module made = made_compact(module.copy(), op_table());
    if (is_compact(made, op_table())) {
      ++compact;
      with_tuples += std::ranges::any_of(made.instructions,
                                         [](const Instruction& one) { return one.opcode == Opcode::kTuple; });
    }
    if (is_compact(module, op_table())) {
      ASSERT_EQ(test::difference(made, module), "") << name;
    }
  });
  EXPECT_GT(compact, 100u);
  EXPECT_GT(with_tuples, 20u);
}

TEST(Compacted, HandsOnACompactModuleWithTuples) {
  Module module = test::module_or_fail(R"(HloModule m
ENTRY e {
  p = f32[8,128]{1,0} parameter(0)
  t = (f32[8,128]{1,0}, f32[8,128]{1,0}) tuple(p, p)
  x = f32[8,128]{1,0} get-tuple-element(t), index=1
  ROOT r = (f32[8,128]{1,0}, f32[8,128]{0,1}) tuple(x, p)
})");
  EXPECT_TRUE(is_compact(module, op_table()));
  const Instruction* const first = &*module.instructions.begin();
  const Module compact = compacted(std::move(module), op_table());
  EXPECT_EQ(&*compact.instructions.begin(), first);
}

TEST(Compacted, LeavesOutWhatNothingLists) {
  Module module = test::module_or_fail(kText);
  ModuleEditor editor(module);
  const InstructionId root = module[module.entry].root;
  editor.replace_everywhere(module.entry, module[root].operands[0], module[root].operands[1]);
  std::erase_if(module.computations[module.entry].instructions,
                [&](InstructionId id) { return module[id].name == "r" || module[id].name == "d"; });
  const Module compact = compacted(module, op_table());
  EXPECT_EQ(compact.instructions.size(), module.instructions.size() - 2);
  EXPECT_EQ(test::difference(compact, test::read_again(module)), "");
}

// What came from the text still points there.
TEST(Compacted, KeepsPlacesInTheText) {
  const Module module = test::module_or_fail(kText);
  const Module compact = compacted(module, op_table());
  EXPECT_EQ(compact.source, module.source);
  for (const Computation& computation : compact.computations) {
    if (computation.is_async_sugar) continue;
    for (const InstructionId id : computation.instructions)
      EXPECT_EQ(compact.source->text().substr(compact[id].offset, compact[id].name.size()), compact[id].name);
  }
}

}  // namespace
}  // namespace hlosim
