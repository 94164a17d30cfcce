// Literals and values of attributes, stored in the arena of a module. All that make instructions share them:
// ModuleBuilder, the partitioner's Emitter, StableHLO's lowering, expressions of language models, passes.
//
//   const Literal* one = scalar_literal(module, ElementType::kBF16, 1);
//   const Attr attrs[] = {ints_attr(module, AttrKey::kDimensions, order)};
#pragma once

#include <span>
#include <vector>

#include "hlo/module.h"

namespace hlosim {

std::span<const std::span<const int64_t>> stored_lists(Module& module,
                                                       const std::vector<std::vector<int64_t>>& lists);
Attr ints_attr(Module& module, AttrKey key, std::span<const int64_t> values,
               AttrSyntax syntax = AttrSyntax::kInts);
Attr int_lists_attr(Module& module, AttrKey key, AttrSyntax syntax,
                    const std::vector<std::vector<int64_t>>& lists);
Attr computation_attr(Module& module, AttrKey key, ComputationId computation);

/// `data` as in Literal, of an array of that shape.
const Literal* array_literal(Module& module, ShapeRef shape, std::span<const std::byte> data);
/// Integers or preds, row-major: the low bytes of each value.
const Literal* integer_literal(Module& module, ShapeRef shape, std::span<const int64_t> values);
/// A scalar of a number type, rounded to nearest even; the real part of a complex one.
const Literal* scalar_literal(Module& module, ElementType type, double value);

}  // namespace hlosim
