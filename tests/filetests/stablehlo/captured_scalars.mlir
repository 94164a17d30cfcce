// RUN: hlosim run --print %s
// RUN: hlosim print %s
// Regions over elements that use scalars from outside, which are no constants.
func.func @main() -> tensor<3xi32> {
  %x = stablehlo.constant dense<[5, 1, 9]> : tensor<3xi32>
  %i = stablehlo.iota dim = 0 : tensor<3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %largest = stablehlo.reduce(%x init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<i32>

  // 0 + (5 + 9) + (1 + 9) + (9 + 9)
  %sum = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %moved = stablehlo.add %b, %largest : tensor<i32>
    %t = stablehlo.add %a, %moved : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }
  check.expect_eq_const %sum, dense<42> : tensor<i32>

  // By distance from 9, the indices beside them.
  %sorted:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %j: tensor<i32>, %k: tensor<i32>):
    %da = stablehlo.subtract %largest, %a : tensor<i32>
    %db = stablehlo.subtract %largest, %b : tensor<i32>
    %t = stablehlo.compare LT, %da, %db : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }) : (tensor<3xi32>, tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>)
  check.expect_eq_const %sorted#0, dense<[9, 5, 1]> : tensor<3xi32>
  check.expect_eq_const %sorted#1, dense<[2, 0, 1]> : tensor<3xi32>

  %mapped = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>):
    %t = stablehlo.multiply %a, %largest : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) : (tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %mapped, dense<[45, 9, 81]> : tensor<3xi32>

  %windows = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %both = stablehlo.add %a, %b : tensor<i32>
    %t = stablehlo.minimum %both, %largest : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) : (tensor<3xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %windows, dense<[6, 9]> : tensor<2xi32>

  %at = stablehlo.constant dense<[[0], [2]]> : tensor<2x1xi32>
  %updates = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %scattered = "stablehlo.scatter"(%x, %at, %updates) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.multiply %b, %largest : tensor<i32>
    %t = stablehlo.add %a, %s : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) : (tensor<3xi32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<3xi32>
  check.expect_eq_const %scattered, dense<[14, 1, 27]> : tensor<3xi32>
  return %scattered : tensor<3xi32>
}
// ==== 1
// CHECK: s32[3] {14, 1, 27}
// ==== 2
// CHECK: HloModule main
// CHECK:
// CHECK: %region.1 (Arg_0.1: s32[], Arg_1.1: s32[]) -> s32[] {
// CHECK:   %Arg_0.1 = s32[] parameter(0)
// CHECK:   %Arg_1.1 = s32[] parameter(1)
// CHECK:   ROOT %maximum.1 = s32[] maximum(%Arg_0.1, %Arg_1.1)
// CHECK: }
// CHECK:
// CHECK: %region.2 (Arg_0.2: s32[], Arg_1.2: s32[], Arg_2.1: s32[], Arg_3.1: s32[]) -> (s32[], s32[]) {
// CHECK:   %Arg_0.2 = s32[] parameter(0)
// CHECK:   %Arg_1.2 = s32[] parameter(1)
// CHECK:   %Arg_2.1 = s32[] parameter(2)
// CHECK:   %Arg_3.1 = s32[] parameter(3)
// CHECK:   %add.1 = s32[] add(%Arg_2.1, %Arg_3.1)
// CHECK:   %add.2 = s32[] add(%Arg_0.2, %add.1)
// CHECK:   ROOT %tuple.1 = (s32[], s32[]) tuple(%add.2, %Arg_3.1)
// CHECK: }
// CHECK:
// CHECK: %compare.2 (Arg_0.3: s32[], Arg_1.3: s32[], Arg_2.2: s32[], Arg_3.2: s32[], Arg_4.1: s32[], Arg_5.1: s32[]) -> pred[] {
// CHECK:   %Arg_0.3 = s32[] parameter(0)
// CHECK:   %Arg_1.3 = s32[] parameter(1)
// CHECK:   %Arg_2.2 = s32[] parameter(2)
// CHECK:   %Arg_3.2 = s32[] parameter(3)
// CHECK:   %Arg_4.1 = s32[] parameter(4)
// CHECK:   %Arg_5.1 = s32[] parameter(5)
// CHECK:   %subtract.1 = s32[] subtract(%Arg_4.1, %Arg_0.3)
// CHECK:   %subtract.2 = s32[] subtract(%Arg_4.1, %Arg_1.3)
// CHECK:   ROOT %compare.1 = pred[] compare(%subtract.1, %subtract.2), direction=LT
// CHECK: }
// CHECK:
// CHECK: %region.3 (Arg_0.4: s32[], Arg_1.4: s32[]) -> s32[] {
// CHECK:   %Arg_0.4 = s32[] parameter(0)
// CHECK:   %Arg_1.4 = s32[] parameter(1)
// CHECK:   ROOT %multiply.1 = s32[] multiply(%Arg_0.4, %Arg_1.4)
// CHECK: }
// CHECK:
// CHECK: %region.4 (Arg_0.5: s32[], Arg_1.5: s32[], Arg_2.3: s32[], Arg_3.3: s32[]) -> (s32[], s32[]) {
// CHECK:   %Arg_0.5 = s32[] parameter(0)
// CHECK:   %Arg_1.5 = s32[] parameter(1)
// CHECK:   %Arg_2.3 = s32[] parameter(2)
// CHECK:   %Arg_3.3 = s32[] parameter(3)
// CHECK:   %add.3 = s32[] add(%Arg_0.5, %Arg_2.3)
// CHECK:   %minimum.1 = s32[] minimum(%add.3, %Arg_3.3)
// CHECK:   ROOT %tuple.2 = (s32[], s32[]) tuple(%minimum.1, %Arg_3.3)
// CHECK: }
// CHECK:
// CHECK: %scatter.1 (Arg_0.6: s32[], Arg_1.6: s32[], Arg_2.4: s32[], Arg_3.4: s32[]) -> (s32[], s32[]) {
// CHECK:   %Arg_0.6 = s32[] parameter(0)
// CHECK:   %Arg_1.6 = s32[] parameter(1)
// CHECK:   %Arg_2.4 = s32[] parameter(2)
// CHECK:   %Arg_3.4 = s32[] parameter(3)
// CHECK:   %multiply.2 = s32[] multiply(%Arg_2.4, %Arg_3.4)
// CHECK:   %add.4 = s32[] add(%Arg_0.6, %multiply.2)
// CHECK:   ROOT %tuple.3 = (s32[], s32[]) tuple(%add.4, %Arg_3.4)
// CHECK: }
// CHECK:
// CHECK: ENTRY %main.1 () -> s32[3]{0} {
// CHECK:   %constant.1 = s32[3]{0} constant({5, 1, 9})
// CHECK:   %iota.1 = s32[3]{0} iota(), iota_dimension=0
// CHECK:   %constant.2 = s32[] constant(0)
// CHECK:   %reduce.1 = s32[] reduce(%constant.1, %constant.2), dimensions={0}, to_apply=%region.1
// CHECK:   %broadcast.1 = s32[3]{0} broadcast(%reduce.1), dimensions={}
// CHECK:   %reduce.2 = (s32[], s32[]) reduce(%constant.1, %broadcast.1, %constant.2, %reduce.1), dimensions={0}, to_apply=%region.2
// CHECK:   %get-tuple-element.1 = s32[] get-tuple-element(%reduce.2), index=0
// CHECK:   %constant.3 = s32[] constant(42)
// CHECK:   %custom-call.1 = () custom-call(%get-tuple-element.1, %constant.3), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
// CHECK:   %broadcast.2 = s32[3]{0} broadcast(%reduce.1), dimensions={}
// CHECK:   %sort.1 = (s32[3]{0}, s32[3]{0}, s32[3]{0}) sort(%constant.1, %iota.1, %broadcast.2), dimensions={0}, is_stable=true, to_apply=%compare.2
// CHECK:   %get-tuple-element.2 = s32[3]{0} get-tuple-element(%sort.1), index=0
// CHECK:   %get-tuple-element.3 = s32[3]{0} get-tuple-element(%sort.1), index=1
// CHECK:   %constant.4 = s32[3]{0} constant({9, 5, 1})
// CHECK:   %custom-call.2 = () custom-call(%get-tuple-element.2, %constant.4), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
// CHECK:   %constant.5 = s32[3]{0} constant({2, 0, 1})
// CHECK:   %custom-call.3 = () custom-call(%get-tuple-element.3, %constant.5), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
// CHECK:   %broadcast.3 = s32[3]{0} broadcast(%reduce.1), dimensions={}
// CHECK:   %map.1 = s32[3]{0} map(%constant.1, %broadcast.3), dimensions={0}, to_apply=%region.3
// CHECK:   %constant.6 = s32[3]{0} constant({45, 9, 81})
// CHECK:   %custom-call.4 = () custom-call(%map.1, %constant.6), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
// CHECK:   %broadcast.4 = s32[3]{0} broadcast(%reduce.1), dimensions={}
// CHECK:   %reduce-window.1 = (s32[2]{0}, s32[2]{0}) reduce-window(%constant.1, %broadcast.4, %constant.2, %reduce.1), window={size=2}, to_apply=%region.4
// CHECK:   %get-tuple-element.4 = s32[2]{0} get-tuple-element(%reduce-window.1), index=0
// CHECK:   %constant.7 = s32[2]{0} constant({6, 9})
// CHECK:   %custom-call.5 = () custom-call(%get-tuple-element.4, %constant.7), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
// CHECK:   %constant.8 = s32[2,1]{1,0} constant({ {0}, {2} })
// CHECK:   %constant.9 = s32[2]{0} constant({1, 2})
// CHECK:   %broadcast.5 = s32[3]{0} broadcast(%reduce.1), dimensions={}
// CHECK:   %broadcast.6 = s32[2]{0} broadcast(%reduce.1), dimensions={}
// CHECK:   %scatter.2 = (s32[3]{0}, s32[3]{0}) scatter(%constant.1, %broadcast.5, %constant.8, %constant.9, %broadcast.6), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%scatter.1
// CHECK:   ROOT %get-tuple-element.5 = s32[3]{0} get-tuple-element(%scatter.2), index=0
// CHECK:   %constant.10 = s32[3]{0} constant({14, 1, 27})
// CHECK:   %custom-call.6 = () custom-call(%get-tuple-element.5, %constant.10), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
// CHECK: }
