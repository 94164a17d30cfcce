// gather rank sum
// error: gather C9: 2 offset_dims, 2 collapsed_slice_dims and 0 operand_batching_dims, expected 3 together
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather rank sum
// error: gather C9: 2 offset_dims, 2 collapsed_slice_dims and 0 operand_batching_dims, expected 3 together
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather vector dim high
// error: gather C2: index_vector_dim is 4, expected 0 to 3 for indices s32[1,5,2]
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 4>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather vector dim high
// error: gather C2: index_vector_dim is 4, expected 0 to 3 for indices s32[1,5,2]
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 4>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather vector dim negative
// error: gather C2: index_vector_dim is -1, expected 0 to 3 for indices s32[1,5,2]
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = -1>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather vector dim negative
// error: gather C2: index_vector_dim is -1, expected 0 to 3 for indices s32[1,5,2]
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = -1>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather map size
// error: gather C3: start_index_map has 1 entries, expected 2
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather map size
// error: gather C3: start_index_map has 1 entries, expected 2
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather offset sorted
// error: gather C5: offset_dims holds 1 after 2, expected ascending values, each once
func.func @main(%x: tensor<16x11xi32>, %i: tensor<5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 8, 6>, indices_are_sorted = false} : (tensor<16x11xi32>, tensor<5x2xi32>) -> tensor<5x8x6xi32>
  return
}
// -----
// dynamic_gather offset sorted
// error: gather C5: offset_dims holds 1 after 2, expected ascending values, each once
func.func @main(%x: tensor<16x11xi32>, %i: tensor<5x2xi32>) {
  %z = stablehlo.constant dense<[8, 6]> : tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2, 1], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false} : (tensor<16x11xi32>, tensor<5x2xi32>, tensor<2xi32>) -> tensor<5x8x6xi32>
  return
}
// -----
// gather offset unique
// error: gather C5: offset_dims holds 2 after 2, expected ascending values, each once
func.func @main(%x: tensor<16x11xi32>, %i: tensor<5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2, 2], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 8, 6>, indices_are_sorted = false} : (tensor<16x11xi32>, tensor<5x2xi32>) -> tensor<5x8x6xi32>
  return
}
// -----
// dynamic_gather offset unique
// error: gather C5: offset_dims holds 2 after 2, expected ascending values, each once
func.func @main(%x: tensor<16x11xi32>, %i: tensor<5x2xi32>) {
  %z = stablehlo.constant dense<[8, 6]> : tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2, 2], collapsed_slice_dims = [], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false} : (tensor<16x11xi32>, tensor<5x2xi32>, tensor<2xi32>) -> tensor<5x8x6xi32>
  return
}
// -----
// gather offset range
// error: gather C5: offset_dims holds 3, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather offset range
// error: gather C5: offset_dims holds 3, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather offset negative
// error: gather C5: offset_dims holds -1, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [-1], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather offset negative
// error: gather C5: offset_dims holds -1, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [-1], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather collapsed sorted
// error: gather C6: collapsed_slice_dims holds 0 after 1, expected ascending values, each once
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather collapsed sorted
// error: gather C6: collapsed_slice_dims holds 0 after 1, expected ascending values, each once
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather collapsed unique
// error: gather C6: collapsed_slice_dims holds 0 after 0, expected ascending values, each once
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather collapsed unique
// error: gather C6: collapsed_slice_dims holds 0 after 0, expected ascending values, each once
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather collapsed range
// error: gather C6: collapsed_slice_dims holds 3, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 3], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather collapsed range
// error: gather C6: collapsed_slice_dims holds 3, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 3], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather collapsed negative
// error: gather C6: collapsed_slice_dims holds -1, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [-1, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather collapsed negative
// error: gather C6: collapsed_slice_dims holds -1, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [-1, 0], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather slice above one
// error: gather C8: slice size of dimension 1 is 2, expected 0 or 1: it is not a dimension of the result
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather slice size
// error: gather C7: slice size 10 of dimension 2 of s32[2,4,9], expected 0 to 9
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 10>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather slice negative
// error: gather C7: slice size -1 of dimension 0 of s32[2,4,9], expected 0 to 2
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: -1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather slices count
// error: gather C7: slice_sizes has 2 entries, expected 3
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather map unique
// error: gather C3: start_index_map holds 0 more than once, expected each dimension at most once
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather map unique
// error: gather C3: start_index_map holds 0 more than once, expected each dimension at most once
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 0], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather map range
// error: gather C3: start_index_map holds 3, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 3], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather map range
// error: gather C3: start_index_map holds 3, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 3], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather map negative
// error: gather C3: start_index_map holds -1, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, -1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// dynamic_gather map negative
// error: gather C3: start_index_map holds -1, expected values in [0, 3)
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, -1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather result shape
// error: gather: expected instruction to have shape equal to s32[1,5,8], actual shape is s32[1,5,7]
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x7xi32>
  return
}
// -----
// gather result type
// error: stablehlo.gather: C23: tensor<2x4x9xi32> and tensor<1x5x8xf32> differ in their elements, expected the same type
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<1x5x8xf32>
  return
}
// -----
// dynamic_gather result type
// error: stablehlo.dynamic_gather: C23: tensor<2x4x9xi32> and tensor<1x5x8xf32> differ in their elements, expected the same type
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<1x5x8xf32>
  return
}
// -----
// gather result rank
// error: gather: expected instruction to have shape equal to s32[1,5,8], actual shape is s32[5,8]
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> tensor<5x8xi32>
  return
}
// -----
// dynamic_gather result rank
// error: gather: expected instruction to have shape equal to s32[1,5,8], actual shape is s32[5,8]
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>, tensor<3xi32>) -> tensor<5x8xi32>
  return
}
// -----
// gather index type
// error: stablehlo.gather: I2: operand 1 is tensor<1x5x2xf32>, expected a tensor of integers
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xf32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xf32>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather index pred
// error: stablehlo.gather: I2: operand 1 is tensor<1x5x2xi1>, expected a tensor of integers
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi1>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [], start_indices_batching_dims = [], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<1x5x2xi1>) -> tensor<1x5x8xi32>
  return
}
// -----
// gather batch overlap
// error: gather C6: collapsed_slice_dims and operand_batching_dims both hold 0, expected no common dimension
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// dynamic_gather batch overlap
// error: gather C6: collapsed_slice_dims and operand_batching_dims both hold 0, expected no common dimension
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>, tensor<3xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// gather batch sizes
// error: stablehlo.gather: batching: dimension 0 of tensor<2x4x9xi32> and 0 of tensor<3x5x1xi32> differ in size
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<3x5x1xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<3x5x1xi32>) -> tensor<3x5x8xi32>
  return
}
// -----
// dynamic_gather batch sizes
// error: stablehlo.dynamic_gather: batching: dimension 0 of tensor<2x4x9xi32> and 0 of tensor<3x5x1xi32> differ in size
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<3x5x1xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<3x5x1xi32>, tensor<3xi32>) -> tensor<3x5x8xi32>
  return
}
// -----
// gather batch counts
// error: stablehlo.gather: batching: 1 dimensions of the operand and 0 of the indices, expected as many
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// dynamic_gather batch counts
// error: stablehlo.dynamic_gather: batching: 1 dimensions of the operand and 0 of the indices, expected as many
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>, tensor<3xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// gather batch is vector dim
// error: gather C3: start_index_map has 1 entries, expected 2
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<5x1x2xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<5x1x2xi32>) -> tensor<5x1x8xi32>
  return
}
// -----
// dynamic_gather batch is vector dim
// error: gather C3: start_index_map has 1 entries, expected 2
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<5x1x2xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<5x1x2xi32>, tensor<3xi32>) -> tensor<5x1x8xi32>
  return
}
// -----
// gather batch in map
// error: stablehlo.gather: batching: dimension 0 of tensor<2x4x9xi32> has an index too
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// dynamic_gather batch in map
// error: stablehlo.dynamic_gather: batching: dimension 0 of tensor<2x4x9xi32> has an index too
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>, tensor<3xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// gather batch slice
// error: gather C8: slice size of dimension 0 is 2, expected 0 or 1: it is not a dimension of the result
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 2, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// gather batch unsorted
// error: gather C4: operand_batching_dims holds 0 after 1, expected ascending values, each once
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<4x2x1xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<4x2x1xi32>) -> tensor<4x2x8xi32>
  return
}
// -----
// dynamic_gather batch unsorted
// error: gather C4: operand_batching_dims holds 0 after 1, expected ascending values, each once
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<4x2x1xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<4x2x1xi32>, tensor<3xi32>) -> tensor<4x2x8xi32>
  return
}
// -----
// gather batch range
// error: stablehlo.gather: batching: dimension 3 of tensor<2x4x9xi32> or 0 of tensor<2x5x1xi32> isn't one
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [3], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// dynamic_gather batch range
// error: stablehlo.dynamic_gather: batching: dimension 3 of tensor<2x4x9xi32> or 0 of tensor<2x5x1xi32> isn't one
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [3], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>, tensor<3xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// gather batch indices range
// error: stablehlo.gather: batching: dimension 0 of tensor<2x4x9xi32> or 3 of tensor<2x5x1xi32> isn't one
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [3], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// dynamic_gather batch indices range
// error: stablehlo.dynamic_gather: batching: dimension 0 of tensor<2x4x9xi32> or 3 of tensor<2x5x1xi32> isn't one
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x5x1xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [3], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x5x1xi32>, tensor<3xi32>) -> tensor<2x5x8xi32>
  return
}
// -----
// gather batch indices unique
// error: stablehlo.gather: batching: dimension 1 of tensor<2x4x9xi32> and 0 of tensor<2x2x1xi32> differ in size
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x2x1xi32>) {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x2x1xi32>) -> tensor<2x2x8xi32>
  return
}
// -----
// dynamic_gather batch indices unique
// error: stablehlo.dynamic_gather: batching: dimension 1 of tensor<2x4x9xi32> and 0 of tensor<2x2x1xi32> differ in size
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<2x2x1xi32>) {
  %z = stablehlo.constant dense<[1, 1, 8]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %z) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<2x4x9xi32>, tensor<2x2x1xi32>, tensor<3xi32>) -> tensor<2x2x8xi32>
  return
}
