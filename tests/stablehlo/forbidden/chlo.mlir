// chlo broadcast sizes
// error: chlo.broadcast_add: sizes 4 and 5 can't be broadcast to one
func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  %0 = "chlo.broadcast_add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}
// -----
// chlo broadcast types
// error: chlo.broadcast_add: tensor<4xf32> and tensor<4xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  %0 = "chlo.broadcast_add"(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}
// -----
// chlo broadcast result
// error: add: expected instruction to have shape equal to f32[4], actual shape is f32[5]
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.broadcast_add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<5xf32>
  return
}
// -----
// chlo broadcast dims
// error: chlo.broadcast_add: broadcast_dimensions: is [2], expected 1 ascending dimensions of 2
func.func @main(%x: tensor<4xf32>, %y: tensor<4x4xf32>) {
  %0 = "chlo.broadcast_add"(%x, %y) {broadcast_dimensions = array<i64: 2>} : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
// chlo broadcast dims count
// error: chlo.broadcast_add: broadcast_dimensions: is [0, 1], expected 1 ascending dimensions of 2
func.func @main(%x: tensor<4xf32>, %y: tensor<4x4xf32>) {
  %0 = "chlo.broadcast_add"(%x, %y) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
// chlo broadcast dims numpy
// error: chlo.broadcast_add: broadcast_dimensions: is [-1], expected 1 ascending dimensions of 2
func.func @main(%x: tensor<4xf32>, %y: tensor<4x4xf32>) {
  %0 = "chlo.broadcast_add"(%x, %y) {broadcast_dimensions = array<i64: -1>} : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
// chlo broadcast dims order
// error: chlo.broadcast_add: broadcast_dimensions: is [2, 1], expected 2 ascending dimensions of 3
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4x4xf32>) {
  %0 = "chlo.broadcast_add"(%x, %y) {broadcast_dimensions = array<i64: 2, 1>} : (tensor<4x4xf32>, tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
  return
}
// -----
// chlo broadcast compare result
// error: chlo.broadcast_compare: is tensor<4xf32>, expected a tensor of truth values
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.broadcast_compare"(%x, %x) {comparison_direction = #chlo<comparison_direction LT>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// chlo broadcast compare direction
// error: compare: direction can't be FOO
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.broadcast_compare"(%x, %x) {comparison_direction = #chlo<comparison_direction FOO>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}
// -----
// chlo broadcast complex
// error: chlo.broadcast_complex: operand 0 is tensor<4xi32>, expected a tensor of floats
func.func @main(%x: tensor<4xi32>) {
  %0 = "chlo.broadcast_complex"(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xcomplex<f32>>
  return
}
// -----
// chlo broadcast and float
// error: chlo.broadcast_and: operand 0 is tensor<4xf32>, expected a tensor of truth values or integers
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.broadcast_and"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// chlo broadcast select types
// error: chlo.broadcast_select: tensor<4xf32> and tensor<4xi32> differ in their elements, expected the same type
func.func @main(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xi32>) {
  %0 = "chlo.broadcast_select"(%p, %x, %y) : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}
// -----
// chlo broadcast select pred
// error: chlo.broadcast_select: operand 0 is tensor<4xi8>, expected a tensor of truth values
func.func @main(%p: tensor<4xi8>, %x: tensor<4xf32>) {
  %0 = "chlo.broadcast_select"(%p, %x, %x) : (tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// chlo top_k large
// error: chlo.top_k: k: is 5, expected at most the 4 elements of the last dimension
func.func @main(%x: tensor<4xf32>) {
  %0:2 = chlo.top_k(%x, k = 5) : tensor<4xf32> -> (tensor<5xf32>, tensor<5xi32>)
  return
}
// -----
// chlo top_k negative
// error: chlo.top_k: k: is -1, expected at most the 4 elements of the last dimension
func.func @main(%x: tensor<4xf32>) {
  %0:2 = "chlo.top_k"(%x) {k = -1 : i64} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>)
  return
}
// -----
// chlo top_k result
// error: chlo.top_k: result 0 is tensor<3xf32>, expected tensor<2xf32>
func.func @main(%x: tensor<4xf32>) {
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<3xf32>, tensor<3xi32>)
  return
}
// -----
// chlo top_k index
// error: chlo.top_k: result 1 is tensor<2xi64>, expected tensor<2xi32>
func.func @main(%x: tensor<4xf32>) {
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi64>)
  return
}
// -----
// chlo top_k type
// error: chlo.top_k: result 0 is tensor<2xi32>, expected tensor<2xf32>
func.func @main(%x: tensor<4xf32>) {
  %0:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xi32>, tensor<2xi32>)
  return
}
// -----
// chlo erf int
// error: chlo.erf: operand 0 is tensor<4xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<4xi32>) {
  %0 = "chlo.erf"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}
// -----
// chlo erf result
// error: chlo.erf: result 0 is tensor<4xf64>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.erf"(%x) : (tensor<4xf32>) -> tensor<4xf64>
  return
}
// -----
// chlo acos int
// error: chlo.acos: operand 0 is tensor<4xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<4xi32>) {
  %0 = "chlo.acos"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}
