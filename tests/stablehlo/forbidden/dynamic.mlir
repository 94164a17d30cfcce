// dynamic_broadcast_in_dim count
// error: stablehlo.dynamic_broadcast_in_dim: broadcast_dimensions has 2 elements, expected 1: one for each dimension of the operand
func.func @main(%x: tensor<2xf32>) {
  %s = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return
}
// -----
// dynamic_broadcast_in_dim shape count
// error: stablehlo.dynamic_broadcast_in_dim: C7: operand 1 has 3 elements, expected 2
func.func @main(%x: tensor<2xf32>) {
  %s = stablehlo.constant dense<[2, 2, 2]> : tensor<3xi32>
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<3xi32>) -> tensor<2x2xf32>
  return
}
// -----
// dynamic_broadcast_in_dim shape values
// error: stablehlo.dynamic_broadcast_in_dim: C7: the shape [2, 3] isn't that of the result tensor<2x2xf32>
func.func @main(%x: tensor<2xf32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return
}
// -----
// dynamic_broadcast_in_dim type
// error: stablehlo.dynamic_broadcast_in_dim: C1: tensor<2xf32> and tensor<2x2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2xf32>, %s: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x2xi32>
  return
}
// -----
// dynamic_broadcast_in_dim shape float
// error: stablehlo.dynamic_broadcast_in_dim: C7: operand 1 is tensor<2xf32>, expected a tensor of integers
func.func @main(%x: tensor<2xf32>, %s: tensor<2xf32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dynamic_broadcast_in_dim shape rank
// error: stablehlo.dynamic_broadcast_in_dim: C7: operand 1 is tensor<1x2xi32>, expected a tensor of rank 1
func.func @main(%x: tensor<2xf32>, %s: tensor<1x2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<1x2xi32>) -> tensor<2x2xf32>
  return
}
// -----
// dynamic_broadcast_in_dim known twice
// error: stablehlo.dynamic_broadcast_in_dim: C8: known_nonexpanding_dimensions names dimension 0, which is named before
func.func @main(%x: tensor<2xf32>, %s: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return
}
// -----
// dynamic_broadcast_in_dim known expanding range
// error: stablehlo.dynamic_broadcast_in_dim: C9: known_expanding_dimensions names dimension 3 of tensor<2xf32>
func.func @main(%x: tensor<2xf32>, %s: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0>, known_expanding_dimensions = array<i64: 3>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return
}
// -----
// dynamic_broadcast_in_dim known nonexpanding range
// error: stablehlo.dynamic_broadcast_in_dim: C9: known_nonexpanding_dimensions names dimension 3 of tensor<2xf32>
func.func @main(%x: tensor<2xf32>, %s: tensor<2xi32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%x, %s) {broadcast_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 3>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  return
}
// -----
// dynamic_iota range
// error: iota C3: iota_dimension is 1, expected one of 1 dimensions, counted from 0
func.func @main(%s: tensor<1xi32>) {
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<1xi32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_iota count
// error: stablehlo.dynamic_iota: C2: operand 0 has 2 elements, expected 1
func.func @main(%s: tensor<2xi32>) {
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_iota values
// error: stablehlo.dynamic_iota: C2: the shape [5] isn't that of the result tensor<4xf32>
func.func @main() {
  %s = stablehlo.constant dense<[5]> : tensor<1xi32>
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_iota shape float
// error: stablehlo.dynamic_iota: C2: operand 0 is tensor<1xf32>, expected a tensor of integers
func.func @main(%s: tensor<1xf32>) {
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xf32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_reshape count
// error: stablehlo.dynamic_reshape: C4: operand 1 has 2 elements, expected 1
func.func @main(%x: tensor<4xf32>, %s: tensor<2xi32>) {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<2xi32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_reshape elements
// error: reshape C1: 4 elements in f32[4] become 5 in f32[5], expected the same number
func.func @main(%x: tensor<4xf32>, %s: tensor<1xi32>) {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xi32>) -> tensor<5xf32>
  return
}
// -----
// dynamic_reshape values
// error: stablehlo.dynamic_reshape: C4: the shape [2, 2] isn't that of the result tensor<4x1xf32>
func.func @main(%x: tensor<4xf32>) {
  %s = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<2xi32>) -> tensor<4x1xf32>
  return
}
// -----
// dynamic_reshape type
// error: stablehlo.dynamic_reshape: C1: tensor<4xf32> and tensor<4xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<4xf32>, %s: tensor<1xi32>) {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xi32>
  return
}
// -----
// dynamic_reshape shape float
// error: stablehlo.dynamic_reshape: C4: operand 1 is tensor<1xf32>, expected a tensor of integers
func.func @main(%x: tensor<4xf32>, %s: tensor<1xf32>) {
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_reshape negative
// error: stablehlo.dynamic_reshape: C4: the shape [-1] isn't that of the result tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %s = stablehlo.constant dense<[-1]> : tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}
// -----
// dynamic_pad count
// error: stablehlo.dynamic_pad: C2: operand 2 has 2 elements, expected 1
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %l = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %h = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
  %i = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
  %0 = stablehlo.dynamic_pad %x, %p, %l, %h, %i : (tensor<4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<5xf32>
  return
}
// -----
// dynamic_pad interior
// error: pad C4: interior padding of dimension 0 is -1, expected at least 0
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %l = stablehlo.constant dense<[1]> : tensor<1xi32>
  %h = stablehlo.constant dense<[0]> : tensor<1xi32>
  %i = stablehlo.constant dense<[-1]> : tensor<1xi32>
  %0 = stablehlo.dynamic_pad %x, %p, %l, %h, %i : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  return
}
// -----
// dynamic_pad result
// error: pad: expected instruction to have shape equal to f32[5], actual shape is f32[6]
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %l = stablehlo.constant dense<[1]> : tensor<1xi32>
  %h = stablehlo.constant dense<[0]> : tensor<1xi32>
  %i = stablehlo.constant dense<[0]> : tensor<1xi32>
  %0 = stablehlo.dynamic_pad %x, %p, %l, %h, %i : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<6xf32>
  return
}
// -----
// dynamic_pad type
// error: stablehlo.dynamic_pad: C1: tensor<4xf32> and tensor<5xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<4xf32>, %p: tensor<f32>) {
  %l = stablehlo.constant dense<[1]> : tensor<1xi32>
  %h = stablehlo.constant dense<[0]> : tensor<1xi32>
  %i = stablehlo.constant dense<[0]> : tensor<1xi32>
  %0 = stablehlo.dynamic_pad %x, %p, %l, %h, %i : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<5xi32>
  return
}
// -----
// dynamic_conv padding shape
// error: stablehlo.dynamic_conv: C4: operand 2 is tensor<2x3xi64>, expected 2 columns and a row for each spatial dimension
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>, %p: tensor<2x3xi64>) {
  %0 = "stablehlo.dynamic_conv"(%x, %k, %p) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>, tensor<2x3xi64>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// dynamic_conv padding const shape
// error: stablehlo.dynamic_conv: I3: operand 2 is tensor<4xi64>, expected a tensor of rank 2
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %p = stablehlo.constant dense<0> : tensor<4xi64>
  %0 = "stablehlo.dynamic_conv"(%x, %k, %p) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>, tensor<4xi64>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// real_dynamic_slice counts
// error: stablehlo.real_dynamic_slice: C2: operand 1 has 2 elements, expected 1
func.func @main(%x: tensor<4xf32>, %s: tensor<2xi32>) {
  %0 = "stablehlo.real_dynamic_slice"(%x, %s, %s, %s) : (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4xf32>
  return
}
// -----
// real_dynamic_slice types
// error: stablehlo.real_dynamic_slice: C3: types tensor<1xi32> and tensor<1xi64> differ, expected the same
func.func @main(%x: tensor<4xf32>, %s: tensor<1xi32>, %t: tensor<1xi64>) {
  %0 = "stablehlo.real_dynamic_slice"(%x, %s, %t, %s) : (tensor<4xf32>, tensor<1xi32>, tensor<1xi64>, tensor<1xi32>) -> tensor<4xf32>
  return
}
