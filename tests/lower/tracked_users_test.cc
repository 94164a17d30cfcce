// Against users_of() of the module as it is after each change, and sums of arrays.
#include "lower/tracked_users.h"

#include <gtest/gtest.h>

#include <random>

#include "lower/step_load.h"
#include "support/modules.h"

namespace hlosim {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  size_t below(size_t n) { return static_cast<size_t>(engine_() % n); }

 private:
  std::mt19937_64 engine_;
};

/// Instructions of which each uses up to three of those before it; some are copies, some come after others.
std::string random_text(Random& random, bool controlled) {
  std::string text = "HloModule m\nENTRY e {\n  v0 = f32[8]{0} parameter(0)\n";
  const auto before = [&](size_t i) { return "v" + std::to_string(random.below(i)); };
  for (size_t i = 1; i < 30; ++i) {
    const std::string made = "  v" + std::to_string(i) + " = f32[8]{0} ";
    const size_t kind = random.below(3);
    if (kind == 0)
      text += made + "copy(" + before(i) + ")";
    else if (kind == 1)
      text += made + "add(" + before(i) + ", " + before(i) + ")";
    else
      text += made + "custom-call(" + before(i) + ", " + before(i) + ", " + before(i) +
              "), custom_call_target=\"f\"";
    if (controlled && random.below(4) == 0) text += ", control-predecessors={" + before(i) + "}";
    text += "\n";
  }
  return text + "  ROOT r = f32[8]{0} add(v29, v0)\n}\n";
}

void expect_same(const TrackedUsers& users, const Module& module, const std::string& when) {
  const Users now = users_of(module, module.entry);
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    const auto tracked = users[id], counted = now[id];
    EXPECT_EQ(std::vector<InstructionId>(tracked.begin(), tracked.end()),
              std::vector<InstructionId>(counted.begin(), counted.end()))
        << module[id].name << " " << when;
  }
}

/// The same changes with the editor alone.
struct Slowly {
  ModuleEditor editor;

  void insert_before(InstructionId user, size_t number) {
    Module& module = editor.module();
    const InstructionId from[] = {module[user].operands[number]};
    const InstructionId added = editor.add(module.entry, Opcode::kCopy, "copy", module[from[0]].shape, from);
    editor.set_operand(user, number, added);
    std::vector<InstructionId>& list = module.computations[module.entry].instructions;
    list.insert(std::ranges::find(list, user), added);
  }
  void append(InstructionId operand) {
    Module& module = editor.module();
    const InstructionId from[] = {operand};
    module.computations[module.entry].instructions.push_back(
        editor.add(module.entry, Opcode::kCopy, "copy", module[operand].shape, from));
  }
  void replace_and_remove(InstructionId from, InstructionId to) {
    Module& module = editor.module();
    editor.replace_everywhere(module.entry, from, to);
    std::erase(module.computations[module.entry].instructions, from);
  }
};

/// One change of both; `users` writes now and then.
void change(Random& random, TrackedUsers& users, ModuleEditor& editor, Slowly& slow) {
  Module& module = editor.module();
  const std::vector<InstructionId> list = slow.editor.module()[module.entry].instructions;
  const InstructionId id = list[random.below(list.size())];
  const size_t kind = random.below(8);
  if (kind == 0) {
    users.write();
  } else if (kind == 1) {
    const InstructionId from[] = {id};
    users.append(editor.add(module.entry, Opcode::kCopy, "copy", module[id].shape, from));
    slow.append(id);
  } else if (kind < 4 && module[id].opcode == Opcode::kCopy) {
    const InstructionId to = module[id].operands[0];
    users.replace_and_remove(id, to);
    slow.replace_and_remove(id, to);
  } else if (!module[id].operands.empty()) {
    const size_t number = random.below(module[id].operands.size());
    const InstructionId from[] = {module[id].operands[number]};
    users.insert_before(id, number,
                        editor.add(module.entry, Opcode::kCopy, "copy", module[from[0]].shape, from));
    slow.insert_before(id, number);
  }
}

TEST(TrackedUsers, AreThoseOfTheModuleAfterEachChange) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Module given = test::module_or_fail(random_text(random, seed % 4 == 0));
    const std::string text = to_text(given, op_table());
    Module fast = given.copy(), slow = given.copy();
    ModuleEditor editor(fast);
    Slowly other{ModuleEditor(slow)};
    TrackedUsers users(editor, fast.entry);
    for (int step = 0; step < 40 && !testing::Test::HasFailure(); ++step) {
      change(random, users, editor, other);
      expect_same(users, slow, "seed " + std::to_string(seed));
    }
    users.write();
    EXPECT_EQ(to_text(fast, op_table()), to_text(slow, op_table())) << seed;
    EXPECT_EQ(to_text(given, op_table()), text) << "copies of a module share its lists of operands";
  }
}

TEST(TrackedUsers, ElementsGoByIndex) {
  Module module = test::module_or_fail(R"(HloModule m
ENTRY e {
  p = (f32[8]{0}, f32[8]{0}, f32[8]{0}) parameter(0)
  a = f32[8]{0} get-tuple-element(p), index=2
  b = f32[8]{0} get-tuple-element(p), index=0
  c = f32[8]{0} get-tuple-element(p), index=2
  ROOT t = (f32[8]{0}, f32[8]{0}, f32[8]{0}) tuple(a, b, c)
}
)");
  ModuleEditor editor(module);
  TrackedUsers users(editor, module.entry);
  const auto names = [&](size_t index) {
    std::string text;
    for (const InstructionId id : users.elements(module[module.entry].parameters[0], index))
      text += module[id].name;
    return text;
  };
  EXPECT_EQ(names(0), "b");
  EXPECT_EQ(names(1), "");
  EXPECT_EQ(names(2), "ac");
  EXPECT_EQ(names(3), "");
}

TEST(StepLoad, IsAnArrayOfSums) {
  Random random(1);
  for (const size_t steps : {1, 2, 3, 7, 8, 100}) {
    std::vector<int64_t> slow;
    for (size_t i = 0; i < steps; ++i) slow.push_back(static_cast<int64_t>(random.below(50)));
    StepLoad load(slow);
    for (int round = 0; round < 300; ++round) {
      const size_t a = random.below(steps), b = random.below(steps);
      const size_t first = std::min(a, b), last = std::max(a, b);
      const auto from = slow.begin() + static_cast<std::ptrdiff_t>(first);
      const auto to = slow.begin() + static_cast<std::ptrdiff_t>(last) + 1;
      EXPECT_EQ(load.most(first, last), *std::max_element(from, to));
      const auto bytes = static_cast<int64_t>(random.below(20)) - 5;
      load.add(first, last, bytes);
      for (auto at = from; at != to; ++at) *at += bytes;
    }
  }
}

}  // namespace
}  // namespace hlosim
