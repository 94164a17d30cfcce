// scatter rank sum
// error: scatter C7: 1 update_window_dims, 1 inserted_window_dims and 0 input_batching_dims, expected 3 together
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter update rank
// error: scatter C7: 2 update_window_dims, 2 inserted_window_dims and 0 input_batching_dims, expected 3 together
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter window sorted
// error: scatter C5: update_window_dims holds 2 after 3, expected ascending values, each once
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x1xi32>, %u: tensor<2x3x4x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 2], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x1xi32>, tensor<2x3x4x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter window unique
// error: scatter C5: update_window_dims holds 2 after 2, expected ascending values, each once
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x1xi32>, %u: tensor<2x3x4x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 2], inserted_window_dims = [0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x1xi32>, tensor<2x3x4x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter window range
// error: scatter C5: update_window_dims holds 3, expected values in [0, 3)
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter window negative
// error: scatter C5: update_window_dims holds -1, expected values in [0, 3)
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [-1], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter inserted sorted
// error: scatter C6: inserted_window_dims holds 0 after 1, expected ascending values, each once
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1, 0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter inserted unique
// error: scatter C6: inserted_window_dims holds 0 after 0, expected ascending values, each once
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter inserted range
// error: scatter C6: inserted_window_dims holds 3, expected values in [0, 3)
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 3], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter inserted negative
// error: scatter C6: inserted_window_dims holds -1, expected values in [0, 3)
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [-1, 0], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter map size
// error: scatter C3: scatter_dims_to_operand_dims has 1 entries, expected 2
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter map unique
// error: scatter C3: scatter_dims_to_operand_dims holds 0 more than once, expected each dimension at most once
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 0], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter map range
// error: scatter C3: scatter_dims_to_operand_dims holds 3, expected values in [0, 3)
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 3], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter map negative
// error: scatter C3: scatter_dims_to_operand_dims holds -1, expected values in [0, 3)
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, -1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter vector range
// error: scatter C2: index_vector_dim is 4, expected 0 to 3 for indices s32[2,3,2]
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 4>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter vector negative
// error: scatter C2: index_vector_dim is -1, expected 0 to 3 for indices s32[2,3,2]
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = -1>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter window bound
// error: scatter C9: dimension 2 of updates s32[2,3,3] is a window of dimension 2 of s32[3,4,2], expected at most 2 elements
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x3xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x3xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter scatter bound
// error: scatter C10: dimension 1 of updates s32[2,4,2] is dimension 1 of indices s32[2,3,2], expected the same size
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x4x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x4x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter update type
// error: stablehlo.scatter: C6: tensor<3x4x2xi32> and tensor<2x3x2xf32> differ in their elements, expected the same type
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xf32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xf32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter index type
// error: stablehlo.scatter: I2: operand 1 is tensor<2x3x2xf32>, expected a tensor of integers
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xf32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xf32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter result shape
// error: stablehlo.scatter: C24: result 0 is tensor<3x4x3xi32>, expected tensor<3x4x2xi32>
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x3xi32>
  return
}
// -----
// scatter result type
// error: stablehlo.scatter: C24: result 0 is tensor<3x4x2xf32>, expected tensor<3x4x2xi32>
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xf32>
  return
}
// -----
// scatter batch overlap
// error: scatter C6: inserted_window_dims and input_batching_dims both hold 0, expected no common dimension
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<3x3x1xi32>, %u: tensor<3x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<3x3x1xi32>, tensor<3x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter batch sizes
// error: stablehlo.scatter: batching: dimension 0 of tensor<3x4x2xi32> and 0 of tensor<2x3x1xi32> differ in size
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x1xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x1xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter batch counts
// error: stablehlo.scatter: batching: 1 dimensions of the operand and 0 of the indices, expected as many
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<3x3x1xi32>, %u: tensor<3x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<3x3x1xi32>, tensor<3x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter batch vector
// error: scatter C3: scatter_dims_to_operand_dims has 1 entries, expected 3
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<3x1x3xi32>, %u: tensor<3x1x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<3x1x3xi32>, tensor<3x1x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter batch in map
// error: stablehlo.scatter: batching: dimension 0 of tensor<3x4x2xi32> has an index too
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<3x3x1xi32>, %u: tensor<3x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<3x3x1xi32>, tensor<3x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter batch unsorted
// error: scatter C4: input_batching_dims holds 0 after 1, expected ascending values, each once
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<4x3x1xi32>, %u: tensor<4x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [], input_batching_dims = [1, 0], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<4x3x1xi32>, tensor<4x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter batch range
// error: stablehlo.scatter: batching: dimension 3 of tensor<3x4x2xi32> or 0 of tensor<3x3x1xi32> isn't one
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<3x3x1xi32>, %u: tensor<3x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [3], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<3x3x1xi32>, tensor<3x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter batch indices range
// error: stablehlo.scatter: batching: dimension 0 of tensor<3x4x2xi32> or 3 of tensor<3x3x1xi32> isn't one
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<3x3x1xi32>, %u: tensor<3x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [3], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<3x3x1xi32>, tensor<3x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter batch indices unique
// error: stablehlo.scatter: batching: dimension 1 of tensor<3x4x2xi32> and 0 of tensor<3x3x1xi32> differ in size
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<3x3x1xi32>, %u: tensor<3x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<3x3x1xi32>, tensor<3x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body no value
// error: stablehlo.scatter: C23: the reducer returns 0 values, expected 1
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): "stablehlo.return"() : () -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body two values
// error: stablehlo.scatter: C23: the reducer returns 2 values, expected 1
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): "stablehlo.return"(%p, %q) : (tensor<i32>, tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body one argument
// error: stablehlo.scatter: C23: the reducer takes 1 values, expected 2
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>): "stablehlo.return"(%p) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body three arguments
// error: stablehlo.scatter: C23: the reducer takes 3 values, expected 2
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>, %t: tensor<i32>): "stablehlo.return"(%p) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body rank 1
// error: stablehlo.scatter: C23: the reducer makes tensor<1xi32> of elements of tensor<3x4x2xi32>
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<1xi32>, %q: tensor<1xi32>): %s = "stablehlo.add"(%p, %q) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32> "stablehlo.return"(%s) : (tensor<1xi32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body tuple
// error: stablehlo.scatter: C23: the reducer makes tuple<tensor<i32>> of tensor<i32> and tensor<i32>, expected one type
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.tuple"(%p) : (tensor<i32>) -> tuple<tensor<i32>> "stablehlo.return"(%s) : (tuple<tensor<i32>>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body other type
// error: stablehlo.scatter: C23: the reducer makes tensor<f32> of tensor<i32> and tensor<i32>, expected one type
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.convert"(%p) : (tensor<i32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body argument type
// error: stablehlo.scatter: C23: the reducer makes tensor<i32> of tensor<i32> and tensor<f32>, expected one type
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i32>, %q: tensor<f32>): "stablehlo.return"(%p) : (tensor<i32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body float
// error: stablehlo.scatter: C23: the reducer takes tensor<f32>, but the elements are of tensor<2x3x2xi32>
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
// -----
// scatter body i8
// error: stablehlo.scatter: C23: the reducer takes tensor<i8>, but the elements are of tensor<2x3x2xi32>
func.func @main(%x: tensor<3x4x2xi32>, %i: tensor<2x3x2xi32>, %u: tensor<2x3x2xi32>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({ ^bb0(%p: tensor<i8>, %q: tensor<i8>): %s = "stablehlo.add"(%p, %q) : (tensor<i8>, tensor<i8>) -> tensor<i8> "stablehlo.return"(%s) : (tensor<i8>) -> () }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], input_batching_dims = [], scatter_indices_batching_dims = [], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<3x4x2xi32>, tensor<2x3x2xi32>, tensor<2x3x2xi32>) -> tensor<3x4x2xi32>
  return
}
