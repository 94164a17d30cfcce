// dot_general batch count
// error: dot C6: 1 batch dimensions of f32[2,2,2] against 0 of f32[2,2,2]
func.func @main(%x: tensor<2x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [], contracting_dims = [2] x [1] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general contracting count
// error: dot C4: 1 contracting dimensions of f32[2,2,2] against 0 of f32[2,2,2]
func.func @main(%x: tensor<2x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [2] x [] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general lhs unique
// error: dot C3: dimension 0 of lhs f32[2,2,2] is named twice, expected one role a dimension
func.func @main(%x: tensor<2x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [0] x [1] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general rhs unique
// error: dot C3: dimension 0 of rhs f32[2,2,2] is named twice, expected one role a dimension
func.func @main(%x: tensor<2x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [0] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general lhs batch range
// error: dot C2: lhs has no dimension 3 in f32[2,2,2]
func.func @main(%x: tensor<2x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [3] x [0], contracting_dims = [1] x [1] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general lhs batch negative
// error: dot C2: lhs has no dimension -1 in f32[2,2,2]
func.func @main(%x: tensor<2x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [-1] x [0], contracting_dims = [1] x [1] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general lhs contracting range
// error: dot C2: lhs has no dimension 3 in f32[2,2,2]
func.func @main(%x: tensor<2x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [3] x [1] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general rhs batch range
// error: dot C2: rhs has no dimension 3 in f32[2,2,2]
func.func @main(%x: tensor<2x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [3], contracting_dims = [1] x [1] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general rhs contracting range
// error: dot C2: rhs has no dimension 3 in f32[2,2,2]
func.func @main(%x: tensor<2x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [3] : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general batch size
// error: dot C7: batch sizes differ: dimension 0 of f32[2,2,2] is 2, dimension 0 of f32[3,2,2] is 3
func.func @main(%x: tensor<2x2x2xf32>, %y: tensor<3x2x2xf32>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x2x2xf32>, tensor<3x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general contracting size
// error: dot C5: contracting sizes differ: dimension 1 of f32[2,2,2] is 2, dimension 1 of f32[2,3,2] is 3
func.func @main(%x: tensor<2x2x2xf32>, %y: tensor<2x3x2xf32>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x2x2xf32>, tensor<2x3x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot_general precision count
// error: stablehlo.dot_general: C11: precision_config has 3 words, expected one for each of the 2 operands
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dot_general result
// error: dot: expected instruction to have shape equal to f32[2,2], actual shape is f32[2,3]
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}
// -----
// dot_general result rank
// error: dot: expected instruction to have shape equal to f32[2,2], actual shape is f32[2]
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2xf32>
  return
}
// -----
// dot_general algorithm bad
// error: stablehlo.dot_general: C23: no device has the algorithm of i32 by f32 in f32 with 1 primitive operations
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = i32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dot_general algorithm components
// error: stablehlo.dot_general: C23: no device has the algorithm of bf16 by bf16 in f32 with 1 primitive operations and several components
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 4, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dot_general algorithm operations
// error: stablehlo.dot_general: C23: no device has the algorithm of bf16 by bf16 in f32 with 5 primitive operations
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 5, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dot_general algorithm operations -1
// error: stablehlo.dot_general: C21: num_primitive_operations is -1, expected at least 1
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = -1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dot_general algorithm components 0
// error: stablehlo.dot_general: C21: lhs_component_count is 0, expected at least 1
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dot_general algorithm accumulation
// error: stablehlo.dot_general: C23: no device has the algorithm of f32 by f32 in f16 with 1 primitive operations
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f16, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dot_general algorithm imprecise
// error: stablehlo.dot_general: C23: no device has the algorithm of f32 by f32 in f32 with 1 primitive operations, imprecise
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dot element types
// error: stablehlo.dot: C13: tensor<2x2xf32> and tensor<2x2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xi32>) {
  %0 = stablehlo.dot %x, %y : (tensor<2x2xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>
  return
}
// -----
// dot sizes
// error: dot C5: contracting sizes differ: dimension 1 of f32[2,2] is 2, dimension 0 of f32[3,2] is 3
func.func @main(%x: tensor<2x2xf32>, %y: tensor<3x2xf32>) {
  %0 = stablehlo.dot %x, %y : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// dot rank 3
// error: stablehlo.dot: I1: operand 0 is tensor<2x2x2xf32>, expected a vector or a matrix
func.func @main(%x: tensor<2x2x2xf32>, %y: tensor<2x2xf32>) {
  %0 = stablehlo.dot %x, %y : (tensor<2x2x2xf32>, tensor<2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot rhs rank 3
// error: stablehlo.dot: I1: operand 1 is tensor<2x2x2xf32>, expected a vector or a matrix
func.func @main(%x: tensor<2x2x2xf32>, %y: tensor<2x2xf32>) {
  %0 = stablehlo.dot %y, %x : (tensor<2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  return
}
// -----
// dot result
// error: dot: expected instruction to have shape equal to f32[2,2], actual shape is f32[2,3]
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}
// -----
// dot vector result
// error: dot: expected instruction to have shape equal to f32[], actual shape is f32[1]
func.func @main(%x: tensor<2xf32>) {
  %0 = stablehlo.dot %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<1xf32>
  return
}
// -----
// dot precision
// error: stablehlo.dot: C11: precision_config has 3 words, expected one for each of the 2 operands
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot %x, %x, precision = [DEFAULT, DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// einsum
// error: stablehlo.einsum: einsum_config "ab,bc->acd" sums over a dimension of one operand alone
func.func @main(%x: tensor<2x2xf32>) {
  %0 = "stablehlo.einsum"(%x, %x) {einsum_config = "ab,bc->acd"} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
