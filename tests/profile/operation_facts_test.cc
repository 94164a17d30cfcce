#include "profile/operation_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "ops/op_table.h"
#include "profile/read_profile.h"
#include "support/folders.h"
#include "support/modules.h"

namespace hlosim {
namespace {

InstructionId find(const Module& module, std::string_view name) {
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions)
      if (module[id].name == name) return id;
  ADD_FAILURE() << "no instruction " << name;
  return {};
}

/// What stands between commas, in any order: attributes have none.
std::multiset<std::string> parts(const std::string& text) {
  std::multiset<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(", ", at), text.size());
    parts.insert(text.substr(at, end - at));
    at = end + 2;
  }
  return parts;
}

TEST(OperationFacts, SayWhatAProfilerSays) {
  const Module module = test::module_or_fail(R"(HloModule m, is_scheduled=true
%fused (x: f32[64,128]) -> f32[64,128] {
  %x = f32[64,128]{1,0:T(8,128)} parameter(0)
  ROOT %n = f32[64,128]{1,0:T(8,128)} negate(%x)
}
%product (x: f32[64,128], y: f32[128,128]) -> f32[64,128] {
  %x.1 = f32[64,128]{1,0:T(8,128)} parameter(0)
  %y.1 = f32[128,128]{1,0:T(8,128)} parameter(1)
  ROOT %d = f32[64,128]{1,0:T(8,128)} dot(%x.1, %y.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY %main (p: f32[64,128], q: f32[128,128]) -> f32[64,128] {
  %p = f32[64,128]{1,0:T(8,128)} parameter(0)
  %q = f32[128,128]{1,0:T(8,128)} parameter(1)
  %f = f32[64,128]{1,0:T(8,128)} fusion(%p), kind=kLoop, calls=%fused, metadata={op_name="neg"}, backend_config={"a":1}
  %c = f32[64,128]{0,1:T(8,128)} copy(%f)
  %a = f32[64,128]{1,0:T(8,128)} add(%f, %f)
  ROOT %o = f32[64,128]{1,0:T(8,128)} fusion(%a, %q), kind=kOutput, calls=%product
})");
  const OperationFacts facts(module, op_table());
  const auto category = [&](const char* name) { return facts.category(find(module, name)); };
  EXPECT_EQ(category("f"), "loop fusion");
  EXPECT_EQ(category("c"), "data formatting");
  EXPECT_EQ(category("a"), "non-fusion elementwise");
  EXPECT_EQ(category("o"), "convolution fusion");
  EXPECT_EQ(facts.text(find(module, "f")),
            "%f = f32[64,128]{1,0:T(8,128)} fusion(f32[64,128]{1,0:T(8,128)} %p), kind=kLoop, calls=%fused");
  EXPECT_EQ(facts.shape(find(module, "f")), "f32[64,128]{1,0:T(8,128)}");
  EXPECT_EQ(facts.flops(find(module, "a")), 64 * 128);
  EXPECT_EQ(facts.flops(find(module, "o")), 2 * 64 * 128 * 128);
  EXPECT_EQ(facts.bytes(find(module, "f")), 2 * 64 * 128 * 4);
}

TEST(OperationFacts, AreThoseOfARealProfile) {
  const std::filesystem::path file =
      test::shared_folder() / "measured/profiles/raw/v6e_offload_loop.xplane.pb";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << test::no_shared("profile");
  const Result<Profile> profile = read_profile(file.string());
  ASSERT_TRUE(profile);
  int compared = 0;
  for (const ProfiledProgram& program : profile->programs) {
    if (program.hlo.empty() || program.operations.empty()) continue;
    const Result<SourcePtr> text = as_text(std::make_shared<const SourceFile>(program.name, program.hlo));
    ASSERT_TRUE(text) << text.error().message;
    DiagnosticList problems;
    const std::vector<Module> modules = load_modules(*text, op_table(), problems);
    ASSERT_EQ(modules.size(), 1u) << test::rendered(problems);
    const OperationFacts facts(modules[0], op_table());
    for (const ProfiledOperation& one : program.operations) {
      const InstructionId id = find(modules[0], one.name);
      EXPECT_EQ(parts(facts.text(id)), parts(one.text));
      EXPECT_EQ(facts.category(id), one.category) << one.name;
      EXPECT_EQ(facts.flops(id), one.flops) << one.name;
      EXPECT_EQ(facts.bytes(id), one.bytes) << one.name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 20);
}

}  // namespace
}  // namespace hlosim
