// The rules of factors.h, by families.
#pragma once

#include "loop_factors/factor_builder.h"

namespace hlosim {

// Slices, pads, reads and writes at computed places: factors_of_parts.cc
void slice_factors(FactorBuilder& make);
void pad_factors(FactorBuilder& make);
void concatenate_factors(FactorBuilder& make);
void dynamic_slice_factors(FactorBuilder& make);
void dynamic_update_factors(FactorBuilder& make);
void gather_factors(FactorBuilder& make);
void scatter_factors(FactorBuilder& make);

// Sums, products, windows, matrices: factors_of_sums.cc
void reduce_factors(FactorBuilder& make);
void product_factors(FactorBuilder& make);
void convolution_factors(FactorBuilder& make);
void window_factors(FactorBuilder& make);
void select_and_scatter_factors(FactorBuilder& make);
void sort_factors(FactorBuilder& make);
void top_k_factors(FactorBuilder& make);
void square_factors(FactorBuilder& make);
void batch_norm_factors(FactorBuilder& make);

// Special cases of products, squares and sorts: factors_of_batches.cc
void ragged_product_factors(FactorBuilder& make);  // groups of rows, each with a matrix of its own
void scaled_product_factors(FactorBuilder& make);  // of operands in blocks that have a scale each
void spectral_factors(FactorBuilder& make);        // transforms of the last dimensions
void scan_factors(FactorBuilder& make);            // one slice after the other

// Collectives: factors_of_collectives.cc
void all_gather_factors(FactorBuilder& make);
void reduce_scatter_factors(FactorBuilder& make);
void all_to_all_factors(FactorBuilder& make);
void permute_factors(FactorBuilder& make);

}  // namespace hlosim
