#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/report_text.h"
#include "support/estimated.h"

namespace hlosim {
namespace {

using test::Estimated;
using test::estimated;
using testing::HasSubstr;

TEST(BriefReport, LinesFitATerminalAndSourceLinesAreWhole) {
  const Estimated e = estimated(
      R"(HloModule jit_train_step, is_scheduled=true
ENTRY main {
  a = bf16[65536,8192]{1,0:T(8,128)(2,1)} parameter(0), metadata={op_name="params['a']"}
  s = bf16[8192,8192]{1,0:T(8,128)(2,1)} parameter(1), metadata={op_name="opt_state[0].mu"}
  a_name_that_is_longer_than_its_column.1 = bf16[65536,8192]{1,0:T(8,128)(2,1)} dot(a, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/transpose(jvp(decoder/layers/attention_with_a_long_name))/another_long_scope/dot_general" source_file="/app/models/modeling_llama3.py" source_line=1975}
  ROOT b = bf16[65536,8192]{1,0:T(8,128)(2,1)} negate(a_name_that_is_longer_than_its_column.1)
}
)",
      "v6e");
  Report report = e.report;
  report.module_file = "/home/somebody/a/folder/with/a/long/name/and/another/module_0001.jit_train_step.hlo";
  const std::string text = brief_text(report, {});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_THAT(text, HasSubstr("modeling_llama3.py:1975"));
  EXPECT_THAT(text, HasSubstr("train_step.hlo; v6e"));
}

}  // namespace
}  // namespace hlosim
