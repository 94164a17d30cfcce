// constant type
// error: stablehlo.constant: C1: result 0 is tensor<2xf32>, expected tensor<2xi32>
func.func @main() {
  %0 = "stablehlo.constant"() {value = dense<1> : tensor<2xi32>} : () -> tensor<2xf32>
  return
}
// -----
// constant shape
// error: stablehlo.constant: C1: result 0 is tensor<3xi32>, expected tensor<2xi32>
func.func @main() {
  %0 = "stablehlo.constant"() {value = dense<1> : tensor<2xi32>} : () -> tensor<3xi32>
  return
}
// -----
// constant complex
// error: stablehlo.constant: C1: result 0 is tensor<2xcomplex<f32>>, expected tensor<2xf32>
func.func @main() {
  %0 = "stablehlo.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<2xcomplex<f32>>
  return
}
// -----
// constant shape3
// error: stablehlo.constant: C1: result 0 is tensor<2xi32>, expected tensor<3xi32>
func.func @main() {
  %0 = "stablehlo.constant"() {value = dense<[1,2,3]> : tensor<3xi32>} : () -> tensor<2xi32>
  return
}
// -----
// iota dimension
// error: iota C3: iota_dimension is 1, expected one of 1 dimensions, counted from 0
func.func @main() {
  %0 = "stablehlo.iota"() {iota_dimension = 1 : i64} : () -> tensor<2xf32>
  return
}
// -----
// iota negative
// error: iota C3: iota_dimension is -1, expected one of 1 dimensions, counted from 0
func.func @main() {
  %0 = "stablehlo.iota"() {iota_dimension = -1 : i64} : () -> tensor<2xf32>
  return
}
// -----
// iota scalar
// error: iota C2: result has shape f32[], expected at least one dimension
func.func @main() {
  %0 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<f32>
  return
}
// -----
// iota pred
// error: stablehlo.iota: O1: the result is tensor<2xi1>, expected a tensor of integers, floats or complex numbers
func.func @main() {
  %0 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<2xi1>
  return
}
// -----
// reshape count
// error: reshape C1: 6 elements in f32[6] become 4 in f32[2,2], expected the same number
func.func @main(%x: tensor<6xf32>) {
  %0 = "stablehlo.reshape"(%x) : (tensor<6xf32>) -> tensor<2x2xf32>
  return
}
// -----
// reshape type
// error: stablehlo.reshape: C1: tensor<6xf32> and tensor<2x3xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<6xf32>) {
  %0 = "stablehlo.reshape"(%x) : (tensor<6xf32>) -> tensor<2x3xi32>
  return
}
// -----
// bitcast size
// error: bitcast-convert: expected instruction to have shape equal to f32[2,2], actual shape is f32[2]
func.func @main(%x: tensor<2xf64>) {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<2xf64>) -> tensor<2xf32>
  return
}
// -----
// bitcast dims
// error: bitcast-convert: expected instruction to have shape equal to f32[2,2], actual shape is f32[2,4]
func.func @main(%x: tensor<2xf64>) {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<2xf64>) -> tensor<2x4xf32>
  return
}
// -----
// bitcast dims 2
// error: bitcast-convert: expected instruction to have shape equal to s32[2], actual shape is s32[3]
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<2xf32>) -> tensor<3xi32>
  return
}
// -----
// bitcast outer
// error: bitcast-convert: expected instruction to have shape equal to f64[2], actual shape is f64[3]
func.func @main(%x: tensor<2x2xf32>) {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<2x2xf32>) -> tensor<3xf64>
  return
}
// -----
// bitcast real to complex
// error: stablehlo.bitcast_convert: C2: tensor<2xf64> becomes tensor<2xcomplex<f32>>, expected complex numbers in both or none
func.func @main(%x: tensor<2xf64>) {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<2xf64>) -> tensor<2xcomplex<f32>>
  return
}
// -----
// bitcast complex to real
// error: stablehlo.bitcast_convert: C2: tensor<2xcomplex<f32>> becomes tensor<2xf64>, expected complex numbers in both or none
func.func @main(%x: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}
// -----
// bitcast pred
// error: bitcast-convert C4: u1[2] to s8[2], expected a last dimension of 8
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<2xi1>) -> tensor<2xi8>
  return
}
// -----
// broadcast_in_dim type
// error: stablehlo.broadcast_in_dim: C1: tensor<2xf32> and tensor<2xf64> differ in their elements, expected the same type
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf64>
  return
}
// -----
// broadcast_in_dim size
// error: stablehlo.broadcast_in_dim: broadcast_dimensions has 2 elements, expected 1: one for each dimension of the operand
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// broadcast_in_dim range
// error: stablehlo.broadcast_in_dim: broadcast_dimensions names dimension 2, but the result has 2
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = array<i64: 2>} : (tensor<2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// broadcast_in_dim negative
// error: stablehlo.broadcast_in_dim: broadcast_dimensions names dimension -1, but the result has 2
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = array<i64: -1>} : (tensor<2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// broadcast_in_dim unique
// error: stablehlo.broadcast_in_dim: broadcast_dimensions names dimension 0 more than once
func.func @main(%x: tensor<2x2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = array<i64: 0, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// broadcast_in_dim dim
// error: stablehlo.broadcast_in_dim: dimension 0 of the operand has size 2, dimension 0 of the result 3
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<3x2xf32>
  return
}
// -----
// broadcast_in_dim shrink
// error: stablehlo.broadcast_in_dim: dimension 0 of the operand has size 2, dimension 0 of the result 1
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<1xf32>
  return
}
// -----
// broadcast_in_dim dense rank
// error: stablehlo.broadcast_in_dim: the attribute "broadcast_dimensions" is not a list of integers
func.func @main(%x: tensor<1x2xf32>) {
  %0 = "stablehlo.broadcast_in_dim"(%x) {broadcast_dimensions = dense<[[1,2]]> : tensor<1x2xi64>} : (tensor<1x2xf32>) -> tensor<1x2x2xf32>
  return
}
// -----
// broadcast negative
// error: stablehlo.broadcast: broadcast_sizes: holds -2, expected sizes of at least 0
func.func @main(%x: tensor<3xf32>) {
  %0 = "stablehlo.broadcast"(%x) {broadcast_sizes = array<i64: -2>} : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// broadcast result
// error: stablehlo.broadcast: C2: result 0 is tensor<3x3xf32>, expected tensor<2x3xf32>
func.func @main(%x: tensor<3xf32>) {
  %0 = "stablehlo.broadcast"(%x) {broadcast_sizes = array<i64: 2>} : (tensor<3xf32>) -> tensor<3x3xf32>
  return
}
// -----
// broadcast result type
// error: stablehlo.broadcast: C1: tensor<3xf32> and tensor<2x3xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<3xf32>) {
  %0 = "stablehlo.broadcast"(%x) {broadcast_sizes = array<i64: 2>} : (tensor<3xf32>) -> tensor<2x3xi32>
  return
}
// -----
// transpose type
// error: stablehlo.transpose: C1: tensor<2x3xf32> and tensor<3x2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xi32>
  return
}
// -----
// transpose permutation
// error: transpose C2: dimensions holds 1 more than once, expected each dimension at most once
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%x) {permutation = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}
// -----
// transpose permutation size
// error: transpose C2: dimensions has 1 entries, expected 2
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%x) {permutation = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}
// -----
// transpose negative
// error: transpose C2: dimensions holds -1, expected values in [0, 2)
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%x) {permutation = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
// -----
// transpose result
// error: transpose: expected instruction to have shape equal to f32[3,2], actual shape is f32[2,3]
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// transpose dense
// error: stablehlo.transpose: the attribute "permutation" is not a list of integers
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%x) {permutation = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
// -----
// reverse type
// error: stablehlo.reverse: C1: result 0 is tensor<2x3xi32>, expected tensor<2x3xf32>
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%x) {dimensions = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}
// -----
// reverse unique
// error: reverse C2: dimensions holds 0 more than once, expected each dimension at most once
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%x) {dimensions = array<i64: 0, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// reverse range
// error: reverse C2: dimensions holds 2, expected values in [0, 2)
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%x) {dimensions = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// reverse negative
// error: reverse C2: dimensions holds -1, expected values in [0, 2)
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%x) {dimensions = array<i64: -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// reverse dense
// error: stablehlo.reverse: the attribute "dimensions" is not a list of integers
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.reverse"(%x) {dimensions = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// concatenate types
// error: stablehlo.concatenate: C1: tensor<2xf32> and tensor<2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  %0 = "stablehlo.concatenate"(%x, %y) {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xi32>) -> tensor<4xf32>
  return
}
// -----
// concatenate shapes
// error: concatenate C5: f32[2,2] and f32[2,3] differ in dimension 1, expected the same size in all but dimension 0
func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) {
  %0 = "stablehlo.concatenate"(%x, %y) {dimension = 0 : i64} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  return
}
// -----
// concatenate ranks
// error: concatenate C3: f32[2,2] and f32[2] differ in their number of dimensions
func.func @main(%x: tensor<2x2xf32>, %y: tensor<2xf32>) {
  %0 = "stablehlo.concatenate"(%x, %y) {dimension = 0 : i64} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}
