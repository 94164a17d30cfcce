#include "report/scope.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

TEST(Scope, TransformationsGivePhases) {
  EXPECT_EQ(scope_of("jit(train_step)/jit(main)/jvp(layer_0/attention)/dot_general"),
            (Scope{Phase::kForward, "layer_#/attention", "dot_general"}));
  EXPECT_EQ(scope_of("jit(train_step)/jit(main)/transpose(jvp(layer_12/attention))/dot_general"),
            (Scope{Phase::kBackward, "layer_#/attention", "dot_general"}));
  EXPECT_EQ(scope_of("jit(f)/transpose(jvp(decoder))/while/body/rematted_computation/mlp/mul"),
            (Scope{Phase::kRecomputed, "decoder/mlp", "mul"}));
  EXPECT_EQ(scope_of("jit(f)/jit(main)/while/body/vmap(head)/add"), (Scope{Phase::kOther, "head", "add"}));
}

TEST(Scope, NamesWithoutScopesAreTheirPrimitive) {
  EXPECT_EQ(scope_of("jit(f)/jit(main)/mul"), (Scope{Phase::kOther, "", "mul"}));
  EXPECT_EQ(scope_of("step/attention"), (Scope{Phase::kOther, "step", "attention"}));
  EXPECT_EQ(scope_of(""), Scope());
  EXPECT_EQ(scope_of("jit(f)"), Scope());
}

TEST(Scope, UnbalancedParenthesesAreText) {
  EXPECT_EQ(scope_of("a)/b"), (Scope{Phase::kOther, "a)", "b"}));
  EXPECT_EQ(scope_of("transpose(jvp(a/b"), (Scope{Phase::kOther, "", "transpose(jvp(a/b"}));
}

TEST(Scope, PlaceHasTheLineAndTheEndOfTheName) {
  ReportInstruction row;
  row.op_name = "jit(f)/jit(main)/transpose(jvp(layer_0/attention))/dot_general";
  EXPECT_EQ(place_of(row), "backward attention/dot_general");
  row.source_file = "/app/models/step.py";
  row.source_line = 25;
  EXPECT_EQ(place_of(row), "step.py:25 backward attention/dot_general");
  // Of what is too long, the source line is the last to go.
  EXPECT_EQ(place_of(row, 41), "step.py:25 backward attention/dot_general");
  EXPECT_EQ(place_of(row, 40), "step.py:25 backward dot_general");
  EXPECT_EQ(place_of(row, 20), "step.py:25 backward");
  EXPECT_EQ(place_of(row, 10), "step.py:25");
  row.op_name = {};
  EXPECT_EQ(place_of(row), "step.py:25");
  row.source_file = {};
  EXPECT_EQ(place_of(row), "");
}

}  // namespace
}  // namespace hlosim
