#include "measured/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measured/comparison_output.h"
#include "measured/program_modules.h"
#include "profile/read_profile.h"
#include "support/estimated.h"
#include "support/folders.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

ProfiledOperation measured(std::string name, std::string text, int64_t occurrences, int64_t self_ps) {
  ProfiledOperation one;
  one.name = std::move(name);
  one.text = std::move(text);
  one.occurrences = occurrences;
  one.time = one.self_time = Picoseconds(self_ps);
  return one;
}

SimulatedOperation simulated(std::string name, std::string opcode, std::string shape,
                             std::string op_name = "") {
  SimulatedOperation one;
  one.name = std::move(name);
  one.opcode = std::move(opcode);
  one.shape = std::move(shape);
  one.op_name = std::move(op_name);
  one.executions = 1;
  one.self_time = Picoseconds(1000);
  return one;
}

TEST(ParseOperation, FindsOpcodeAndShape) {
  const OperationText add = parse_operation("%add.1 = f32[8,128]{1,0:T(8,128)} add(f32[8,128]{1,0} %a)");
  EXPECT_EQ(add.opcode, "add");
  EXPECT_EQ(add.shape, "f32[8,128]{1,0:T(8,128)}");
  const OperationText copy =
      parse_operation("%c = (f32[8]{0:T(128)S(5)}, f32[8]{0}, u32[]{:S(2)}) copy-start(f32[8]{0} %p)");
  EXPECT_EQ(copy.opcode, "copy-start");
  EXPECT_EQ(copy.shape, "(f32[8]{0:T(128)S(5)}, f32[8]{0}, u32[]{:S(2)})");
  for (const char* wrong : {"", "add.1", "%add.1", "%add.1 = ", "%add.1 = f32[8]", "%a = ((", "jit_f(3)"})
    EXPECT_EQ(parse_operation(wrong).opcode, "") << wrong;
}

TEST(MatchOperations, ByNameWhereItIsTheSameThing) {
  ProfiledProgram program;
  program.operations = {measured("fusion.1", "%fusion.1 = f32[8]{0} fusion(f32[8]{0} %p)", 1, 1),
                        measured("fusion.2", "%fusion.2 = f32[16]{0} fusion(f32[16]{0} %p)", 1, 1),
                        measured("add.7", "", 1, 1)};
  const std::vector<SimulatedOperation> rows = {simulated("fusion.2", "fusion", "f32[8]{0:T(128)}"),
                                                simulated("fusion.1", "fusion", "f32[8]{0:T(128)}"),
                                                simulated("add.7", "add", "f32[8]{0}"),
                                                simulated("fusion.9", "fusion", "f32[16]{0}")};
  // fusion.2 is another shape here: it is no more than a name.
  const std::vector<int> match = match_operations(program, rows);
  EXPECT_EQ(match[0], 1);
  EXPECT_EQ(match[1], -1);
  EXPECT_EQ(match[2], 2);
}

TEST(MatchOperations, PartsOnSparseCoresHaveNoPartner) {
  ProfiledProgram program;
  program.operations = {measured("gather.1", "", 1, 1), measured("gather.1", "", 1, 1)};
  program.operations[0].beside = program.operations[1].beside = true;
  program.operations[0].core = "SparseCore";
  SimulatedOperation start = simulated("gather.1", "async-start", "f32[8]{0}");
  start.beside = true;
  EXPECT_THAT(match_operations(program, {start}), testing::ElementsAre(-1, 0));
}

/// Two fusions of one operation of the program, one of another.
std::string module_with_origins() {
  return R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[300,200]{1,0:T(8,128)} parameter(0)
  b = f32[300,200]{1,0:T(8,128)} negate(a), metadata={op_name="jit(f)/neg"}
  c = f32[300,200]{1,0:T(8,128)} negate(b), metadata={op_name="jit(f)/neg"}
  ROOT d = f32[300,200]{1,0:T(8,128)} add(b, c), metadata={op_name="jit(f)/add"}
})";
}

