// What users say of parameters by expressions on their names.
#include "sharding/statements.h"

#include <gtest/gtest.h>

#include "support/own_modules.h"

namespace hlosim {
namespace {

constexpr std::string_view kModule = R"(
HloModule m
ENTRY main {
  p0 = f32[8,16] parameter(0), metadata={op_name="params[\'dense\'][\'kernel\']"}
  p1 = f32[16] parameter(1), sharding={devices=[8]<=[8]}, metadata={op_name="params[\'dense\'][\'bias\']"}
  state = (f32[4,2], s32[], (f32[8])) parameter(2)
  ROOT out = f32[8,16] copy(p0)
}
)";

struct Said {
  std::string error;
  std::vector<std::string> shardings;  // of the parameters; empty: none
  std::vector<size_t> unused;
};

Said say(const std::vector<std::string>& texts) {
  const Module module = test::module_or_fail(std::string(kModule));
  const Mesh mesh = *parse_mesh("data=4,model=2");
  Said said;
  std::vector<ShardStatement> statements;
  for (const std::string& text : texts) {
    Result<ShardStatement> statement = parse_statement(text, mesh);
    if (!statement) {
      said.error = render(statement.error());
      return said;
    }
    statements.push_back(std::move(*statement));
  }
  Result<Stated> stated = state_shardings(module, mesh, statements);
  if (!stated) {
    said.error = stated.error().message + " | " + stated.error().hint;
    return said;
  }
  said.unused = stated->unused;
  for (const InstructionId id : stated->module.entry_computation().parameters) {
    const Attr* attr = stated->module[id].find(AttrKey::kSharding);
    said.shardings.emplace_back(attr ? attr->text() : "");
  }
  return said;
}

TEST(Statements, NamesAndArgumentNamesMatchAsAWhole) {
  const Said said = say({R"(params.*kernel.*=[data,model])", "p1=[model]", "p=[data]"});
  ASSERT_EQ(said.error, "");
  EXPECT_EQ(said.shardings[0], "{devices=[4,2]<=[8]}");
  EXPECT_EQ(said.shardings[1], "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(said.shardings[2], "");
  EXPECT_EQ(said.unused, std::vector<size_t>{2});
}

TEST(Statements, TheLastOneHolds) {
  const Said said = say({"p0=[data,model]", "p.*=[model]", "p0=[_,model]"});
  EXPECT_EQ(said.shardings[0], "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
}

TEST(Statements, ElementsOfTuplesHaveTheirIndexBehindTheName) {
  const Said said = say({R"(state\.0=[data,_])", R"(state\.2\.0=[data])"});
  ASSERT_EQ(said.error, "");
  EXPECT_EQ(said.shardings[2],
            "{{devices=[4,1,2]<=[8] last_tile_dim_replicate}, {unknown}, {devices=[4,2]<=[8] "
            "last_tile_dim_replicate}}");
}

TEST(Statements, SayWhatIsWrong) {
  EXPECT_EQ(say({"p0"}).error.substr(0, 66),
            "--shard:1:3: error: expects =[axes] behind the names of parameters");
  EXPECT_EQ(say({"p0=[dta,_]"}).error.substr(0, 50), "--shard:1:5: error: the mesh has no axis dta\n  p0=");
  EXPECT_EQ(say({"p(=[data]"}).error.substr(0, 19), "--shard:1:1: error:");
  EXPECT_EQ(say({"p0=[data]"}).error,
            "p0 is f32[8,16], which has 2 dimensions, not 1 | stated by --shard 'p0=[data]'");
  EXPECT_EQ(
      say({R"(state\.0=[_,data])"}).error,
      R"(state.0 is f32[4,2]: 4 shards of dimension 1, which has 2 elements | stated by --shard 'state\.0=[_,data]')");
}

}  // namespace
}  // namespace hlosim