// -----
// concatenate none
// error: concatenate C1: no operands, expected at least one
func.func @main() {
  %0 = "stablehlo.concatenate"() {dimension = 0 : i64} : () -> tensor<4xf32>
  return
}
// -----
// concatenate range
// error: concatenate C2: dimension to concatenate along is 1, expected one of 1 dimensions, counted from 0
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.concatenate"(%x, %x) {dimension = 1 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}
// -----
// concatenate result type
// error: stablehlo.concatenate: C1: tensor<2xf32> and tensor<4xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.concatenate"(%x, %x) {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xi32>
  return
}
// -----
// concatenate result
// error: concatenate: expected instruction to have shape equal to f32[4], actual shape is f32[5]
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.concatenate"(%x, %x) {dimension = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<5xf32>
  return
}
// -----
// slice type
// error: stablehlo.slice: C1: tensor<4xf32> and tensor<2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: 0>, limit_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xi32>
  return
}
// -----
// slice counts
// error: slice C2: slice has 2 entries, expected 1
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: 0, 0>, limit_indices = array<i64: 2, 2>, strides = array<i64: 1, 1>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}
// -----
// slice negative start
// error: slice C3: [-1:2] of dimension 0 of f32[4], expected 0 <= start <= limit <= 4
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: -1>, limit_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}
// -----
// slice start above
// error: slice C3: [3:2] of dimension 0 of f32[4], expected 0 <= start <= limit <= 4
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: 3>, limit_indices = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<0xf32>
  return
}
// -----
// slice limit
// error: slice C3: [0:5] of dimension 0 of f32[4], expected 0 <= start <= limit <= 4
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: 0>, limit_indices = array<i64: 5>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<5xf32>
  return
}
// -----
// slice stride
// error: slice C4: stride of dimension 0 is 0, expected at least 1
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// slice stride negative
// error: slice C4: stride of dimension 0 is -1, expected at least 1
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// slice result
// error: slice: expected instruction to have shape equal to f32[2], actual shape is f32[3]
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64: 2>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}
// -----
// slice no strides generic
// error: stablehlo.slice: needs the attribute "strides"
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: 0>, limit_indices = array<i64: 4>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// slice dense rank
// error: stablehlo.slice: the attribute "start_indices" is not a list of integers
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.slice"(%x) {start_indices = dense<[[0]]> : tensor<1x1xi64>, limit_indices = dense<[[4]]> : tensor<1x1xi64>, strides = dense<[[1]]> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// pad type
// error: stablehlo.pad: C1: tensor<4xf32> and tensor<i32> differ in their elements, expected the same type
func.func @main(%x: tensor<4xf32>, %p: tensor<i32>) {
  %0 = stablehlo.pad %x, %p, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}