// -----
// chlo acos shape
// error: chlo.acos: result 0 is tensor<5xf32>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.acos"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}
// -----
// chlo conj result
// error: chlo.conj: result 0 is tensor<4xf32>, expected tensor<4xcomplex<f32>>
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = "chlo.conj"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}
// -----
// chlo is_inf result
// error: chlo.is_inf: result 0 is tensor<4xf32>, expected tensor<4xi1>
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.is_inf"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// chlo is_inf int
// error: chlo.is_inf: operand 0 is tensor<4xi32>, expected a tensor of floats
func.func @main(%x: tensor<4xi32>) {
  %0 = "chlo.is_inf"(%x) : (tensor<4xi32>) -> tensor<4xi1>
  return
}
// -----
// chlo is_pos_inf complex
// error: chlo.is_pos_inf: operand 0 is tensor<4xcomplex<f32>>, expected a tensor of floats
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = "chlo.is_pos_inf"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return
}
// -----
// chlo next_after int
// error: chlo.next_after: operand 0 is tensor<4xi32>, expected a tensor of floats
func.func @main(%x: tensor<4xi32>) {
  %0 = "chlo.next_after"(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}
// -----
// chlo next_after types
// error: chlo.next_after: types tensor<4xf32> and tensor<4xf64> differ, expected the same
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  %0 = "chlo.next_after"(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}
// -----
// chlo mulhi float
// error: chlo.mulhi: operand 0 is tensor<4xf32>, expected a tensor of integers
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.mulhi"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// chlo constant_like shape
// error: chlo.constant_like: result 0 is tensor<5xf32>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.constant_like"(%x) {value = 3.2 : f32} : (tensor<4xf32>) -> tensor<5xf32>
  return
}
// -----
// chlo constant_like type
// error: chlo.constant_like: value: is of i32, expected the result's elements, tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.constant_like"(%x) {value = 3 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// chlo polygamma types
// error: chlo.polygamma: types tensor<4xf32> and tensor<4xf64> differ, expected the same
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  %0 = "chlo.polygamma"(%x, %y) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}
// -----
// chlo zeta int
// error: chlo.zeta: operand 0 is tensor<4xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<4xi32>) {
  %0 = "chlo.zeta"(%x, %x) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}
