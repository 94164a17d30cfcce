// Every pretty form once, in pieces of their own.
#loc = loc(unknown)
#map = affine_map<(d0, d1) -> (d1, d0)>
!vec = tensor<4xf32>
module @elementwise attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32, "two words" = #map} {
  func.func public @main(%arg0: !vec {mhlo.sharding = "{replicated}"} loc("x"), %arg1: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "y"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32> loc(#loc1)
    %1 = stablehlo.exponential %0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, rtol = 0.0, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32> loc(#loc)
    %2 = stablehlo.compare LT, %0, %1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %3 = stablehlo.select %2, %0, %1 : tensor<4xi1>, tensor<4xf32>
    %cst = stablehlo.constant dense<1.5> : tensor<f32>
    %4 = stablehlo.clamp %cst, %3, %cst : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.complex %4, %4 : tensor<4xcomplex<f32>>
    %6 = stablehlo.real %5 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %7 = stablehlo.reduce_precision %6, format = e5m10 : tensor<4xf32>
    %8 = call @other(%7) : (tensor<4xf32>) -> tensor<4xf32>
    return %8 : tensor<4xf32>
  }
  func.func private @other(tensor<4xf32> {jax.arg_info = "a"}) -> tensor<4xf32>
}
#loc1 = loc("jit(main)/add"("model.py":3:7 to :12))
// -----
func.func @constants() {
  %c = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>
  %0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %1 = stablehlo.constant dense<"0x0000803F0000C07F"> : tensor<2xf32>
  %2 = stablehlo.constant dense<[0x7FC00000, 1.0e+10]> : tensor<2xf32>
  %3 = stablehlo.constant dense<[(1.0, -0.0), (0.5, 2.25)]> : tensor<2xcomplex<f64>>
  %4 = stablehlo.constant dense<> : tensor<0x3xf32>
  %5 = stablehlo.constant dense_resource<weights> : tensor<3xi16>
  %6 = stablehlo.constant dense_resource<__elided__> : tensor<3xbf16>
  %7 = stablehlo.constant() <{value = dense<-1> : tensor<i4>}> : () -> tensor<i4>
  %8 = stablehlo.constant {mhlo.sharding = "{replicated}"} dense<18446744073709551615> : tensor<ui64>
  %9 = stablehlo.constant dense<[1.0, -448.0]> : tensor<2xf8E4M3FN>
  %10 = stablehlo.iota dim = 0 : tensor<8xi32>
  %11 = "stablehlo.constant"() {value = dense<0.1> : tensor<bf16>} : () -> tensor<bf16>
  return
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x020000000100FEFF0300"
    }
  }
