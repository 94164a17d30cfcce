// RUN: hlosim print %s
// Layouts of results: a list for several, for the members of a tuple, and the text of an HLO shape.
func.func @main(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %0:2 = stablehlo.custom_call @two(%x) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]} : (tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<4xf32>)
  %1 = stablehlo.custom_call @members(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>]} : (tensor<8x6xf32>) -> tuple<tensor<8x6xf32>, tensor<8x6xf32>>
  %2 = stablehlo.get_tuple_element %1[1] : (tuple<tensor<8x6xf32>, tensor<8x6xf32>>) -> tensor<8x6xf32>
  %3 = stablehlo.custom_call @text(%x, %2) {xla_shape = "(f32[8,6]{0,1}, f32[8,6])"} : (tensor<8x6xf32>, tensor<8x6xf32>) -> tuple<tensor<8x6xf32>, tensor<8x6xf32>>
  %4 = stablehlo.get_tuple_element %3[0] : (tuple<tensor<8x6xf32>, tensor<8x6xf32>>) -> tensor<8x6xf32>
  func.return %4 : tensor<8x6xf32>
}
// CHECK: HloModule main
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[8,6]) -> f32[8,6]{0,1} {
// CHECK:   %Arg_0.1 = f32[8,6]{1,0} parameter(0)
// CHECK:   %custom-call.1 = (f32[8,6]{0,1}, f32[4]{0}) custom-call(%Arg_0.1), custom_call_target="two", operand_layout_constraints={f32[8,6]{0,1}}
// CHECK:   %get-tuple-element.1 = f32[8,6]{0,1} get-tuple-element(%custom-call.1), index=0
// CHECK:   %get-tuple-element.2 = f32[4]{0} get-tuple-element(%custom-call.1), index=1
// CHECK:   %custom-call.2 = (f32[8,6]{1,0}, f32[8,6]{0,1}) custom-call(%Arg_0.1), custom_call_target="members", operand_layout_constraints={f32[8,6]{1,0}}
// CHECK:   %get-tuple-element.3 = f32[8,6]{0,1} get-tuple-element(%custom-call.2), index=1
// CHECK:   %custom-call.3 = (f32[8,6]{0,1}, f32[8,6]{1,0}) custom-call(%Arg_0.1, %get-tuple-element.3), custom_call_target="text"
// CHECK:   ROOT %get-tuple-element.4 = f32[8,6]{0,1} get-tuple-element(%custom-call.3), index=0
// CHECK: }