TEST(CompareProgram, OperationsOfTheFrameworkAgainstAllOfTheirInstructions) {
  const Module module = test::module_or_fail(module_with_origins());
  const Device device = test::device_or_fail("unit");
  const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, {});
  ASSERT_TRUE(estimate) << estimate.error().message;
  const Report report = make_report(module, op_table(), device, *estimate);
  Profile profile;
  profile.form = "framework_op_stats";
  ProfiledProgram program;
  program.operations = {measured("jit(f)/neg", "", 8, 4'000'000'000), measured("jit(f)/mul", "", 1, 5)};
  const ComparedProgram compared = compare_program(program, profile, *estimate, report, op_table());
  ASSERT_EQ(compared.operations.size(), 3u);
  EXPECT_EQ(compared.operations[0].name(), "jit(f)/neg");
  ASSERT_TRUE(compared.operations[0].simulated);
  EXPECT_EQ(compared.operations[0].simulated->executions, 2);
  EXPECT_FALSE(compared.operations[1].simulated) << "nothing comes from jit(f)/mul";
  EXPECT_EQ(compared.operations[2].name(), "jit(f)/add");
}

TEST(ProgramModules, OneWithoutANameByTheNamesInIt) {
  ProgramModules modules({});
  modules.give(test::module_or_fail(module_with_origins()));
  ProfiledProgram program;
  program.operations = {measured("b", "", 1, 60), measured("other", "", 1, 40)};
  EXPECT_TRUE(modules.of(program, false));
  program.operations[1].self_time = Picoseconds(70);
  EXPECT_FALSE(modules.of(program, false)) << "most of its time is another program's";
  EXPECT_TRUE(modules.of(program, true));
  program.operations[1].self_time = Picoseconds(40);
  program.name = "g";
  EXPECT_FALSE(modules.of(program, false)) << "it has a name, another one";
}

TEST(MatchOperations, RenamedOnesByWhereTheyComeFrom) {
  ProfiledProgram program;
  program.operations = {measured("fusion.5", "%fusion.5 = f32[8]{0} fusion(f32[8]{0} %p)", 1, 1),
                        measured("fusion.6", "%fusion.6 = f32[8]{0} fusion(f32[8]{0} %p)", 1, 1)};
  program.operations[0].op_name = "jit(f)/tanh:";
  program.operations[1].op_name = "jit(f)/add:";
  const std::vector<int> match =
      match_operations(program, {simulated("fusion", "fusion", "f32[8]{0}", "jit(f)/add"),
                                 simulated("fusion.1", "fusion", "f32[8]{0}", "jit(f)/tanh"),
                                 simulated("copy.1", "copy", "f32[8]{0}", "jit(f)/tanh")});
  EXPECT_THAT(match, testing::ElementsAre(1, 0));
}

TEST(MatchOperations, RenamedOnesByWhatTheyAre) {
  ProfiledProgram program;
  program.operations = {
      measured("fusion.5", "%fusion.5 = f32[8]{0} fusion(f32[8]{0} %p.1), kind=kLoop, calls=%fused.7", 1, 1),
      measured("fusion.6", "%fusion.6 = f32[8]{0} fusion(f32[8]{0} %p.1), kind=kInput, calls=%fused.8", 1,
               1)};
  std::vector<SimulatedOperation> rows = {simulated("a", "fusion", "f32[8]{0}"),
                                          simulated("b", "fusion", "f32[8]{0}")};
  rows[0].text = "%a = f32[8]{0} fusion(f32[8]{0} %x), calls=%f, kind=kInput";
  rows[1].text = "%b = f32[8]{0} fusion(f32[8]{0} %x), kind=kLoop, calls=%g";
  EXPECT_THAT(match_operations(program, rows), testing::ElementsAre(1, 0));
}

TEST(MatchOperations, TransfersGoWithTheirStarts) {
  ProfiledProgram program;
  const std::string text = "%copy-start.5 = (f32[8]{0}, f32[8]{0}, u32[]) copy-start(f32[8]{0} %p)";
  program.operations = {measured("copy-start.5", text, 1, 1), measured("copy-start.5", text, 1, 9)};
  program.operations[0].op_name = "jit(f)/x:";
  program.operations[1].beside = true;
  std::vector<SimulatedOperation> rows = {
      simulated("copy-start", "copy-start", "(f32[8]{0}, f32[8]{0}, u32[])"),
      simulated("copy-start", "copy-start", "(f32[8]{0}, f32[8]{0}, u32[])")};
  rows[0].beside = true;
  rows[1].op_name = "jit(f)/x";
  EXPECT_THAT(match_operations(program, rows), testing::ElementsAre(1, 0));
}

constexpr std::string_view kModule = R"(HloModule m, is_scheduled=true
ENTRY %main (p: f32[1024,1024]) -> f32[1024,1024] {
  %p = f32[1024,1024]{1,0:T(8,128)} parameter(0)
  %n = f32[1024,1024]{1,0:T(8,128)} negate(%p)
  ROOT %t = f32[1024,1024]{1,0:T(8,128)} tanh(%n)
})";

