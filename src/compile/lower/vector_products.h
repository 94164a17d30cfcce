// Products with a vector are no work for a matrix unit.
#pragma once

#include "modules/edit.h"

namespace hlosim {

/// A dot of floats one side of which has only batch and contracting dimensions becomes a sum of products in
/// f32: the vector unit keeps up with memory, and sums that read the same matrix can share one pass over it.
/// Where the dimensions come in an order that would need a transpose, or the dot carries sparsity, it stays.
void sum_vector_products(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