#-}
// -----
func.func @moves(%arg0: tensor<4x8xf32>, %arg1: tensor<i32>, %arg2: tensor<?x8xf32>, %arg3: tensor<2xi32>) -> tensor<8x4xf32> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<8x4xf32>
  %2 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %3 = stablehlo.broadcast %arg1, sizes = [2] : (tensor<i32>) -> tensor<2xi32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<3xi32>, tensor<2xi32>) -> tensor<5xi32>
  %5 = stablehlo.slice %arg0 [1:3, 0:8:2] : (tensor<4x8xf32>) -> tensor<2x4xf32>
  %6 = stablehlo.dynamic_slice %arg0, %arg1, %arg1, sizes = [1, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %7 = stablehlo.dynamic_update_slice %arg0, %6, %arg1, %arg1 : (tensor<4x8xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %8 = stablehlo.pad %7, %cst, low = [-1, 0], high = [0, 2], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x17xf32>
  %9 = stablehlo.tuple %0, %arg1 : tuple<tensor<8x4xf32>, tensor<i32>>
  %10 = stablehlo.get_tuple_element %9[0] : (tuple<tensor<8x4xf32>, tensor<i32>>) -> tensor<8x4xf32>
  %11 = stablehlo.get_dimension_size %arg2, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %12 = stablehlo.set_dimension_size %arg0, %arg1, dim = 0 : (tensor<4x8xf32>, tensor<i32>) -> tensor<?x8xf32, #stablehlo.bounds<4, ?>>
  %13 = stablehlo.dynamic_iota %arg3, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>
  %14 = stablehlo.dynamic_broadcast_in_dim %arg1, %arg3, dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
  %15 = stablehlo.optimization_barrier %10 : tensor<8x4xf32>
  stablehlo.optimization_barrier ()
  %16:2 = stablehlo.optimization_barrier %0, %arg1 : tensor<8x4xf32>, tensor<i32>
  %17 = stablehlo.torch_index_select %arg0, %2, dim = 0, batch_dims = 0 : (tensor<4x8xf32>, tensor<3xi32>) -> tensor<3x8xf32>
  %18 = stablehlo.after_all : !stablehlo.token
  %19 = stablehlo.partition_id : tensor<ui32>
  return %16#0 : tensor<8x4xf32>
}
// -----
func.func @products(%arg0: tensor<2x4x8xf32>, %arg1: tensor<2x8x3xf32>, %arg2: tensor<1x6x6x4xf32>, %arg3: tensor<3x3x4x2xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  %1 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  %2 = stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x6x4xf32>, tensor<3x3x4x2xf32>) -> tensor<1x3x3x2xf32>
  %3 = stablehlo.slice %arg0 [0:1, 0:4, 0:8] : (tensor<2x4x8xf32>) -> tensor<1x4x8xf32>
  %4 = stablehlo.reshape %3 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.reshape %3 : (tensor<1x4x8xf32>) -> tensor<8x4xf32>
  %6 = stablehlo.dot %4, %5, precision = [HIGH, HIGH] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %7 = stablehlo.cholesky %6, lower = true : tensor<4x4xf32>
  %8 = stablehlo.fft %4, type = RFFT, length = [8] : (tensor<4x8xf32>) -> tensor<4x5xcomplex<f32>>
  %9 = stablehlo.einsum %4, %5, config = "ij,jk->ik" : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %10 = "stablehlo.convolution"(%arg2, %arg3) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}> : (tensor<1x6x6x4xf32>, tensor<3x3x4x2xf32>) -> tensor<1x6x6x2xf32>
  return
}
// -----
func.func @regions(%arg0: tensor<4x8xf32>, %arg1: tensor<4x8xi32>, %arg2: tensor<2xui64>) -> tensor<4xf32> {
  %cst = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %1:2 = stablehlo.reduce(%arg0 init: %cst), (%arg1 init: %c) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%d: tensor<i32>, %e: tensor<i32>) {
    %m = stablehlo.maximum %a, %b : tensor<f32>
    %n = stablehlo.maximum %d, %e : tensor<i32>
    stablehlo.return %m, %n : tensor<f32>, tensor<i32>
  }
  %2:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %1#0) : tensor<i32>, tensor<4xf32> attributes {mhlo.frontend_attributes = {}}
   cond {
    %k = stablehlo.constant dense<3> : tensor<i32>
    %m = stablehlo.compare LT, %iterArg, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  } do {
    %m = stablehlo.add %iterArg, %iterArg : tensor<i32>
    stablehlo.return %m, %iterArg_0 : tensor<i32>, tensor<4xf32>
  }
  %3 = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %m = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %4:2 = stablehlo.rng_bit_generator %arg2, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %shape = stablehlo.constant dense<4> : tensor<1xi64>
  %5 = stablehlo.rng %cst, %cst, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %6 = stablehlo.custom_call @target(%0) {api_version = 1 : i32, backend_config = "a\22b", called_computations = [@f, @g::@h], operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  %7 = stablehlo.composite "ns.name" %6 {composite_attributes = {a = 1.0e-3 : f32, b = 0xFF800000 : f32}, decomposition = @f, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %values, %indices = chlo.top_k(%7, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %8 = chlo.next_after %7, %7 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %9 = chlo.erf %8 : tensor<4xf32> -> tensor<4xf32>
  %10:2 = chlo.scan(%9) inits(%cst) dimension=0 attributes {is_reverse = true} {
  ^bb0(%x0: tensor<f32>, %c0: tensor<f32>):
    %m = stablehlo.add %x0, %c0 : tensor<f32>
    stablehlo.return %m, %m : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  check.expect_eq %8, %9 : tensor<4xf32>
  check.expect_eq_const %8, dense<1.0> : tensor<4xf32>
  check.expect_almost_eq %8, %9, tolerance = 1.0e-3 : tensor<4xf32>
  check.expect_close %8, %9, max_ulp_difference = 3, min_ulp_difference = 0 : tensor<4xf32>, tensor<4xf32>
  return %3 : tensor<4xf32>
}
// -----
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @sharded(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2, ?}]>}) -> tensor<8x8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
    %4 = stablehlo.add %arg1, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x8xf32>
    sdy.return %4 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  sdy.sharding_group %3 group_id=1 : tensor<8x8xf32>
  %5 = sdy.propagation_barrier %3 allowed_direction=NONE : tensor<8x8xf32>
  return %5 : tensor<8x8xf32>
}
// -----
"builtin.module"() <{sym_name = "kernel"}> ({
  "func.func"() <{function_type = (i32, memref<8x128xf32, #tpu.memory_space<vmem>>, !tpu.semaphore) -> (), sym_name = "main"}> ({
  ^bb0(%arg0: i32, %arg1: memref<8x128xf32, #tpu.memory_space<vmem>>, %arg2: !tpu.semaphore):
    %0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %1 = "vector.load"(%arg1, %0, %0) : (memref<8x128xf32, #tpu.memory_space<vmem>>, index, index) -> vector<8x128xf32>
    %2 = "arith.addf"(%1, %1) <{fastmath = #arith.fastmath<none>}> : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "func.return"() {note = [unit, @a, i32, array<i64>, array<i1: true>, array<f32: 0.5>, #tpu.tiled<(8,128),[1,1]>, strided<[1, ?], offset: 2>]} : () -> ()
  }) : () -> ()
}) {tpu.core_type = #tpu.core_type<tc>} : () -> ()
