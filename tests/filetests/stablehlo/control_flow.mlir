// RUN: hlosim run --print --args=iota %s
// RUN: hlosim print %s
module @loops {
  func.func private @twice(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = stablehlo.add %x, %x : tensor<i32>
    return %0, %x : tensor<i32>, tensor<i32>
  }
  func.func @main(%a: tensor<4xf32>, %p: tensor<i1>) -> (tensor<i32>, tensor<4xf32>, tensor<f32>) {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %c3 = stablehlo.constant dense<3> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %r:2 = stablehlo.while(%i = %c0, %x = %a) : tensor<i32>, tensor<4xf32>
    cond {
      %t = stablehlo.compare LT, %i, %c3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %n = stablehlo.add %i, %c1 : tensor<i32>
      %y = stablehlo.add %x, %a : tensor<4xf32>
      stablehlo.return %n, %y : tensor<i32>, tensor<4xf32>
    }
    %s = stablehlo.reduce(%r#1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %b = "stablehlo.if"(%p) ({
      stablehlo.return %s : tensor<f32>
    }, {
      %n = stablehlo.negate %s : tensor<f32>
      stablehlo.return %n : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %d:2 = call @twice(%r#0) : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
    return %d#0, %r#1, %b : tensor<i32>, tensor<4xf32>, tensor<f32>
  }
}
// ==== 1
// CHECK: s32[] 6
// CHECK: f32[4] {0, 4, 8, 12}
// CHECK: f32[] -24
// ==== 2
// CHECK: HloModule loops
// CHECK:
// CHECK: %region_body.1 (arg_tuple.1: (s32[], f32[4], f32[4])) -> (s32[], f32[4]{0}, f32[4]{0}) {
// CHECK:   %arg_tuple.1 = (s32[], f32[4]{0}, f32[4]{0}) parameter(0)
// CHECK:   %get-tuple-element.1 = s32[] get-tuple-element(%arg_tuple.1), index=0
// CHECK:   %get-tuple-element.2 = f32[4]{0} get-tuple-element(%arg_tuple.1), index=1
// CHECK:   %get-tuple-element.3 = f32[4]{0} get-tuple-element(%arg_tuple.1), index=2
// CHECK:   %constant.5 = s32[] constant(1)
// CHECK:   %add.1 = s32[] add(%get-tuple-element.1, %constant.5)
// CHECK:   %add.2 = f32[4]{0} add(%get-tuple-element.2, %get-tuple-element.3)
// CHECK:   ROOT %tuple.1 = (s32[], f32[4]{0}, f32[4]{0}) tuple(%add.1, %add.2, %get-tuple-element.3)
// CHECK: }
// CHECK:
// CHECK: %region_condition.1 (arg_tuple.2: (s32[], f32[4], f32[4])) -> pred[] {
// CHECK:   %arg_tuple.2 = (s32[], f32[4]{0}, f32[4]{0}) parameter(0)
// CHECK:   %get-tuple-element.4 = s32[] get-tuple-element(%arg_tuple.2), index=0
// CHECK:   %get-tuple-element.5 = f32[4]{0} get-tuple-element(%arg_tuple.2), index=1
// CHECK:   %get-tuple-element.6 = f32[4]{0} get-tuple-element(%arg_tuple.2), index=2
// CHECK:   %constant.6 = s32[] constant(3)
// CHECK:   ROOT %compare.1 = pred[] compare(%get-tuple-element.4, %constant.6), direction=LT
// CHECK: }
// CHECK:
// CHECK: %region.1 (Arg_0.2: f32[], Arg_1.2: f32[]) -> f32[] {
// CHECK:   %Arg_0.2 = f32[] parameter(0)
// CHECK:   %Arg_1.2 = f32[] parameter(1)
// CHECK:   ROOT %add.3 = f32[] add(%Arg_0.2, %Arg_1.2)
// CHECK: }
// CHECK:
// CHECK: %region_branch_0.1 (Arg_.1: f32[]) -> f32[] {
// CHECK:   ROOT %Arg_.1 = f32[] parameter(0)
// CHECK: }
// CHECK:
// CHECK: %region_branch_1.1 (Arg_.2: f32[]) -> f32[] {
// CHECK:   %Arg_.2 = f32[] parameter(0)
// CHECK:   ROOT %negate.1 = f32[] negate(%Arg_.2)
// CHECK: }
// CHECK:
// CHECK: %twice.1 (Arg_0.3: s32[]) -> (s32[], s32[]) {
// CHECK:   %Arg_0.3 = s32[] parameter(0)
// CHECK:   %add.4 = s32[] add(%Arg_0.3, %Arg_0.3)
// CHECK:   ROOT %tuple.3 = (s32[], s32[]) tuple(%add.4, %Arg_0.3)
// CHECK: }
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[4], Arg_1.1: pred[]) -> (s32[], f32[4]{0}, f32[]) {
// CHECK:   %Arg_0.1 = f32[4]{0} parameter(0)
// CHECK:   %Arg_1.1 = pred[] parameter(1)
// CHECK:   %constant.1 = s32[] constant(0)
// CHECK:   %constant.2 = s32[] constant(1)
// CHECK:   %constant.3 = s32[] constant(3)
// CHECK:   %constant.4 = f32[] constant(0)
// CHECK:   %tuple.2 = (s32[], f32[4]{0}, f32[4]{0}) tuple(%constant.1, %Arg_0.1, %Arg_0.1)
// CHECK:   %while.1 = (s32[], f32[4]{0}, f32[4]{0}) while(%tuple.2), condition=%region_condition.1, body=%region_body.1
// CHECK:   %get-tuple-element.7 = s32[] get-tuple-element(%while.1), index=0
// CHECK:   %get-tuple-element.8 = f32[4]{0} get-tuple-element(%while.1), index=1
// CHECK:   %reduce.1 = f32[] reduce(%get-tuple-element.8, %constant.4), dimensions={0}, to_apply=%region.1
// CHECK:   %conditional.1 = f32[] conditional(%Arg_1.1, %reduce.1, %reduce.1), true_computation=%region_branch_0.1, false_computation=%region_branch_1.1
// CHECK:   %call.1 = (s32[], s32[]) call(%get-tuple-element.7), to_apply=%twice.1
// CHECK:   %get-tuple-element.9 = s32[] get-tuple-element(%call.1), index=0
// CHECK:   %get-tuple-element.10 = s32[] get-tuple-element(%call.1), index=1
// CHECK:   ROOT %tuple.4 = (s32[], f32[4]{0}, f32[]) tuple(%get-tuple-element.9, %get-tuple-element.8, %conditional.1)
// CHECK: }
