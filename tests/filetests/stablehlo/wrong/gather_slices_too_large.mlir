// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 9>}> : (tensor<4x8xf32>, tensor<i32>) -> tensor<9xf32>
  return %x : tensor<4x8xf32>
}
// ERR: gather_slices_too_large.mlir:4:8: error: gather C7: slice size 9 of dimension 1 of f32[4,8], expected 0 to 8
// ERR:     %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim...
// ERR:          ^
