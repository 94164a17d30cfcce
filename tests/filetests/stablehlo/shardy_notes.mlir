// RUN: hlosim print %s
// RUN: hlosim run --print --args=iota %s
// Shardings that XLA notes among the frontend attributes on its way to Shardy; groups and barriers of propagation.
module @noted attributes {mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[\22x\22=2, \22y\22=4]>, other = #sdy.mesh<[\22z\22=8]>}"}} {
  func.func @main(%a: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\22x\22}, {}]>"}},
                  %b: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@other, [{}, {\22z\22, ?}]>"}},
                  %c: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<@none, [{}, {}]>"}}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.add %a, %b : tensor<8x8xf32>
    %1 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%0) {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22y\22}, {\22x\22}]>]>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    sdy.sharding_group %0 group_id = 12 : tensor<8x8xf32>
    %2 = sdy.propagation_barrier %c allowed_direction=BACKWARD : tensor<8x8xf32>
    return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
// ==== 1
// CHECK: HloModule noted, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"x\"=2, \"y\"=4]>, other = #sdy.mesh<[\"z\"=8]>}"}
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[8,8], Arg_1.1: f32[8,8], Arg_2.1: f32[8,8]) -> (f32[8,8]{1,0}, f32[8,8]{1,0}) {
// CHECK:   %Arg_0.1 = f32[8,8]{1,0} parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {}]>"}
// CHECK:   %Arg_1.1 = f32[8,8]{1,0} parameter(1), sharding={devices=[1,8]<=[8]}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@other, [{}, {\"z\", ?}]>"}
// CHECK:   %Arg_2.1 = f32[8,8]{1,0} parameter(2), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@none, [{}, {}]>"}
// CHECK:   %add.1 = f32[8,8]{1,0} add(%Arg_0.1, %Arg_1.1)
// CHECK:   %custom-call.1 = f32[8,8]{1,0} custom-call(%add.1), custom_call_target="xla.sdy.FuncResultSharding", frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"y\"}, {\"x\"}]>]>"}
// CHECK:   %custom-call.2 = () custom-call(%add.1), custom_call_target="xla.sdy.ShardingGroup", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.sharding_group_id="12 : i64"}
// CHECK:   %custom-call.3 = f32[8,8]{1,0} custom-call(%Arg_2.1), custom_call_target="xla.sdy.PropagationBarrier", custom_call_has_side_effect=true, frontend_attributes={xla.sdy.allowed_direction="2 : i32"}
// CHECK:   ROOT %tuple.1 = (f32[8,8]{1,0}, f32[8,8]{1,0}) tuple(%custom-call.1, %custom-call.3), sharding={{devices=[4,2]<=[2,4]T(1,0)},{replicated}}
// CHECK: }
// ==== 2
// CHECK: f32[8,8] { {0, 2, 4, 6, 8, 10, 12, 14}, {16, 18, 20, 22, 24, 26, 28, 30}, {32, 34, 36, 38, 40, 42, 44, 46}, {48, 50, 52, 54, 56, 58, 60, 62}, {64, 66, 68, 70, 72, 74, 76, 78}, {80, 82, 84, 86, 88, 90, 92, 94}, {96, 98, 100, 102, 104, 106, 108, 110}, {112, 114, 116, 118, 120, 122, 124, 126} }
// CHECK: f32[8,8] { {0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}, {16, 17, 18, 19, 20, 21, 22, 23}, {24, 25, 26, 27, 28, 29, 30, 31}, {32, 33, 34, 35, 36, 37, 38, 39}, {40, 41, 42, 43, 44, 45, 46, 47}, {48, 49, 50, 51, 52, 53, 54, 55}, {56, 57, 58, 59, 60, 61, 62, 63} }
