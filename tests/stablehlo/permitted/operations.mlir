// add of truth values
func.func @main(%x: tensor<2xi1>) {
  %0 = stablehlo.add %x, %x : tensor<2xi1>
  return
}
// -----
// maximum of truth values
func.func @main(%x: tensor<2xi1>) {
  %0 = stablehlo.maximum %x, %x : tensor<2xi1>
  return
}
// -----
// and of unsigned
func.func @main(%x: tensor<2xui8>) {
  %0 = stablehlo.and %x, %x : tensor<2xui8>
  return
}
// -----
// negate unsigned
func.func @main(%x: tensor<2xui8>) {
  %0 = stablehlo.negate %x : tensor<2xui8>
  return
}
// -----
// sign of i4
func.func @main(%x: tensor<2xi4>) {
  %0 = stablehlo.sign %x : tensor<2xi4>
  return
}
// -----
// abs of complex
func.func @main(%x: tensor<2xcomplex<f64>>) {
  %0 = stablehlo.abs %x : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  return
}
// -----
// real of real
func.func @main(%x: tensor<2xf32>) {
  %0 = stablehlo.real %x : tensor<2xf32>
  return
}
// -----
// select by scalar
func.func @main(%p: tensor<i1>, %x: tensor<2xf32>) {
  %0 = stablehlo.select %p, %x, %x : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// clamp by scalars
func.func @main(%m: tensor<f32>, %x: tensor<2xf32>) {
  %0 = stablehlo.clamp %m, %x, %m : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
// -----
// tolerance
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.exponential"(%x) {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-4, rtol = 0.0, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// highest accuracy
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.tanh"(%x) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// bitcast of complex
func.func @main(%x: tensor<2xcomplex<f64>>) {
  %0 = stablehlo.bitcast_convert %x : (tensor<2xcomplex<f64>>) -> tensor<2x2xcomplex<f32>>
  return
}
// -----
// slice with stride
func.func @main(%x: tensor<5xf32>) {
  %0 = stablehlo.slice %x [0:5:2] : (tensor<5xf32>) -> tensor<3xf32>
  return
}
// -----
// starts of unsigned
func.func @main(%x: tensor<4xf32>, %i: tensor<ui32>) {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<ui32>) -> tensor<2xf32>
  return
}
// -----
// transpose of a list
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.transpose"(%x) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}
// -----
// barrier of a token
func.func @main(%x: tensor<4xf32>, %t: !stablehlo.token) {
  %0:2 = stablehlo.optimization_barrier %x, %t : tensor<4xf32>, !stablehlo.token
  return
}
// -----
// product of two types
func.func @main(%x: tensor<2x2xi8>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi32>
  return
}
// -----
// product of floats of two widths
func.func @main(%x: tensor<2x2xbf16>, %y: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2xbf16>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// algorithm of six
func.func @main(%x: tensor<2x2xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 6, allow_imprecise_accumulation = false> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// algorithm of f8
func.func @main(%x: tensor<2x2xf8E5M2>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f8E5M2, rhs_precision_type = f8E5M2, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = true> : (tensor<2x2xf8E5M2>, tensor<2x2xf8E5M2>) -> tensor<2x2xf32>
  return
}
// -----
// convolution of integers into wider ones
func.func @main(%x: tensor<1x4x4x2xi8>, %k: tensor<3x3x2x1xi8>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xi8>, tensor<3x3x2x1xi8>) -> tensor<1x2x2x1xi32>
  return
}
// -----
// random truth values
func.func @main(%a: tensor<i1>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<i1>, tensor<i1>, tensor<2xi64>) -> tensor<2x3xi1>
  return
}
// -----
// state of philox
func.func @main(%a: tensor<3xui64>) {
  %0:2 = stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xf32>)
  return
}
// -----
// reducer of wider floats
func.func @main(%x: tensor<4x3xbf16>, %i: tensor<bf16>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = stablehlo.add %p, %q : tensor<f32> stablehlo.return %s : tensor<f32> }) {dimensions = array<i64: 0>} : (tensor<4x3xbf16>, tensor<bf16>) -> tensor<3xf32>
  return
}
// -----
// reducer of wider integers
func.func @main(%x: tensor<4x3xi8>, %i: tensor<i8>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = stablehlo.add %p, %q : tensor<i32> stablehlo.return %s : tensor<i32> }) {dimensions = array<i64: 0>} : (tensor<4x3xi8>, tensor<i8>) -> tensor<3xi32>
  return
}
// -----
// window with padding
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = stablehlo.maximum %p, %q : tensor<f32> stablehlo.return %s : tensor<f32> }) {window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 2, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// sort of two arrays
func.func @main(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  %0:2 = "stablehlo.sort"(%x, %y) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>): %s = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %s : tensor<i1> }) {dimension = -1 : i64} : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return
}
// -----
// groups of two sizes
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = stablehlo.add %p, %q : tensor<f32> stablehlo.return %s : tensor<f32> }) {replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// gather along global ids
func.func @main(%x: tensor<2x2xi64>, %y: tensor<2x2x3xi32>) {
  %0:2 = "stablehlo.all_gather"(%x, %y) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<2x2xi64>, tensor<2x2x3xi32>) -> (tensor<2x4xi64>, tensor<2x4x3xi32>)
  return
}
// -----
// no groups
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<> : tensor<0x0xi64>} : (tensor<2x4xf32>) -> tensor<8x4xf32>
  return
}
// -----
// groups by part of an axis
func.func @main(%x: tensor<1xi64>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>, <name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>} : (tensor<1xi64>) -> tensor<2xi64>
  return
}
// -----
// groups of a mesh with devices
func.func @main(%x: tensor<2xi64>) {
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = "x", size = 4>], device_ids = dense<[3, 2, 1, 0]> : tensor<4xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>} : (tensor<2xi64>) -> tensor<2xi64>
  return
}
// -----
// exchange of parts
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// a root by data
func.func @main(%x: tensor<4xf32>, %r: tensor<1xi32>) {
  %0 = "stablehlo.collective_broadcast"(%x, %r) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}
