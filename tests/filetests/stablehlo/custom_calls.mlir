// RUN: hlosim print %s
// A call whose computation is another module's; the largest elements, of arrays that don't fit each other.
module @calls {
  func.func @main(%x: tensor<4xf32>, %i: tensor<2xi32>, %f: tensor<f32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<2xf32>, tensor<2xi32>) {
    %0 = stablehlo.custom_call @other(%x) {called_computations = [@elsewhere], mhlo.frontend_attributes = {a = "b"}} : (tensor<4xf32>) -> tensor<4xf32>
    %1:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %f, %n) {called_computations = [@greater], mhlo.backend_config = {aggregate_to_topk = true, recall_target = 0.9 : f32, reduction_dim = 0 : i64, top_k = 2 : i64}} : (tensor<4xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    return %0, %1#0, %1#1 : tensor<4xf32>, tensor<2xf32>, tensor<2xi32>
  }
  func.func private @greater(%a: tensor<f32>, %b: tensor<f32>, %j: tensor<i32>, %k: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
}
// CHECK: HloModule calls
// CHECK:
// CHECK: %greater.1 (Arg_0.2: f32[], Arg_1.2: f32[], Arg_2.2: s32[], Arg_3.2: s32[]) -> pred[] {
// CHECK:   %Arg_0.2 = f32[] parameter(0)
// CHECK:   %Arg_1.2 = f32[] parameter(1)
// CHECK:   %Arg_2.2 = s32[] parameter(2)
// CHECK:   %Arg_3.2 = s32[] parameter(3)
// CHECK:   ROOT %compare.1 = pred[] compare(%Arg_0.2, %Arg_1.2), direction=GT
// CHECK: }
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[4], Arg_1.1: s32[2], Arg_2.1: f32[], Arg_3.1: s32[]) -> (f32[4]{0}, f32[2]{0}, s32[2]{0}) {
// CHECK:   %Arg_0.1 = f32[4]{0} parameter(0)
// CHECK:   %Arg_1.1 = s32[2]{0} parameter(1)
// CHECK:   %Arg_2.1 = f32[] parameter(2)
// CHECK:   %Arg_3.1 = s32[] parameter(3)
// CHECK:   %custom-call.1 = f32[4]{0} custom-call(%Arg_0.1), custom_call_target="other", frontend_attributes={a="b",called_computations="[@elsewhere]"}
// CHECK:   %custom-call.2 = (f32[2]{0}, s32[2]{0}) custom-call(%Arg_0.1, %Arg_1.1, %Arg_2.1, %Arg_3.1), custom_call_target="ApproxTopK", called_computations={%greater.1}, backend_config={aggregate_to_topk = true, recall_target = 0.9 : f32, reduction_dim = 0 : i64, top_k = 2 : i64}
// CHECK:   %get-tuple-element.1 = f32[2]{0} get-tuple-element(%custom-call.2), index=0
// CHECK:   %get-tuple-element.2 = s32[2]{0} get-tuple-element(%custom-call.2), index=1
// CHECK:   ROOT %tuple.1 = (f32[4]{0}, f32[2]{0}, s32[2]{0}) tuple(%custom-call.1, %get-tuple-element.1, %get-tuple-element.2)
// CHECK: }
