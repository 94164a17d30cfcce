#include "hlo/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/modules.h"

namespace hlosim {
namespace {

using test::findings;
using test::read_or_fail;
using testing::HasSubstr;

std::string printed(std::string_view text) {
  std::string all;
  for (const Module& module : read_or_fail(text)) all += to_text(module, op_table());
  return all;
}

/// The right-hand side of the entry's root as printed.
std::string printed_root(std::string_view text) {
  const std::vector<Module> modules = read_or_fail(text);
  if (modules.size() != 1) return "not one module";
  const Module& module = modules[0];
  const std::string line = to_text(module, module.root(module.entry), op_table());
  return line.substr(line.find(" = ") + 3);
}

TEST(Reader, PrintsAModuleInOneStyle) {
  const char* text =
      R"(HloModule m, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, replica_count=2
 sum (a: f32[], b: f32[]) -> f32[] { a = f32[] parameter(0)
 b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
/* a comment */ ENTRY %main { %x = f32[2] parameter(0), sharding={replicated} // another
   ROOT %y = f32[2]{0} all-reduce(f32[2] %x), replica_groups={{0,1}}, to_apply=%sum, metadata={op_name="a b" source_line=3} }
)";
  EXPECT_EQ(
      printed(text),
      R"(HloModule m, is_scheduled=true, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, replica_count=2

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %main (x: f32[2]) -> f32[2]{0} {
  %x = f32[2]{0} parameter(0), sharding={replicated}
  ROOT %y = f32[2]{0} all-reduce(%x), replica_groups={{0,1}}, to_apply=%sum, metadata={op_name="a b" source_line=3}
}
)");
}

TEST(Reader, PrintingIsAFixedPoint) {
  const char* texts[] = {
      "ENTRY e { c = s4[2,3]{1,0:E(4)} constant({ {1, -8, 7}, {0, 0, 1} }) }",
      "ENTRY e { c = (f32[], (s32[2], pred[])) constant(( 1.5, ( {1, 2}, true ) )) }",
      "ENTRY e { c = c64[2] constant({(1, -2), (inf, nan)}) }",
      "ENTRY e { c = bf16[3]{0:T(256)(128)(2,1)S(1)} constant({-0.0, 0.1, nan(0x1)}) }",
      "ENTRY e { c = f32[1000,1000] constant({...}) }",
      "ENTRY e { c = f32[0,2] constant({}) }",
      "ENTRY e { c = f32[2,0] constant({ {}, {} }) }",
      "ENTRY e { p = (f32[2], s32[]) parameter(0) ROOT a = f32[2] negate(p#0) }",
      "f { a = f32[] parameter(0) ROOT b = f32[] negate(a) } ENTRY e { p = f32[3] parameter(0) "
      "s = ((f32[3]), f32[3], s32[]) map-start(p), dimensions={0}, to_apply=f, async_execution_thread=\"t\", "
      "metadata={op_name=\"n\"} u = ((f32[3]), f32[3], s32[]) map-update(s) ROOT d = f32[3] map-done(u) }",
      "ENTRY e { p = f32[3] parameter(0) i = f32[] constant(0) ROOT r = f32[] reduce(p, i), dimensions={0}, "
      "to_apply={ x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) } }",
  };
  for (const char* text : texts) {
    const std::string once = printed(text);
    EXPECT_EQ(printed(once), once) << text;
  }
}

TEST(Reader, KeepsEveryAttributeForm) {
  const std::pair<const char*, const char*> rows[] = {
      {"f32[4] all-gather(f32[2] p), replica_groups=[2,4]<=[4,2]T(1,0), dimensions={0}, channel_id=1, "
       "use_global_device_ids=true",
       "replica_groups=[2,4]<=[4,2]T(1,0), dimensions={0}, channel_id=1, use_global_device_ids=true"},
      {"f32[4] all-gather(f32[2] p), replica_groups=mesh['x'=2,'y'=4] {'x','y':(2)2}, dimensions={0}",
       "replica_groups=mesh['x'=2,'y'=4] {'x','y':(2)2}"},
      {"f32[2] collective-permute(f32[2] p), source_target_pairs={{0,1},{1,0}}",
       "source_target_pairs={{0,1},{1,0}}"},
      {"f32[1,2] slice(f32[4,9] p), slice={[0:1], [1:9:4]}", "slice={[0:1], [1:9:4]}"},
      {"f32[9,7] pad(f32[4,9] p, f32[] z), padding=1_1_1x-1_-1", "padding=1_1_1x-1_-1"},
      {"f32[1,1] reduce-window(f32[4,4] p, f32[] z), window={size=3x3 stride=2x1 pad=0_0x1_-1 "
       "rhs_dilate=1x2}, to_apply={ x = f32[] "
       "parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }",
       "window={size=3x3 stride=2x1 pad=0_0x1_-1 rhs_dilate=1x2}"},
      {"f32[2] tanh(f32[2] p), result_accuracy={tolerance={atol=1,rtol=0.5,ulps=2}}",
       "result_accuracy={tolerance={atol=1,rtol=0.5,ulps=2}}"},
      {"f32[2] negate(f32[2] p), backend_config={\"a\":{\"b\":\"}\"}}, "
       "frontend_attributes={x.y=\"1\",z={\"k\":2}}, "
       "origin={{\"a\" {0}}}, statistics={visualizing_index=1, a=2}",
       "backend_config={\"a\":{\"b\":\"}\"}}, frontend_attributes={x.y=\"1\",z={\"k\":2}}, origin={{\"a\" "
       "{0}}}, statistics={visualizing_index=1, a=2}"},
      {"f32[4,4] dot(f32[4,4] a, f32[4,4] b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
       "operand_precision={HIGHEST,default}",
       "operand_precision={highest,default}"},
      {"f32[2] custom-call(f32[2] p), custom_call_target=\"x\", literal=s32[2] {1, 2}, "
       "operand_layout_constraints={f32[2]{0}}, "
       "output_to_operand_aliasing={{}: (0, {})}, api_version=api_version_typed_ffi, backend_config={n = 1 : "
       "i32}",
       "literal=s32[2]{0} {1, 2}, operand_layout_constraints={f32[2]{0}}, output_to_operand_aliasing={ {}: "
       "(0, {}) }, "
       "api_version=API_VERSION_TYPED_FFI, backend_config={n = 1 : i32}"},
      {"f32[2] negate(f32[2] p), sharding={devices=[2,1]<=[2] last_tile_dim_replicate "
       "metadata={op_name=\"s\"}}",
       "sharding={devices=[2,1]<=[2] last_tile_dim_replicate metadata={op_name=\"s\"}}"},
      {"f32[2] negate(f32[2] p), sharding={mesh['x'=2], [{'x'}], replicated={}}",
       "sharding={mesh['x'=2], [{'x'}], replicated={}}"},
  };
  for (const auto& [text, expected] : rows) EXPECT_THAT(printed_root(text), HasSubstr(expected));
}

TEST(Reader, TranslatesSpellingsOfEarlierYears) {
  const std::pair<const char*, const char*> rows[] = {
      {"x = pred[2] greater-than-or-equal-to(f32[2] a, f32[2] b)",
       "pred[2]{0} compare(%a, %b), direction=GE"},
      {"f { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) } ENTRY e { p = f32[2] "
       "parameter(0) "
       "ROOT r = f32[2] cross-replica-sum(p), replica_group_ids={0,0,1,1}, barrier=\"\", all_reduce_id=7, "
       "to_apply=f }",
       "f32[2]{0} all-reduce(%p), replica_groups={{0,1},{2,3}}, channel_id=7, to_apply=%f"},
      {"x = f32[2,3] constant(f32[2,3] { {1,2,3}, {4,5,6} })",
       "f32[2,3]{1,0} constant({ {1, 2, 3}, {4, 5, 6} })"},
      {"x = (f32[2,1], f32[2]) constant((f32[2,1], f32[2]) ( f32[2,1] { {1}, {2} }, {2, 42} ))",
       "(f32[2,1]{1,0}, f32[2]{0}) constant(( { {1}, {2} }, {2, 42} ))"},
      {"x = token[] generate-token()", "token[] after-all()"},
      {"x = f32[2] negate(f32[2] p), sharding={s32[5,6] devices=[2,1]0,1}",
       "f32[2]{0} negate(%p), sharding={s32[5,6] devices=[2,1]0,1}"},
      {"x = f32[2] custom-call(f32[2] p), custom_call_target=\"t\", opaque=\"o\"",
       "f32[2]{0} custom-call(%p), custom_call_target=\"t\", backend_config=\"o\""},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(printed_root(text), expected);
}

TEST(Reader, ReadsSeveralModulesOfOneFile) {
  const char* text =
      "// RUN: something\nHloModule a\nENTRY e { x = f32[] parameter(0) }\nHloModule b\nENTRY e { x = s32[] "
      "parameter(0) }\n"
      "// -----\n\nENTRY lonely { x = u8[] parameter(0) }\n// ----- not a separator\n";
  const std::vector<Module> modules = read_or_fail(text);
  ASSERT_EQ(modules.size(), 3u);
  EXPECT_EQ(modules[0].name, "a");
  EXPECT_EQ(modules[1].name, "b");
  EXPECT_EQ(modules[2].name, "module_lonely");
}

TEST(Reader, ASingleInstructionInventsItsParameters) {
  const std::vector<Module> modules = read_or_fail("f32[10] add(f32[10], f32[10] other)");
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].entry_computation().parameters.size(), 2u);
  EXPECT_EQ(modules[0][modules[0].entry_computation().parameters[1]].name, "other");
}

TEST(Reader, ReportsSeveralErrorsAndNoneThatFollowFromOthers) {
  const std::string all = findings(R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] negat(a)
  c = f32[2] add(b, a)
  d = f32[2] add(a, aa), metadat={}
  ROOT r = f32[2] multiply(c, d)
}
)",
                                   true);
  EXPECT_EQ(all, R"(test.hlo:4:14: error: expects an opcode, but sees 'negat'
    b = f32[2] negat(a)
               ^
  hint: did you mean "negate"?
test.hlo:6:21: error: instruction does not exist: aa
    d = f32[2] add(a, aa), metadat={}
                      ^
  hint: did you mean "a"?
)");
}

