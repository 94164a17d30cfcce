// Text of constants → Literal.
#pragma once

#include "hlo/cursor.h"
#include "hlo/literal.h"
#include "hlo/module.h"
#include "layout/shape_text.h"

namespace hlosim {

/// The literal of shape `shape` that stands at the cursor; null with the cursor's error set.
const Literal* read_literal(Cursor& in, Module& module, ShapeRef shape);

/// A literal that brings its shape: `f32[2] {1, 2}`, `(f32[] 1, s32[] 2)`.
const Literal* read_typed_literal(Cursor& in, Module& module, ShapeReader& shapes);

}  // namespace hlosim