// -----
// pad result type
// error: stablehlo.pad: C1: tensor<4xf32> and tensor<5xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %0 = stablehlo.pad %x, %p, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xi32>
  return
}
// -----
// pad value rank
// error: stablehlo.pad: I2: operand 1 is tensor<1xf32>, expected a tensor of rank 0
func.func @main(%x: tensor<4xf32>, %p: tensor<1xf32>) {
  %0 = stablehlo.pad %x, %p, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  return
}
// -----
// pad counts
// error: pad C3: padding has 2 entries, expected 1
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %0 = stablehlo.pad %x, %p, low = [1, 1], high = [0, 0], interior = [0, 0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return
}
// -----
// pad interior
// error: pad C4: interior padding of dimension 0 is -1, expected at least 0
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %0 = stablehlo.pad %x, %p, low = [1], high = [0], interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
// -----
// pad result
// error: pad: expected instruction to have shape equal to f32[5], actual shape is f32[6]
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %0 = stablehlo.pad %x, %p, low = [1], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return
}
// -----
// pad negative size
// error: pad C5: padding -3_-2_0 leaves -1 of the 4 elements of dimension 0
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %0 = stablehlo.pad %x, %p, low = [-3], high = [-2], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}
// -----
// pad dense
// error: stablehlo.pad: the attribute "edge_padding_low" is not a list of integers
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %0 = "stablehlo.pad"(%x, %p) {edge_padding_low = dense<[[1]]> : tensor<1x1xi64>, edge_padding_high = dense<[[0]]> : tensor<1x1xi64>, interior_padding = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return
}
// -----
// dynamic_slice type
// error: stablehlo.dynamic_slice: C1: tensor<4xf32> and tensor<2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xi32>
  return
}
// -----
// dynamic_slice index type
// error: stablehlo.dynamic_slice: I2: operand 1 is tensor<f32>, expected a tensor of integers
func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
// -----
// dynamic_slice index rank
// error: stablehlo.dynamic_slice: I2: operand 1 is tensor<1xi32>, expected a tensor of rank 0
func.func @main(%x: tensor<4xf32>, %i: tensor<1xi32>) {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<1xi32>) -> tensor<2xf32>
  return
}
// -----
// dynamic_slice index pred
// error: stablehlo.dynamic_slice: I2: operand 1 is tensor<i1>, expected a tensor of integers
func.func @main(%x: tensor<4xf32>, %i: tensor<i1>) {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i1>) -> tensor<2xf32>
  return
}
// -----
// dynamic_slice counts
// error: dynamic-slice C2: 2 start indices, expected 1: one for each dimension of f32[4]
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<2xf32>
  return
}
// -----
// dynamic_slice size
// error: dynamic-slice C4: slice size 5 of dimension 0 of f32[4], expected 0 to 4
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [5] : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}
// -----
// dynamic_slice negative size
// error: dynamic-slice C4: slice size -1 of dimension 0 of f32[4], expected 0 to 4
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [-1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
  return
}
// -----
// dynamic_slice result
// error: dynamic-slice: expected instruction to have shape equal to f32[2], actual shape is f32[3]
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<3xf32>
  return
}
// -----
// dynamic_slice mixed index types
// error: stablehlo.dynamic_slice: C3: types tensor<i32> and tensor<i64> differ, expected the same
func.func @main(%x: tensor<4x4xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 2] : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<2x2xf32>
  return
}
// -----
// dynamic_update_slice type
// error: stablehlo.dynamic_update_slice: C2: tensor<4xf32> and tensor<2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<4xf32>, %u: tensor<2xi32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xi32>, tensor<i32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_update_slice rank
// error: dynamic-update-slice C3: f32[4] is updated by f32[2,1], expected the same number of dimensions
func.func @main(%x: tensor<4xf32>, %u: tensor<2x1xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2x1xf32>, tensor<i32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_update_slice size
// error: dynamic-update-slice C5: f32[4] is updated by f32[5], expected at most 4 elements in dimension 0
func.func @main(%x: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_update_slice counts
// error: dynamic-update-slice C2: 2 start indices, expected 1: one for each dimension of f32[4]
func.func @main(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_update_slice index type
// error: stablehlo.dynamic_update_slice: I2: operand 2 is tensor<f32>, expected a tensor of integers
func.func @main(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<f32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_update_slice index rank
// error: stablehlo.dynamic_update_slice: I2: operand 2 is tensor<1xi32>, expected a tensor of rank 0
func.func @main(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<1xi32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_update_slice result type
// error: stablehlo.dynamic_update_slice: C1: result 0 is tensor<4xi32>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xi32>
  return
}
// -----
// dynamic_update_slice result shape
// error: stablehlo.dynamic_update_slice: C1: result 0 is tensor<5xf32>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>) {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  return
}
// -----
// get_dimension_size range
// error: stablehlo.get_dimension_size: dimension 1 of f32[4], which has no such dimension
func.func @main(%x: tensor<4xf32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<4xf32>) -> tensor<i32>
  return
}
// -----
// get_dimension_size negative
// error: stablehlo.get_dimension_size: dimension -1 of f32[4], which has no such dimension
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.get_dimension_size"(%x) {dimension = -1 : i64} : (tensor<4xf32>) -> tensor<i32>
  return
}
// -----
// get_dimension_size result
// error: stablehlo.get_dimension_size: O1: result 0 is tensor<i64>, expected tensor<i32>
func.func @main(%x: tensor<4xf32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4xf32>) -> tensor<i64>
  return
}
// -----
// get_dimension_size result rank
// error: stablehlo.get_dimension_size: O1: result 0 is tensor<1xi32>, expected tensor<i32>
func.func @main(%x: tensor<4xf32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<4xf32>) -> tensor<1xi32>
  return
}
// -----
// set_dimension_size range
// error: stablehlo.set_dimension_size: dimension 1 of f32[4], which has no such dimension
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) {
  %0 = "stablehlo.set_dimension_size"(%x, %n) {dimension = 1 : i64} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return
}
// -----
// set_dimension_size rank
// error: stablehlo.set_dimension_size: I2: operand 1 is tensor<1xi32>, expected a tensor of rank 0
func.func @main(%x: tensor<4xf32>, %n: tensor<1xi32>) {
  %0 = "stablehlo.set_dimension_size"(%x, %n) {dimension = 0 : i64} : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}
