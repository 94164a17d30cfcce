// The library that changes inputs: what it takes apart it puts together again, the same numbers make the same
// inputs, and much of what it makes of right modules is right.
#include <gmock/gmock.h>

#include <set>

#include "bench.h"
#include "hlo/printer.h"
#include "mutate_module.h"
#include "mutate_proto.h"
#include "ops/op_table.h"
#include "read_input.h"
#include "reduce.h"
#include "support/folders.h"
#include "support/module_files.h"

namespace hlosim::fuzz {
namespace {

using ::testing::ElementsAre;

/// The project's own modules as the printer writes them.
const Pool& own_pool() {
  static const Pool pool = [] {
    PoolMaker maker;
    for (const auto& file : test::right_modules({.file_tests = 1, .others = 0})) {
      const auto modules = read_right(test::file_text(file));
      if (!modules) continue;
      PrintOptions print;
      print.signature = false;
      for (const Module& module : *modules) {
        std::string text = to_text(module, op_table(), print);
        if (text.size() < 4096) maker.add(file.filename().string(), std::move(text));
      }
    }
    return maker.finish();
  }();
  return pool;
}

TEST(Tokens, AreTheWholeText) {
  for (const auto& file : test::unreadable_modules()) {
    const std::string text = test::file_text(file);
    EXPECT_EQ(text_of(tokens_of(text)), text) << file;
  }
  const std::string bytes("\0\"/*'%-1e5.\\", 12);
  EXPECT_EQ(text_of(tokens_of(bytes)), bytes);
}

TEST(Tokens, AreThoseOfTheReader) {
  std::vector<std::string> texts;
  for (const Token& token : tokens_of("%a.1 = f32[8]{0} /* x */ g(-2.5, \"a,b\")"))
    texts.emplace_back(token.text);
  EXPECT_THAT(texts, ElementsAre("%", "a.1", "=", "f32", "[", "8", "]", "{", "0", "}", "g", "(", "-2.5", ",",
                                 "\"a,b\"", ")"));
  EXPECT_THAT(split("a={1,2}, b=\"x,y\", c"), ElementsAre("a={1,2}", "b=\"x,y\"", "c"));
  EXPECT_EQ(replaced_names("%a, %a.1, f(%a)", "%a", "%b"), "%b, %a.1, f(%b)");
}

TEST(ModuleText, IsTheModule) {
  ASSERT_GT(own_pool().seeds.size(), 100u);
  size_t parsed = 0;
  for (const Seed& seed : own_pool().seeds) {
    if (!seed.module) continue;
    ++parsed;
    const auto before = read_right(seed.text), after = read_right(to_text(*seed.module));
    ASSERT_TRUE(before && after) << seed.name;
    EXPECT_EQ(to_text(after->front(), op_table()), to_text(before->front(), op_table())) << seed.name;
  }
  EXPECT_EQ(parsed, own_pool().seeds.size());
}

TEST(MutatedModule, DependsOnTheNumberAlone) {
  std::set<std::string> different;
  for (uint64_t number = 0; number < 200; ++number) {
    const Seed& seed = own_pool().seeds[number % own_pool().seeds.size()];
    Random one(number), other(number);
    const std::string text = mutated_module(seed, own_pool(), one);
    EXPECT_EQ(mutated_module(seed, own_pool(), other), text);
    if (text != seed.text) different.insert(text);
  }
  EXPECT_GT(different.size(), 190u);
}

TEST(MutatedModule, IsOftenRight) {
  size_t right = 0;
  constexpr size_t kAll = 1000;
  Random random(1);
  for (size_t i = 0; i < kAll; ++i)
    right += read_right(mutated_module(random.pick(own_pool().seeds), own_pool(), random)).has_value();
  EXPECT_GT(right, kAll / 4);
  EXPECT_LT(right, kAll);
}

TEST(MutatedModule, EveryChangeChangesSomething) {
  for (size_t change = 0; change < kModuleChanges; ++change) {
    size_t changed = 0;
    Random random(change);
    for (const Seed& seed : own_pool().seeds) {
      ModuleText module = *seed.module;
      if (change_module(change, module, own_pool(), random))
        changed += to_text(module) != to_text(*seed.module);
    }
    EXPECT_GT(changed, 10u) << change;
  }
}

TEST(MutatedProto, StaysAProto) {
  // Field 1 with the text "ab", field 2 with 300.
  const std::string proto("\x0a\x02\x61\x62\x10\xac\x02", 7);
  PoolMaker maker;
  maker.add("proto", proto);
  const Pool pool = maker.finish();
  std::set<std::string> different;
  for (uint64_t number = 0; number < 100; ++number) {
    Random one(number), other(number);
    const std::string bytes = mutated_proto(proto, pool, one);
    EXPECT_EQ(mutated_proto(proto, pool, other), bytes);
    different.insert(bytes);
  }
  EXPECT_GT(different.size(), 30u);
}

TEST(Reduced, KeepsWhatShowsTheFault) {
  const std::string text = R"(HloModule m, is_scheduled=true

%unused {
  ROOT %p = f32[] parameter(0)
}

ENTRY %main {
  %x = f32[8]{0} parameter(0)
  %a = f32[8]{0} add(%x, %x)
  %s = f32[8]{0} sine(%a), metadata={op_name="deep"}
  %b = f32[8]{0} negate(%s)
  ROOT %c = f32[8]{0} multiply(%b, %b)
}
)";
  size_t tries = 0;
  const std::string small = reduced(
      text,
      [&](const std::string& shorter) {
        ++tries;
        return read_right(shorter).has_value() && shorter.find("sine(") != std::string::npos;
      },
      2000);
  EXPECT_LT(small.size(), 90u) << small;
  EXPECT_TRUE(read_right(small)) << small;
  EXPECT_NE(small.find("sine("), std::string::npos);
  EXPECT_LE(tries, 2000u);
}

}  // namespace
}  // namespace hlosim::fuzz
