// convolution of tokens
// error: stablehlo.convolution: I1: operand 0 is !stablehlo.token, expected a tensor of truth values, integers, floats or complex numbers
func.func @main(%t: !stablehlo.token) {
  %0 = stablehlo.convolution(%t, %t) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (!stablehlo.token, !stablehlo.token) -> tensor<1xf32>
  return
}
// -----
// gather without a result
// error: stablehlo.gather: result 0 is missing, there are 0
func.func @main(%x: tensor<2x4x9xi32>, %i: tensor<1x5x2xi32>) {
  "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>} : (tensor<2x4x9xi32>, tensor<1x5x2xi32>) -> ()
  return
}
// -----
// constant like a token
// error: chlo.constant_like: result 0 is !stablehlo.token, expected tensor<2xf32>
func.func @main(%x: tensor<2xf32>) {
  %0 = "chlo.constant_like"(%x) {value = 1.0 : f32} : (tensor<2xf32>) -> !stablehlo.token
  return
}
// -----
// split count beyond all numbers
// error: stablehlo.all_to_all: replica_groups: has 1 groups of 1, expected groups of 9223372036854775807
func.func @main(%x: tensor<4x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 9223372036854775807 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
// -----
// layouts by arrays
// error: stablehlo.custom_call: operand_layouts: layout 0 is [0, 0], expected each dimension once
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [array<i64: 0, 0>], result_layouts = [array<i64: 0, 1>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// size of a token
// error: stablehlo.get_dimension_size: I1: operand 0 is !stablehlo.token, expected a tensor of truth values, integers, floats or complex numbers
func.func @main(%t: !stablehlo.token) {
  %0 = "stablehlo.get_dimension_size"(%t) {dimension = 0 : i64} : (!stablehlo.token) -> tensor<i32>
  return
}
// -----
// axis without a name
// error: stablehlo.all_gather: axis 0 of replica_groups has no name
func.func @main(%x: tensor<1xi64>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 2>]>, axes = [#stablehlo.axis_ref<>]>} : (tensor<1xi64>) -> tensor<2xi64>
  return
}
// -----
// mesh without axes
// error: stablehlo.all_gather: replica_groups need a mesh, as in mesh = @mesh
func.func @main(%x: tensor<1xi64>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<device_ids = dense<0> : tensor<1xi64>>, axes = []>} : (tensor<1xi64>) -> tensor<2xi64>
  return
}
// -----
// mesh of no module
// error: stablehlo.all_gather: replica_groups name the mesh @nowhere, which this module doesn't have
func.func @main(%x: tensor<1xi64>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @nowhere, axes = []>} : (tensor<1xi64>) -> tensor<2xi64>
  return
}
// -----
// axis of size 0
// error: stablehlo.all_gather: replica_groups: an axis of a mesh has a size below 1
func.func @main(%x: tensor<1xi64>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 0>]>, axes = [#stablehlo.axis_ref<name = "x">]>} : (tensor<1xi64>) -> tensor<2xi64>
  return
}
// -----
// part of an axis that doesn't divide it
// error: all-gather: replica_groups: the axes at the end of mesh "mesh['x'=4] {'x':(1)3}" overlap or do not divide it
func.func @main(%x: tensor<1xi64>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x", sub_axis_info = (1)3>]>} : (tensor<1xi64>) -> tensor<3xi64>
  return
}
// -----
// cast to another width
// error: builtin.unrealized_conversion_cast: casts s32[4] to s64[4], expected types of the same bits
func.func @main(%x: tensor<4xi32>) {
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xi32> to tensor<4xi64>
  return
}
// -----
// cast to two
// error: builtin.unrealized_conversion_cast: expects 2 operands, but has 1
func.func @main(%x: tensor<4xi32>) {
  %0:2 = builtin.unrealized_conversion_cast %x : tensor<4xi32> to tensor<4xi32>, tensor<4xi32>
  return
}
// -----
// cast without types
// error: expects ':' before the types of operands, but sees 'to'
func.func @main(%x: tensor<4xi32>) {
  %0 = builtin.unrealized_conversion_cast %x to tensor<4xi32>
  return
}
// -----
// scan of another size
// error: chlo.scan: scan_dim_size: is 3, but operand 0 is tensor<2x3xf32>
func.func @main(%x: tensor<2x3xf32>, %i: tensor<3xf32>) {
  %0, %1 = chlo.scan (%x) inits (%i) dimension = 0 attributes { scan_dim_size = 3 : i64 } { ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>): %s = stablehlo.add %a, %b : tensor<3xf32> stablehlo.return %s, %s : tensor<3xf32>, tensor<3xf32> } : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return
}
// -----
// algorithm of three components
// error: stablehlo.dot_general: C23: no device has the algorithm of f32 by f32 in f32 with 1 primitive operations and several components
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 3, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// exchange without groups
// error: stablehlo.all_to_all: replica_groups: has 0 groups of 2, expected groups of 4
func.func @main(%x: tensor<4x16xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, replica_groups = dense<0> : tensor<0x2xi64>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  return
}