class Comparison : public testing::Test {
 protected:
  Comparison() : estimated_(test::estimated(kModule, "v5e")) {
    profile_.file = "p";
    profile_.form = "XSpace";
    profile_.peak_flops = 197e12;
    profile_.peak_bandwidth = 819e9;
    ProfiledProgram program;
    program.name = "m";
    program.runs = 2;
    program.time = Picoseconds(40'000'000);
    program.operations = {measured("n", "", 2, 30'000'000), measured("gone", "", 2, 4'000'000)};
    program.operations[0].category = "non-fusion elementwise";
    program.operations[0].bytes = 8 << 20;
    program.operations[0].flops = 1 << 20;
    profile_.programs = {program};
  }
  ComparedProgram compare() {
    return compare_program(profile_.programs[0], profile_, estimated_.estimate, estimated_.report,
                           op_table());
  }
  test::Estimated estimated_;
  Profile profile_;
};

TEST_F(Comparison, SumsAndRatiosAreThoseOfOneOccurrence) {
  const ComparedProgram compared = compare();
  ASSERT_EQ(compared.operations.size(), 3u);
  const ComparedOperation& matched = compared.operations[0];
  ASSERT_TRUE(matched.measured && matched.simulated);
  EXPECT_EQ(matched.name(), "n");
  EXPECT_EQ(matched.bound_by, "HBM");
  const double simulated_ps = static_cast<double>(matched.simulated->mean().count());
  EXPECT_NEAR(*matched.ratio(), 15'000'000 / simulated_ps, 1e-9);
  EXPECT_EQ(matched.off(), Picoseconds(30'000'000) - 2 * matched.simulated->mean());
  EXPECT_EQ(compared.operations[1].name(), "gone");
  EXPECT_EQ(compared.operations[2].name(), "t");
  EXPECT_FALSE(compared.operations[2].measured);
  EXPECT_EQ(compared.measured_operations(), Picoseconds(34'000'000));
  EXPECT_EQ(compared.matched_operations(), Picoseconds(30'000'000));
  EXPECT_EQ(compared.matched_simulated(), 2 * matched.simulated->mean());
  ASSERT_EQ(compared.categories.size(), 1u);
}

TEST_F(Comparison, AllFormsSayTheSame) {
  ProfileComparison comparison;
  comparison.profile = &profile_;
  comparison.programs.push_back(compare());
  const std::string text = to_text(comparison, {});
  EXPECT_THAT(text, HasSubstr("only measured: gone"));
  EXPECT_THAT(text, HasSubstr("only simulated: t"));
  EXPECT_THAT(text, HasSubstr("88.2 % matched"));
  const std::string json = to_json(comparison, "1");
  EXPECT_THAT(json, HasSubstr("\"matched_ps\": 30000000"));
  const std::string csv = to_csv(comparison);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  const size_t columns = static_cast<size_t>(
      std::count(csv.begin(), csv.begin() + static_cast<std::ptrdiff_t>(csv.find('\r')), ','));
  for (size_t at = 0; at < csv.size(); at = csv.find('\n', at) + 1) {
    const std::string line = csv.substr(at, csv.find('\n', at) - at);
    EXPECT_EQ(static_cast<size_t>(std::count(line.begin(), line.end(), ',')), columns) << line;
  }
}

TEST(ComparisonOfProfiles, EveryOperationOfARealProfileHasItsPartner) {
  const std::filesystem::path file =
      test::shared_folder() / "measured/profiles/raw/v6e_offload_loop.xplane.pb";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << test::no_shared("profile");
  const Result<Profile> profile = read_profile(file.string());
  ASSERT_TRUE(profile);
  const ProgramModules modules({});
  const Device device = test::device_or_fail("v6e");
  int programs = 0;
  for (const ProfiledProgram& program : profile->programs) {
    if (program.operations.empty()) continue;
    const Result<Module> module = modules.of(program, false);
    ASSERT_TRUE(module) << program.name << ": " << module.error().message;
    const Result<Estimate> estimate = hlosim::estimate(*module, op_table(), device, {});
    ASSERT_TRUE(estimate) << estimate.error().message;
    const Report report = make_report(*module, op_table(), device, *estimate);
    const ComparedProgram compared = compare_program(program, *profile, *estimate, report, op_table());
    for (const ComparedOperation& row : compared.operations) {
      if (!row.measured) continue;
      EXPECT_TRUE(row.simulated && !row.renamed) << program.name << " " << row.name();
    }
    ++programs;
  }
  EXPECT_GE(programs, 3);
}

}  // namespace
}  // namespace hlosim