// -----
// chlo polygamma shapes
// error: chlo.polygamma: types tensor<4xf32> and tensor<1xf32> differ, expected the same
func.func @main(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  %0 = "chlo.polygamma"(%x, %y) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}
// -----
// chlo lgamma shape
// error: chlo.lgamma: result 0 is tensor<5xf32>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.lgamma"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}
// -----
// chlo lgamma type
// error: chlo.lgamma: result 0 is tensor<4xf64>, expected tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %0 = "chlo.lgamma"(%x) : (tensor<4xf32>) -> tensor<4xf64>
  return
}
// -----
// ragged_dot batch count
// error: ragged-dot C6: 1 batch dimensions of f32[11,5] against 0 of f32[3,5,7]
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [], lhs_contracting_dimensions = [], rhs_contracting_dimensions = [], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot contract count
// error: ragged-dot C4: 1 contracting dimensions of f32[11,5] against 0 of f32[3,5,7]
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot lhs range
// error: ragged-dot C2: lhs has no dimension 2 in f32[11,5]
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot rhs range
// error: ragged-dot C2: rhs has no dimension 3 in f32[3,5,7]
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot lhs negative
// error: ragged-dot C2: lhs has no dimension -1 in f32[11,5]
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [-1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot lhs twice
// error: ragged-dot C3: dimension 0 of lhs f32[11,5] is named twice, expected one role a dimension
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = []>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot ragged none
// error: ragged-dot C8: lhs_ragged_dims is {}, expected one dimension
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot ragged two
// error: ragged-dot C8: lhs_ragged_dims is {0,1}, expected one dimension
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0, 1], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot ragged range
// error: ragged-dot C8: lhs_ragged_dims is 2, expected one of 2 dimensions, counted from 0
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot group range
// error: ragged-dot C9: rhs_group_dims holds 3, expected values in [0, 3)
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [3]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot group two
// error: ragged-dot C9: rhs_group_dims is {0,2}, expected one dimension when the ragged dimension 0 is free
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0, 2]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot no group
// error: ragged-dot C9: rhs_group_dims is {}, expected one dimension when the ragged dimension 0 is free
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = []>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot group is contracting
// error: ragged-dot C9: rhs_group_dims names dimension 1, which is a batch or contracting dimension
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot contract sizes
// error: ragged-dot C5: contracting sizes differ: dimension 1 of f32[11,5] is 5, dimension 1 of f32[3,4,7] is 4
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x4x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x4x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot group sizes type
// error: ragged-dot C10: operand 2 has shape f32[3], expected an integer type
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xf32>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xf32>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot group sizes rank
// error: ragged-dot C10: group_sizes is s64[3,1], expected one dimension of groups, alone or behind {}
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3x1xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3x1xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot group sizes count
// error: ragged-dot C11: group_sizes s64[4] has 4 groups, dimension 0 of rhs f32[3,5,7] has 3
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<4xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<4xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot result shape
// error: ragged-dot: expected instruction to have shape equal to f32[11,7], actual shape is f32[11,8]
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x8xf32>
  return
}
// -----
// ragged_dot result rank
// error: ragged-dot: expected instruction to have shape equal to f32[11,7], actual shape is f32[3,11,7]
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<3x11x7xf32>
  return
}
// -----
// ragged_dot ragged contracting with group
// error: ragged-dot C9: rhs_group_dims is {0}, expected none when the ragged dimension 1 is contracting
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot ragged batch with group
// error: ragged-dot C9: rhs_group_dims names dimension 0, which is a batch or contracting dimension
func.func @main(%x: tensor<3x11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>} : (tensor<3x11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<3x11x7xf32>
  return
}
// -----
// ragged_dot ragged contract result
// error: ragged-dot: expected instruction to have shape equal to f32[3,11,7], actual shape is f32[11,7]
func.func @main(%x: tensor<11x5xf32>, %y: tensor<5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1], rhs_group_dimensions = []>} : (tensor<11x5xf32>, tensor<5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
// -----
// ragged_dot precision
// error: chlo.ragged_dot: precision_config: has 3 words, expected one for each of 2 operands
func.func @main(%x: tensor<11x5xf32>, %y: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%x, %y, %g) {ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>, #chlo<precision DEFAULT>]} : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
  return
}