// -----
// one channel for send and recv
func.func @main(%x: tensor<3xi32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true} : (tensor<3xi32>, !stablehlo.token) -> !stablehlo.token %1:2 = "stablehlo.recv"(%0) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<3xi32>, !stablehlo.token)
  return
}
// -----
// infeed of layouts
func.func @main(%t: !stablehlo.token) {
  %0:3 = "stablehlo.infeed"(%t) {infeed_config = "c", layout = [[0, 1], []]} : (!stablehlo.token) -> (tensor<2x4xf32>, tensor<i1>, !stablehlo.token)
  return
}
// -----
// casts between types of the same bits
func.func @main(%x: tensor<4xui32>, %y: tensor<2xf32>) {
  %0:2 = builtin.unrealized_conversion_cast %x, %y : tensor<4xui32>, tensor<2xf32> to tensor<4xi32>, tensor<2xf32>
  return
}
// -----
// custom call with layouts of a tuple
func.func @main(%x: tensor<2x4xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.custom_call"(%x, %t) {call_target_name = "foo", operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<2x4xf32>, !stablehlo.token) -> tuple<tensor<2x4xf32>, tensor<3xf32>>
  return
}
// -----
// custom call with a dictionary
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", api_version = 4 : i32, backend_config = {a = 1 : i32}, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// size of a bounded dimension
func.func @main(%x: tensor<2x?xf32, #stablehlo.bounds<?, 8>>) {
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x?xf32, #stablehlo.bounds<?, 8>>) -> tensor<i32>
  return
}
// -----
// top of rows
func.func @main(%x: tensor<3x8xf32>) {
  %0:2 = chlo.top_k(%x, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return
}
// -----
// broadcast of a row
func.func @main(%x: tensor<4xf32>, %y: tensor<3x4xf32>) {
  %0 = "chlo.broadcast_add"(%x, %y) {broadcast_dimensions = array<i64: 1>} : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}