// -----
// set_dimension_size type
// error: stablehlo.set_dimension_size: I2: operand 1 is tensor<i64>, expected tensor<i32>
func.func @main(%x: tensor<4xf32>, %n: tensor<i64>) {
  %0 = "stablehlo.set_dimension_size"(%x, %n) {dimension = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<4xf32>
  return
}
// -----
// tuple types
// error: stablehlo.tuple: C1: result 0 is tuple<tensor<5xf32>>, expected tuple<tensor<4xf32>>
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.tuple"(%x) : (tensor<4xf32>) -> tuple<tensor<5xf32>>
  return
}
// -----
// tuple count
// error: stablehlo.tuple: C1: result 0 is tuple<tensor<4xf32>>, expected tuple<tensor<4xf32>, tensor<4xf32>>
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.tuple"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>>
  return
}
// -----
// tuple result
// error: stablehlo.tuple: C1: result 0 is tensor<4xf32>, expected tuple<tensor<4xf32>>
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.tuple"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// get_tuple_element range
// error: stablehlo.get_tuple_element: C1: index 1 is none of tuple<tensor<4xf32>>
func.func @main(%x: tuple<tensor<4xf32>>) {
  %0 = "stablehlo.get_tuple_element"(%x) {index = 1 : i32} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return
}
// -----
// get_tuple_element negative
// error: stablehlo.get_tuple_element: C1: index -1 is none of tuple<tensor<4xf32>>
func.func @main(%x: tuple<tensor<4xf32>>) {
  %0 = "stablehlo.get_tuple_element"(%x) {index = -1 : i32} : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return
}
// -----
// get_tuple_element type
// error: stablehlo.get_tuple_element: C2: result 0 is tensor<5xf32>, expected tensor<4xf32>
func.func @main(%x: tuple<tensor<4xf32>>) {
  %0 = "stablehlo.get_tuple_element"(%x) {index = 0 : i32} : (tuple<tensor<4xf32>>) -> tensor<5xf32>
  return
}
// -----
// get_tuple_element of tensor
// error: stablehlo.get_tuple_element: I1: operand 0 is tensor<4xf32>, expected a tuple
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.get_tuple_element"(%x) {index = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// optimization_barrier type
// error: stablehlo.optimization_barrier: C1: result 0 is tensor<5xf32>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.optimization_barrier"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}
// -----
// optimization_barrier count
// error: stablehlo.optimization_barrier: has 1 results, expected 2
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.optimization_barrier"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// optimization_barrier type 2
// error: stablehlo.optimization_barrier: C1: result 1 is tensor<4xf64>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %0:2 = "stablehlo.optimization_barrier"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>)
  return
}
// -----
// after_all operand
// error: stablehlo.after_all: I1: operand 0 is tensor<4xf32>, expected a token
func.func @main(%x: tensor<4xf32>) {
  %0 = "stablehlo.after_all"(%x) : (tensor<4xf32>) -> !stablehlo.token
  return
}
// -----
// after_all result
// error: stablehlo.after_all: O1: result 0 is tensor<4xf32>, expected a token
func.func @main(%x: !stablehlo.token) {
  %0 = "stablehlo.after_all"(%x) : (!stablehlo.token) -> tensor<4xf32>
  return
}
// -----
// create_token operand
// error: stablehlo.create_token: expects 0 operands, but has 1
func.func @main(%x: !stablehlo.token) {
  %0 = "stablehlo.create_token"(%x) : (!stablehlo.token) -> !stablehlo.token
  return
}
// -----
// partition_id type
// error: stablehlo.partition_id: O1: result 0 is tensor<i32>, expected tensor<ui32>
func.func @main() {
  %0 = "stablehlo.partition_id"() : () -> tensor<i32>
  return
}
// -----
// partition_id rank
// error: stablehlo.partition_id: O1: result 0 is tensor<1xui32>, expected tensor<ui32>
func.func @main() {
  %0 = "stablehlo.partition_id"() : () -> tensor<1xui32>
  return
}
// -----
// replica_id type
// error: stablehlo.replica_id: O1: result 0 is tensor<i32>, expected tensor<ui32>
func.func @main() {
  %0 = "stablehlo.replica_id"() : () -> tensor<i32>
  return
}
// -----
// replica_id rank
// error: stablehlo.replica_id: O1: result 0 is tensor<2xui32>, expected tensor<ui32>
func.func @main() {
  %0 = "stablehlo.replica_id"() : () -> tensor<2xui32>
  return
}
// -----
// replica_id operand
// error: stablehlo.replica_id: expects 0 operands, but has 1
func.func @main(%x: tensor<ui32>) {
  %0 = "stablehlo.replica_id"(%x) : (tensor<ui32>) -> tensor<ui32>
  return
}