TEST(Reader, ATupleKeepsItsLayoutsAndATransferIsWhatItsOperandsAre) {
  EXPECT_EQ(printed_root("x = (f32[2]{0:T(8)S(1)}) tuple(f32[2] a)"), "(f32[2]{0:T(8)S(1)}) tuple(%a)");
  EXPECT_EQ(printed_root("x = (bf16[2], u32[], token[]) send(f32[2] a, token[] t)"),
            "(f32[2]{0}, u32[], token[]) send(%a, %t)");
  EXPECT_THAT(
      findings("x = (bf16[2], u32[], token[]) send(f32[2] a, token[] t)"),
      HasSubstr("warning: send: the declared shape (bf16[2], u32[], token[]) is passed over for (f32[2], "
                "u32[], token[]), which the operands give"));
}

// Whatever calls a computation that could not be read is passed over, too.
TEST(Reader, NothingIsSaidOfCallersOfBrokenComputations) {
  const std::string_view broken[] = {
      "",                        // no instruction
      "  x = f32[] negat(y)\n",  // none that could be read
      "  x = f32[] negat(y)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(b, b)\n",  // a parameter is
                                                                                       // missing
      "  b = f32[] parameter(0)\n  ROOT c = f32[] negat(b)\n",                         // the root is missing
  };
  int callers = 0;
  for (int opcode = 0; opcode < kOpcodeCount; ++opcode) {
    const OpDef& def = op_table()[static_cast<Opcode>(opcode)];
    std::string attrs;
    for (const AttrSpec& spec : def.attrs)
      if (spec.syntax == AttrSyntax::kComputation || spec.syntax == AttrSyntax::kComputations)
        attrs += fmt::format(", {}={}", to_text(spec.key),
                             spec.syntax == AttrSyntax::kComputation ? "broken" : "{broken, broken}");
    if (attrs.empty()) continue;
    ++callers;
    std::string operands;
    for (int i = 0; i < std::max(def.arity.min, 2); ++i) operands += i == 0 ? "p" : ", p";
    for (const std::string_view body : broken)
      for (const std::string_view shape : {"", "f32[] ", "((f32[]), f32[]) "}) {
        const std::string text = fmt::format(
            "HloModule m\nbroken {{\n{}}}\nENTRY e {{\n  p = f32[] parameter(0)\n  x = {}{}({}){}\n"
            "  ROOT y = f32[] negate(x)\n}}\n",
            body, shape, def.name, operands, attrs);
        const std::string said = findings(text);
        EXPECT_THAT(said, HasSubstr("error")) << text;
        if (body.empty()) {
          EXPECT_THAT(said, HasSubstr("test.hlo:3:")) << text;
        }
      }
  }
  EXPECT_GT(callers, 15);
}

