// RUN: hlosim print %s --no-percent
module @old attributes {mhlo.num_replicas = 1 : i32} {
  func public @main(%arg0: tensor<2x3xf32> {mhlo.sharding = ""}, %arg1: tensor<3x4xf32>, %bits: tensor<2x4xui32>) -> (tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x4xbf16>) {
    %0 = mhlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = "mhlo.dot_general"(%arg0, %arg1) {dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#mhlo<precision DEFAULT>, #mhlo<precision HIGHEST>]} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = "mhlo.broadcast_in_dim"(%0) {broadcast_dimensions = dense<> : tensor<0xi64>} : (tensor<f32>) -> tensor<2x4xf32>
    %3 = mhlo.compare GT, %1, %2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>
    %4 = "mhlo.select"(%3, %1, %2) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %5 = mhlo.reduce(%4 init: %0) applies mhlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %6 = "mhlo.stochastic_convert"(%4, %bits) : (tensor<2x4xf32>, tensor<2x4xui32>) -> tensor<2x4xbf16>
    %7:2 = "mhlo.topk"(%4) {k = 2 : i64, largest = true} : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
    %8 = mhlo.erf %7#0 : tensor<2x2xf32>
    %9 = "mhlo.copy"(%8) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %10 = call @loop(%5) : (tensor<2xf32>) -> tensor<2xf32>
    %11 = mhlo.constant dense<2.000000e+00> : tensor<2xf32>
    %12:2 = "mhlo.fusion"(%10, %5) ( {
    ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):  // no predecessors
      %f0 = mhlo.multiply %a, %11 : tensor<2xf32>
      %f1 = mhlo.add %f0, %b : tensor<2xf32>
      "mhlo.return"(%f0, %f1) : (tensor<2xf32>, tensor<2xf32>) -> ()
    }) {fusion_kind = #mhlo<fusion_kind kLoop>, output_operand_aliasing = []} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    "mhlo.custom_call"(%12#1) {call_target_name = "note", custom_call_schedule = #mhlo<custom_call_schedule LATEST>, has_side_effect = true} : (tensor<2xf32>) -> ()
    return %10, %9, %7#1, %6 : tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xi32>, tensor<2x4xbf16>
  }
  func private @loop(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %last = arith.constant dense<3> : tensor<i32>
    %first = mhlo.constant dense<0> : tensor<i32>
    %0:2 = mhlo.while(%i = %first, %x = %arg0) : tensor<i32>, tensor<2xf32>
      cond {
      %1 = mhlo.compare LT, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
      mhlo.return %1 : tensor<i1>
    } do {
      %one = mhlo.constant dense<1> : tensor<i32>
      %1 = mhlo.add %i, %one : tensor<i32>
      %2 = "mhlo.map"(%x) ({
      ^bb0(%v: tensor<f32>):
        %3 = mhlo.tanh %v : tensor<f32>
        "mhlo.return"(%3) : (tensor<f32>) -> ()
      }) {dimensions = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2xf32>
      return %1, %2 : tensor<i32>, tensor<2xf32>
    }
    return %0#1 : tensor<2xf32>
  }
  llvm.module_flags [#llvm.mlir.module_flag<warning, "Dwarf Version", 2 : i32>]
}
// CHECK: HloModule old
// CHECK:
// CHECK: region.1 (Arg_0.2: f32[], Arg_1.2: f32[]) -> f32[] {
// CHECK:   Arg_0.2 = f32[] parameter(0)
// CHECK:   Arg_1.2 = f32[] parameter(1)
// CHECK:   ROOT add.1 = f32[] add(Arg_0.2, Arg_1.2)
// CHECK: }
// CHECK:
// CHECK: region.2 (Arg_0.4: f32[]) -> f32[] {
// CHECK:   Arg_0.4 = f32[] parameter(0)
// CHECK:   ROOT tanh.1 = f32[] tanh(Arg_0.4)
// CHECK: }
// CHECK:
// CHECK: region_body.1 (arg_tuple.1: (s32[], f32[2])) -> (s32[], f32[2]{0}) {
// CHECK:   arg_tuple.1 = (s32[], f32[2]{0}) parameter(0)
// CHECK:   get-tuple-element.3 = s32[] get-tuple-element(arg_tuple.1), index=0
// CHECK:   get-tuple-element.4 = f32[2]{0} get-tuple-element(arg_tuple.1), index=1
// CHECK:   constant.4 = s32[] constant(1)
// CHECK:   add.2 = s32[] add(get-tuple-element.3, constant.4)
// CHECK:   map.1 = f32[2]{0} map(get-tuple-element.4), dimensions={0}, to_apply=region.2
// CHECK:   ROOT tuple.1 = (s32[], f32[2]{0}) tuple(add.2, map.1)
// CHECK: }
// CHECK:
// CHECK: region_condition.1 (arg_tuple.2: (s32[], f32[2])) -> pred[] {
// CHECK:   arg_tuple.2 = (s32[], f32[2]{0}) parameter(0)
// CHECK:   get-tuple-element.5 = s32[] get-tuple-element(arg_tuple.2), index=0
// CHECK:   get-tuple-element.6 = f32[2]{0} get-tuple-element(arg_tuple.2), index=1
// CHECK:   constant.5 = s32[] constant(3)
// CHECK:   ROOT compare.2 = pred[] compare(get-tuple-element.5, constant.5), direction=LT
// CHECK: }
// CHECK:
// CHECK: loop.1 (Arg_0.3: f32[2]) -> f32[2]{0} {
// CHECK:   Arg_0.3 = f32[2]{0} parameter(0)
// CHECK:   constant.2 = s32[] constant(3)
// CHECK:   constant.3 = s32[] constant(0)
// CHECK:   tuple.2 = (s32[], f32[2]{0}) tuple(constant.3, Arg_0.3)
// CHECK:   while.1 = (s32[], f32[2]{0}) while(tuple.2), condition=region_condition.1, body=region_body.1
// CHECK:   get-tuple-element.7 = s32[] get-tuple-element(while.1), index=0
// CHECK:   ROOT get-tuple-element.8 = f32[2]{0} get-tuple-element(while.1), index=1
// CHECK: }
// CHECK:
// CHECK: fused_computation.1 (Arg_0.5: f32[2], Arg_1.3: f32[2]) -> (f32[2]{0}, f32[2]{0}) {
// CHECK:   Arg_0.5 = f32[2]{0} parameter(0)
// CHECK:   Arg_1.3 = f32[2]{0} parameter(1)
// CHECK:   constant.7 = f32[2]{0} constant({2, 2})
// CHECK:   multiply.1 = f32[2]{0} multiply(Arg_0.5, constant.7)
// CHECK:   add.3 = f32[2]{0} add(multiply.1, Arg_1.3)
// CHECK:   ROOT tuple.3 = (f32[2]{0}, f32[2]{0}) tuple(multiply.1, add.3)
// CHECK: }
// CHECK:
// CHECK: ENTRY main.1 (Arg_0.1: f32[2,3], Arg_1.1: f32[3,4], Arg_2.1: u32[2,4]) -> (f32[2]{0}, f32[2,2]{1,0}, s32[2,2]{1,0}, bf16[2,4]{1,0}) {
// CHECK:   Arg_0.1 = f32[2,3]{1,0} parameter(0), sharding={replicated}
// CHECK:   Arg_1.1 = f32[3,4]{1,0} parameter(1)
// CHECK:   Arg_2.1 = u32[2,4]{1,0} parameter(2)
// CHECK:   constant.1 = f32[] constant(0)
// CHECK:   dot.1 = f32[2,4]{1,0} dot(Arg_0.1, Arg_1.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={default,highest}
// CHECK:   broadcast.1 = f32[2,4]{1,0} broadcast(constant.1), dimensions={}
// CHECK:   compare.1 = pred[2,4]{1,0} compare(dot.1, broadcast.1), direction=GT
// CHECK:   select.1 = f32[2,4]{1,0} select(compare.1, dot.1, broadcast.1)
// CHECK:   reduce.1 = f32[2]{0} reduce(select.1, constant.1), dimensions={1}, to_apply=region.1
// CHECK:   stochastic-convert.1 = bf16[2,4]{1,0} stochastic-convert(select.1, Arg_2.1)
// CHECK:   topk.1 = (f32[2,2]{1,0}, s32[2,2]{1,0}) topk(select.1), k=2, largest=true
// CHECK:   get-tuple-element.1 = f32[2,2]{1,0} get-tuple-element(topk.1), index=0
// CHECK:   get-tuple-element.2 = s32[2,2]{1,0} get-tuple-element(topk.1), index=1
// CHECK:   erf.1 = f32[2,2]{1,0} erf(get-tuple-element.1)
// CHECK:   copy.1 = f32[2,2]{1,0} copy(erf.1)
// CHECK:   call.1 = f32[2]{0} call(reduce.1), to_apply=loop.1
// CHECK:   constant.6 = f32[2]{0} constant({2, 2})
// CHECK:   fusion.1 = (f32[2]{0}, f32[2]{0}) fusion(call.1, reduce.1), kind=kLoop, calls=fused_computation.1
// CHECK:   get-tuple-element.9 = f32[2]{0} get-tuple-element(fusion.1), index=0
// CHECK:   get-tuple-element.10 = f32[2]{0} get-tuple-element(fusion.1), index=1
// CHECK:   custom-call.1 = () custom-call(get-tuple-element.10), custom_call_target="note", custom_call_has_side_effect=true, schedule=SCHEDULE_LATEST
// CHECK:   ROOT tuple.4 = (f32[2]{0}, f32[2,2]{1,0}, s32[2,2]{1,0}, bf16[2,4]{1,0}) tuple(call.1, copy.1, get-tuple-element.2, stochastic-convert.1)
// CHECK: }
