// RUN: hlosim partition %s --propagate-only

sdy.mesh @mesh = <["data"=2, "model"=2]>

func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>},
                %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<8x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"model", ?}]> : tensor<8x32xf32>
  return %1 : tensor<8x32xf32>
}
// CHECK: HloModule main
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[8,16], Arg_1.1: f32[16,32]) -> f32[8,32]{1,0} {
// CHECK:   %Arg_0.1 = f32[8,16]{1,0} parameter(0), sharding={devices=[2,2]<=[4]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {?}]>"}  // backward from %Arg_1.1 through %dot.1
// CHECK:   %Arg_1.1 = f32[16,32]{1,0} parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}  // user
// CHECK:   %dot.1 = f32[8,32]{1,0} dot(%Arg_0.1, %Arg_1.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[2,2]<=[4]}  // forward from %Arg_0.1
// CHECK:   ROOT %custom-call.1 = f32[8,32]{1,0} custom-call(%dot.1), custom_call_target="Sharding", sharding={devices=[2,2]<=[4]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{?}, {\"model\", ?}]>"}  // forward from %Arg_0.1
// CHECK: }
