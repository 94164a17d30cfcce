#include "hlo/module_editor.h"

#include <gtest/gtest.h>

#include <set>

#include "support/modules.h"

namespace hlosim {
namespace {

TEST(ModuleEditor, NamesThatItMakesUpAreFree) {
  Module module = test::module_or_fail(R"(HloModule m
c.4 {
  ROOT a.7 = f32[] parameter(0)
}
ENTRY add.5 {
  add = f32[] parameter(0)
  add.1 = f32[] negate(add)
  mul.2 = f32[] negate(add.1)
  add.3 = f32[] negate(mul.2)
  add.06 = f32[] negate(add.3)
  x.add.6 = f32[] negate(add.06)
  add6 = f32[] negate(x.add.6)
  add.99999999999999999999 = f32[] negate(add6)
  a.7 = f32[] add(add.99999999999999999999, add)
  ROOT r = f32[] call(a.7), to_apply=c.4
}
)");
  ModuleEditor editor(module);
  const ShapeRef scalar = module.shapes().scalar(ElementType::kF32);
  const auto name = [&](std::string_view base) {
    return std::string(module[editor.add(module.entry, Opcode::kIota, base, scalar, {})].name);
  };
  EXPECT_EQ(name("add"), "add.2");  // each number once, the first that is free
  EXPECT_EQ(name("mul"), "mul.3");
  EXPECT_EQ(name("add"), "add.4");
  EXPECT_EQ(name("add"), "add.6");  // a computation has 5
  EXPECT_EQ(name("a"), "a.8");
  EXPECT_EQ(name("add.1"), "add.1.9");
  EXPECT_EQ(name(""), ".10");
}

TEST(ModuleEditor, NamesThatItMakesUpAreNewInModulesOfNumberedNames) {
  std::string text = "HloModule m\nENTRY e.1 {\n  p.1000 = f32[] parameter(0)\n";
  std::string last = "p.1000";
  for (int i = 400; i-- > 0;) {
    const std::string made = fmt::format("{}.{}", i % 3 == 0 ? "add" : "neg", i * 2);
    text += fmt::format("  {}{} = f32[] negate({})\n", i == 0 ? "ROOT " : "", made, last);
    last = made;
  }
  Module module = test::module_or_fail(text + "}\n");
  std::set<std::string_view> names;
  for (const Instruction& instruction : module.instructions) names.insert(instruction.name);
  ModuleEditor editor(module);
  const ShapeRef scalar = module.shapes().scalar(ElementType::kF32);
  for (int i = 0; i < 1500; ++i) {
    const char* const base = i % 2 ? "add" : "neg";
    const InstructionId id = editor.add(module.entry, Opcode::kIota, base, scalar, {});
    EXPECT_TRUE(names.insert(module[id].name).second) << module[id].name;
  }
}

}  // namespace
}  // namespace hlosim