TEST(Reader, NamesTextsOfOtherKinds) {
  EXPECT_THAT(findings("BufferAssignment:\nallocation 0: size 4"),
              HasSubstr("this is a buffer-assignment dump, not HLO text"));
  EXPECT_THAT(findings("hlo_module {\n}"), HasSubstr("this is a text proto of an HLO module"));
  EXPECT_THAT(findings("module @jit_f attributes {}"), HasSubstr("this is an MLIR module"));
  EXPECT_THAT(findings(" \n // nothing\n"), HasSubstr("no HLO module in the input"));
  EXPECT_THAT(findings(std::string_view("HloModule m\nENTRY e { x = f32[] \0 parameter(0) }", 47)),
              HasSubstr("a NUL byte"));
}

TEST(Reader, ScalesToDeepNestingWithAnAnswer) {
  std::string deep = "f32[2] ";
  for (int i = 0; i < 100000; ++i) deep += "negate(f32[2] ";
  EXPECT_THAT(findings(deep, true), HasSubstr("instructions nest too deeply"));
  std::string tuple(100000, '(');
  EXPECT_THAT(findings("ENTRY e { x = " + tuple, true), HasSubstr("error"));
  std::string inline_bodies = "ENTRY e { x = f32[] parameter(0)";
  for (int i = 0; i < 5000; ++i) inline_bodies += " y = f32[] call(x), to_apply={ x = f32[] parameter(0)";
  EXPECT_THAT(findings(inline_bodies, true), HasSubstr("inline computations nest too deeply"));
}

