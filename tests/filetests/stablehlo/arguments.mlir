// RUN: hlosim print %s
module @step attributes {mhlo.num_partitions = 4 : i32, mhlo.frontend_attributes = {k = "v"}} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%w: tensor<8x16xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>, tf.aliasing_output = 0 : i32} loc("params['w']"),
                  %x: tensor<16xbf16> {mhlo.memory_kind = "pinned_host", jax.buffer_donor = true},
                  %y: tensor<8x16xbf16> {mhlo.layout_mode = "{0,1}", jax.arg_info = "batch[\221\22]"}) -> (tensor<8x16xbf16> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<16xbf16>) -> tensor<8x16xbf16> loc("jit(step)/bias"("model.py":12:3))
    %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"y"}]> : tensor<8x16xbf16>
    %2 = stablehlo.add %w, %1 : tensor<8x16xbf16>
    %3 = stablehlo.multiply %2, %y {mhlo.frontend_attributes = {a = "1"}} : tensor<8x16xbf16>
    return %3 : tensor<8x16xbf16>
  }
}
// CHECK: HloModule step, input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }, entry_computation_layout={(bf16[8,16]{1,0}, bf16[16]{0:S(5)}, bf16[8,16]{0,1})->bf16[8,16]{1,0}}, num_partitions=4, frontend_attributes={k="v"}
// CHECK:
// CHECK: ENTRY %main.1 (params__w__.1: bf16[8,16], Arg_1.1: bf16[16], Arg_2.1: bf16[8,16]) -> bf16[8,16]{1,0} {
// CHECK:   %params__w__.1 = bf16[8,16]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}, metadata={op_name="params['w']"}
// CHECK:   %Arg_1.1 = bf16[16]{0:S(5)} parameter(1)
// CHECK:   %Arg_2.1 = bf16[8,16]{0,1} parameter(2), metadata={op_name="batch[\"1\"]"}
// CHECK:   %broadcast.1 = bf16[8,16]{1,0} broadcast(%Arg_1.1), dimensions={1}, metadata={op_name="jit(step)/bias" source_file="model.py" source_line=12}
// CHECK:   %custom-call.1 = bf16[8,16]{1,0} custom-call(%broadcast.1), custom_call_target="Sharding", sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
// CHECK:   %add.1 = bf16[8,16]{1,0} add(%params__w__.1, %custom-call.1)
// CHECK:   %multiply.1 = bf16[8,16]{1,0} multiply(%add.1, %Arg_2.1), frontend_attributes={a="1"}
// CHECK:   %tuple.1 = (bf16[8,16]{1,0}) tuple(%multiply.1), sharding={{replicated}}
// CHECK:   ROOT %get-tuple-element.1 = bf16[8,16]{1,0} get-tuple-element(%tuple.1), index=0, sharding={replicated}
// CHECK: }
