#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "layout/shape.h"
#include "layout/shape_text.h"

namespace hlosim::test {

/// The shape that a text writes, which has to be right.
inline ShapeRef shape_of(ShapePool& pool, std::string_view text) {
  const Result<ShapeRef> shape = parse_shape(pool, text);
  EXPECT_TRUE(shape) << text;
  return *shape;
}

}  // namespace hlosim::test
