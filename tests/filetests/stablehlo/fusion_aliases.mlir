// RUN: hlosim print %s --no-percent
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0:2 = "mhlo.fusion"(%x, %y) ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    %s = mhlo.add %a, %b : tensor<2xf32>
    %d = mhlo.subtract %a, %b : tensor<2xf32>
    mhlo.return %s, %d : tensor<2xf32>, tensor<2xf32>
  }) {fusion_kind = #mhlo<fusion_kind kLoop>, output_operand_aliasing = [#mhlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}
// CHECK: HloModule main
// CHECK:
// CHECK: fused_computation.1 (Arg_0.2: f32[2], Arg_1.2: f32[2]) -> (f32[2]{0}, f32[2]{0}) {
// CHECK:   Arg_0.2 = f32[2]{0} parameter(0)
// CHECK:   Arg_1.2 = f32[2]{0} parameter(1)
// CHECK:   add.1 = f32[2]{0} add(Arg_0.2, Arg_1.2)
// CHECK:   subtract.1 = f32[2]{0} subtract(Arg_0.2, Arg_1.2)
// CHECK:   ROOT tuple.1 = (f32[2]{0}, f32[2]{0}) tuple(add.1, subtract.1)
// CHECK: }
// CHECK:
// CHECK: ENTRY main.1 (Arg_0.1: f32[2], Arg_1.1: f32[2]) -> (f32[2]{0}, f32[2]{0}) {
// CHECK:   Arg_0.1 = f32[2]{0} parameter(0)
// CHECK:   Arg_1.1 = f32[2]{0} parameter(1)
// CHECK:   fusion.1 = (f32[2]{0}, f32[2]{0}) fusion(Arg_0.1, Arg_1.1), kind=kLoop, calls=fused_computation.1, output_to_operand_aliasing={ {1}: (0, {}) }
// CHECK:   get-tuple-element.1 = f32[2]{0} get-tuple-element(fusion.1), index=0
// CHECK:   get-tuple-element.2 = f32[2]{0} get-tuple-element(fusion.1), index=1
// CHECK:   ROOT tuple.2 = (f32[2]{0}, f32[2]{0}) tuple(get-tuple-element.1, get-tuple-element.2)
// CHECK: }
