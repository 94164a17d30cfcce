// Rules of calls, loops, branches, fusions, transfers and custom calls, each with its message.
#include <gmock/gmock.h>

#include "hlo/frontend.h"
#include "modules/module_rules.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "support/text_module.h"

namespace hlosim {
namespace {

using test::messages_of;
using test::parameters;
using test::with_reducers;
using testing::HasSubstr;

/// Messages for an entry of these parameters and root.
std::string control_errors(std::initializer_list<std::string_view> shapes, const std::string& root) {
  return messages_of(with_reducers(parameters(shapes) + "  ROOT r = " + root));
}

/// The same after the rules of whole modules.
std::string broken_rules(const std::string& text) {
  Module module = test::module_or_fail(text);
  DiagnosticList diagnostics;
  check_module_rules(module, op_table(), diagnostics);
  return diagnostics.items().empty() ? "" : diagnostics.items()[0].message;
}

TEST(Ordering, AddDependencyTakesAToken) {
  EXPECT_EQ(control_errors({"f32[2]", "token[]"}, "f32[2] add-dependency(x0, x1)"), "");
  EXPECT_EQ(control_errors({"f32[2]", "f32[]"}, "f32[2] add-dependency(x0, x1)"),
            "add-dependency C1: operand 1 is f32[], expected a token");
}

TEST(Call, OperandsResultAndComposite) {
  EXPECT_EQ(control_errors({"f32[]", "f32[]"}, "f32[] call(x0, x1), to_apply=add"), "");
  EXPECT_EQ(control_errors({"f32[]"}, "f32[] call(x0), to_apply=add"),
            "call C1: computation add takes 2 parameters, expected 1");
  EXPECT_EQ(control_errors({"f32[]", "f32[2]"}, "f32[] call(x0, x1), to_apply=add"),
            "call C1: shape of operand 1, f32[2], does not match that of parameter 1 of add, f32[]");
  EXPECT_EQ(control_errors({"f32[]", "f32[]"}, "f32[2] call(x0, x1), to_apply=add"),
            "call: expected instruction to have shape equal to f32[], actual shape is f32[2]");
  const auto composite = [](const std::string& attributes) {
    return control_errors(
        {"f32[]", "f32[]"},
        "f32[] call(x0, x1), to_apply=add, is_composite=true, frontend_attributes={" + attributes + "}");
  };
  EXPECT_EQ(composite(R"(composite.name="x",composite.version="1",composite.attributes={n = 1})"), "");
  EXPECT_THAT(composite(R"(other="x")"),
              HasSubstr("call C3: a composite call needs a frontend attribute composite.name"));
  EXPECT_EQ(composite(R"(composite.name="x",composite.version="-1")"),
            "call C4: composite.version is \"-1\", expected a number that is not negative");
  EXPECT_THAT(composite(R"(composite.name="x",composite.attributes="")"),
              HasSubstr("call C4: composite.attributes is empty"));
}

std::string loop(const std::string& condition_root, const std::string& body = "ROOT b = f32[] add(p, p)",
                 const std::string& attributes = "") {
  return "HloModule m\nbody { p = f32[] parameter(0)\n " + body +
         " }\ncondition { p = f32[] parameter(0)\n ROOT c = " + condition_root +
         " }\nENTRY main { x = f32[] parameter(0)\n ROOT w = f32[] while(x), condition=condition, body=body" +
         attributes + " }\n";
}

TEST(While, ConditionBodyAndSharding) {
  EXPECT_EQ(messages_of(loop("pred[] constant(true)")), "");
  EXPECT_EQ(messages_of(loop("f32[] add(p, p)")),
            "while C2: the condition's result is f32[], expected pred[]");
  EXPECT_EQ(messages_of(loop("pred[] constant(true)", "q = f32[] parameter(1)\n ROOT b = f32[] add(p, q)")),
            "while C1: computation body takes 2 parameters, expected 1");
  EXPECT_EQ(messages_of(loop("pred[] constant(true)", "ROOT b = f32[] add(p, p), sharding={maximal device=1}",
                             ", sharding={maximal device=0}")),
            "while C4: sharding of b in body, {maximaldevice=1}, is not the caller's, {maximaldevice=0}");
  EXPECT_EQ(messages_of("HloModule m\nbody { p = f32[] parameter(0), sharding={replicated}\n"
                        " ROOT b = f32[] add(p, p), sharding={maximal device=1} }\n"
                        "condition { q = f32[] parameter(0)\n ROOT c = pred[] constant(true) }\n"
                        "ENTRY main { x = f32[] parameter(0)\n"
                        " ROOT w = f32[] while(x), condition=condition, body=body }\n"),
            "while C4: sharding of b in body, {maximaldevice=1}, is not that of p, {replicated}")
      << "the loop itself has none";
}

TEST(Conditional, SelectorAndBranches) {
  const auto branches = [](const std::string& selector, const std::string& root) {
    return messages_of(
        "HloModule m\na { p = f32[] parameter(0)  ROOT r = f32[] add(p, p) }\n"
        "b { p = f32[2] parameter(0)  ROOT r = f32[2] add(p, p) }\n"
        "ENTRY main { s = " +
        selector + " parameter(0)\n x = f32[] parameter(1)\n y = f32[2] parameter(2)\n ROOT c = " + root +
        " }\n");
  };
  EXPECT_EQ(branches("pred[]", "f32[] conditional(s, x, x), true_computation=a, false_computation=a"), "");
  EXPECT_EQ(branches("s32[]", "f32[] conditional(s, x), branch_computations={a}"), "");
  EXPECT_EQ(branches("f32[]", "f32[] conditional(s, x), branch_computations={a}"),
            "conditional C1: operand 0 must be a scalar of type pred or s32, but is f32[]");
  EXPECT_THAT(branches("pred[]", "f32[] conditional(s, x, x), branch_computations={a, a}"),
              HasSubstr("conditional C1: unexpected attribute \"branch_computations\""));
  EXPECT_THAT(branches("pred[]", "f32[] conditional(s, x, x), true_computation=a"),
              HasSubstr("false_computation is expected"));
  EXPECT_EQ(branches("s32[]", "f32[] conditional(s, x, x), branch_computations={a}"),
            "conditional C2: expects 2 operands for 1 branches, but has 3");
  EXPECT_THAT(branches("s32[]", "f32[] conditional(s, x, x), branch_computations={a, b}"),
              HasSubstr("conditional C2: shape of operand 2"));
  EXPECT_EQ(branches("s32[]", "f32[] conditional(s, x, y), branch_computations={a, b}"),
            "conditional C3: expected the result of branch b, f32[2], to be f32[]");
}

TEST(Fusion, ParametersAndAliases) {
  EXPECT_EQ(control_errors({"f32[]", "f32[]"}, "f32[] fusion(x0, x1), kind=kLoop, calls=add"), "");
  EXPECT_EQ(control_errors({"f32[]"}, "f32[] fusion(x0), kind=kLoop, calls=add"),
            "fusion C2: the fused computation add takes 2 parameters, but there are 1 operands");
  EXPECT_THAT(
      control_errors({"f32[]", "f32[]"},
                     "f32[] fusion(x0, x1), kind=kLoop, calls=add, output_to_operand_aliasing={{}: (2, {})}"),
      HasSubstr("fusion C3: output_to_operand_aliasing names operand 2, but there are 2"));
  EXPECT_THAT(control_errors(
                  {"f32[]", "f32[]"},
                  "f32[] fusion(x0, x1), kind=kLoop, calls=add, output_to_operand_aliasing={{}: (0, {1})}"),
              HasSubstr("fusion C3: output_to_operand_aliasing names index {1}, which does not exist"));
}

TEST(Fusion, EverythingInsideIsUsed) {
  const auto fused = [](const std::string& body) {
    return broken_rules(
        "HloModule m\nf { p = f32[] parameter(0)\n " + body +
        " }\nENTRY main { x = f32[] parameter(0)\n ROOT r = f32[] fusion(x), kind=kLoop, calls=f }\n");
  };
  EXPECT_EQ(fused("ROOT a = f32[] add(p, p)"), "");
  EXPECT_EQ(fused("b = f32[] negate(p)\n ROOT a = f32[] add(p, p)"), "b is not used in fused computation f");
  EXPECT_EQ(fused("ROOT a = f32[] add(p, p)\n b = f32[] negate(a)"),
            "a, the root of fused computation f, may not have users");
}

// The shapes follow from the operands whatever the text says.
TEST(Transfers, ShapesAreDerived) {
  Module module = test::module_or_fail(R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  t = token[] after-all()
  s = (f32[4], f32[4], token[]) send(x, t), channel_id=1
  ROOT d = (f32[4], token[]) send-done(s), channel_id=1
})");
  EXPECT_EQ(to_text_without_layout(module.root(module.entry).shape), "token[]");
  EXPECT_EQ(control_errors({"token[]"}, "f32[2] infeed(x0)"),
            "infeed C1: the result must have a non-empty tuple shape, but is f32[2]");
  EXPECT_EQ(control_errors({"f32[]"}, "(f32[2], token[]) infeed(x0)"),
            "infeed C2: operand 0 is f32[], expected a token");
  EXPECT_EQ(control_errors({"f32[2]", "token[]"}, "token[] outfeed(x0, x1), outfeed_shape=f32[3]"),
            "outfeed C2: outfeed_shape is f32[3], expected that of operand 0, f32[2]");
  EXPECT_EQ(control_errors({"f32[2]", "f32[2]"}, "token[] outfeed(x0, x1)"),
            "outfeed C1: operand 1 is f32[2], expected a token");
  EXPECT_THAT(control_errors({"token[]"}, "f32[] recv(x0)"),
              HasSubstr("recv C1: the result must have a non-empty tuple shape"));
  EXPECT_THAT(control_errors({"f32[]"}, "(f32[], token[]) recv-done(x0)"),
              HasSubstr("recv-done C1: operand 0 is f32[]"));
}

TEST(CustomCall, ConstraintsAliasesAndSeeds) {
  EXPECT_EQ(control_errors({"f32[2]"},
                           "f32[2] custom-call(x0), custom_call_target=\"f\", operand_layout_constraints={}"),
            "custom-call C1: expected 1 operand layout constraints, 0 given");
  EXPECT_THAT(control_errors(
                  {"f32[2]"},
                  "f32[2] custom-call(x0), custom_call_target=\"f\", operand_layout_constraints={f32[3]{0}}"),
              HasSubstr("custom-call C1: operand layout constraint 0, f32[3], is not compatible"));
  EXPECT_THAT(
      control_errors(
          {"f32[2]"},
          "f32[3] custom-call(x0), custom_call_target=\"f\", output_to_operand_aliasing={{}: (0, {})}"),
      HasSubstr("custom-call C2: output_to_operand_aliasing joins output f32[3] and operand f32[2]"));
  EXPECT_EQ(control_errors({"f32[2]"}, "u64[] custom-call(x0), custom_call_target=\"GetRngSeed\""),
            "custom-call C4: GetRngSeed takes no operands, but has 1");
  EXPECT_EQ(control_errors({}, "u32[] custom-call(), custom_call_target=\"GetRngSeed\""),
            "custom-call C4: GetRngSeed gives a u64[], but the shape is u32[]");
  EXPECT_EQ(
      control_errors(
          {"f32[2]"},
          "f32[2] custom-call(x0), custom_call_target=\"f\", to_apply=twice, called_computations={twice}"),
      "custom-call C5: has both to_apply and called_computations, expected one of them");
}

TEST(CustomCall, WorkOfKnownTargets) {
  Module gemm = test::module_or_fail(with_reducers(
      parameters({"f32[8,16]", "f32[32,16]"}) +
      R"(  ROOT r = f32[8,32] custom-call(x0, x1), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]}}})"));
  const Work work = test::root_work(gemm);
  ASSERT_EQ(work.matmuls.size(), 1u);
  EXPECT_EQ(work.matmuls[0].m, 8);
  EXPECT_EQ(work.matmuls[0].n, 32);
  EXPECT_EQ(work.matmuls[0].k, 16);
  Module sharding = test::module_or_fail(with_reducers(
      parameters({"f32[8]"}) + "  ROOT r = f32[8] custom-call(x0), custom_call_target=\"Sharding\""));
  EXPECT_EQ(test::root_work(sharding).result_written, nullptr);
  Module other = test::module_or_fail(with_reducers(
      parameters({"f32[8]"}) + "  ROOT r = f32[8] custom-call(x0), custom_call_target=\"mine\""));
  EXPECT_EQ(test::root_work(other).unmodelled, "mine");
}

TEST(FrontendAttributes, ValuesByKey) {
  const Module module = test::module_or_fail(
      R"(HloModule m
ENTRY main { ROOT x = f32[] parameter(0), frontend_attributes={a="1,b=\"2\"", c={"d": "}"} ,e=''} })");
  const Instruction& x = module.root(module.entry);
  EXPECT_EQ(frontend_attribute(x, "a"), R"(1,b=\"2\")");
  EXPECT_EQ(frontend_attribute(x, "c"), R"({"d": "}"})");
  EXPECT_EQ(frontend_attribute(x, "e"), "");
  EXPECT_EQ(frontend_attribute(x, "b"), std::nullopt);
}

}  // namespace
}  // namespace hlosim
