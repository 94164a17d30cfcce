// Constants without elements: however many rows they have, they are read, printed and held in little.
#include <gtest/gtest.h>

#include "hlo/literal.h"
#include "support/modules.h"

namespace hlosim {
namespace {

/// What the only instruction of `ENTRY { ROOT c = SHAPE constant(VALUE) }` prints for its value.
std::string printed(std::string_view shape, std::string_view value) {
  const Module module = test::module_or_fail("ENTRY e {\n  ROOT c = " + std::string(shape) + " constant(" +
                                             std::string(value) + ")\n}\n");
  const Instruction& root = module.root(module.entry);
  EXPECT_FALSE(root.literal->elided) << shape;
  EXPECT_EQ(root.literal->data.size(), 0u) << shape;
  return to_text(*root.literal);
}

TEST(EmptyLiterals, FewRowsAreWrittenOut) {
  EXPECT_EQ(printed("f32[0]", "{}"), "{}");
  EXPECT_EQ(printed("f32[2,0]", "{ {}, {} }"), "{ {}, {} }");
  EXPECT_EQ(printed("f32[2,0]", "1"), "{ {}, {} }");
}

TEST(EmptyLiterals, NothingIsLeftOutOfThem) {
  EXPECT_EQ(printed("f32[0]", "{...}"), "{}");
  EXPECT_EQ(printed("f32[3,0,5]", "{...}"), "{ {  }, {  }, {  } }");
}

TEST(EmptyLiterals, ManyRowsAreNotWritten) {
  for (const std::string_view shape :
       {"f32[50,49,48,47,46,0]", "s8[1099511627776,0]", "pred[9223372036854775807,0]",
        "f32[4611686018427387904,4611686018427387904,0]"}) {
    EXPECT_EQ(printed(shape, "1"), "{...}") << shape;
    EXPECT_EQ(printed(shape, "{...}"), "{...}") << shape;  // what is printed means the same
  }
  // Rows behind the empty dimension count for nothing.
  EXPECT_EQ(printed("f32[0,1099511627776]", "1"), "{  }");
}

}  // namespace
}  // namespace hlosim