TEST(Reader, EveryPrefixOfAModuleIsAnAnswerOrAnError) {
  const std::string text = R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e { y = f32[] constant(-1.5e3) p = f32[2,2]{1,0:T(2,2)S(1)} parameter(0), metadata={op_name="a\"b"}
 c = f32[2,2] constant({ {1, 2}, {nan, -inf} })
 ROOT t = (f32[2,2], f32[]) tuple(c, /*index=1*/f32[] constant(2)) }
)";
  for (size_t size = 0; size < text.size(); ++size) {
    DiagnosticList diagnostics;
    read_modules(test::source_of(std::string_view(text).substr(0, size)), op_table(), diagnostics);
    if (size < text.rfind('}')) {
      EXPECT_TRUE(diagnostics.has_errors()) << text.substr(0, size);
    }
  }
}

TEST(Reader, MadeUpNamesGiveWayToThoseOfTheText) {
  const std::string text = printed(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  s = ((f32[2]), f32[2], u32[]) negate-start(x)
  inner = f32[2] call(x), to_apply={ y = f32[2] parameter(0) ROOT z = f32[2] negate(y) }
  sum = f32[2] add(f32[2] negate(x), f32[2] negate(inner))
  pair = (f32[2], f32[2]) tuple(sum, x)
  one = f32[2] tanh(pair#1)
  pair_1 = f32[2] sine(x)
  negate.anon = f32[2] cosine(x)
  ROOT d = f32[2] negate-done(s)
}
async_computation { ROOT x = f32[2] parameter(0) }
inline_computation { ROOT x = f32[2] parameter(0) }
)");
  EXPECT_THAT(text, HasSubstr("%async_computation (x: f32[2])"));
  EXPECT_THAT(text, HasSubstr("%inline_computation.1 (y: f32[2])"));
  EXPECT_THAT(text, HasSubstr("%sum = f32[2]{0} add(%negate.anon.2, %negate.anon.1)"));
  EXPECT_THAT(text, HasSubstr("%pair_1.1 = f32[2]{0} get-tuple-element(%pair), index=1"));
  EXPECT_EQ(printed(text), text);
}

TEST(Reader, MadeUpNamesTakeLinearTime) {
  // 30,000 names of one base each: seconds, if every one were looked for from the first number on.
  std::string text = "ENTRY e { x = f32[2] parameter(0)";
  for (int i = 0; i < 30000; ++i)
    text += fmt::format(
        " start{0} = ((f32[2]), f32[2]) negate-start(f32[2] negate(x)) done{0} = f32[2] "
        "negate-done(start{0})",
        i);
  const std::vector<Module> modules = read_or_fail(text + "}");
  ASSERT_EQ(modules.size(), 1u);
  EXPECT_EQ(modules[0].computations.size(), 30001u);
}

}  // namespace
}  // namespace hlosim
