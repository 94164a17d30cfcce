// RUN: hlosim run %s
// RUN: hlosim print %s
func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %2 = stablehlo.add %0, %0 : tensor<2xf32>
  check.expect_eq %2, %1 : tensor<2xf32>
  check.expect_eq_const %2, dense<[2.0, 4.0]> : tensor<2xf32>
  check.expect_almost_eq_const %0, dense<[1.00001, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const %0, dense<[1.001, 2.0]> : tensor<2xf32>
  %3 = stablehlo.constant dense<[1.0000001, 2.0]> : tensor<2xf32>
  check.expect_close %0, %3, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  %4 = stablehlo.constant dense<[1.000001, 2.0]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_close(%0, %4) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return %2 : tensor<2xf32>
}
// ==== 1
// EXIT: 1
// CHECK: output  shape   min  max  mean  NaN  inf    crc32c
// CHECK: 0       f32[2]    2    4     3    0    0  01c13f61
// ERR: run_checks.mlir:7:3: error: check.expect_eq fails: element [0] is 2, expected 1 (2 of 2 differ)
// ERR:     check.expect_eq %2, %1 : tensor<2xf32>
// ERR:     ^
// ERR: run_checks.mlir:10:3: error: check.expect_almost_eq fails: element [0] is 1, expected 1.001 (1 of 2 differ)
// ERR:     check.expect_almost_eq_const %0, dense<[1.001, 2.0]> : tensor<2xf32>
// ERR:     ^
// ERR: run_checks.mlir:14:3: error: check.expect_close fails: element [0] is 1, expected 1.000001 (1 of 2 differ)
// ERR:     stablehlo.custom_call @check.expect_close(%0, %4) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
// ERR:     ^
// ==== 2
// CHECK: HloModule main
// CHECK:
// CHECK: ENTRY %main.1 () -> f32[2]{0} {
// CHECK:   %constant.1 = f32[2]{0} constant({1, 2})
// CHECK:   %constant.2 = f32[2]{0} constant({1, 3})
// CHECK:   ROOT %add.1 = f32[2]{0} add(%constant.1, %constant.1)
// CHECK:   %custom-call.1 = () custom-call(%add.1, %constant.2), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
// CHECK:   %constant.3 = f32[2]{0} constant({2, 4})
// CHECK:   %custom-call.2 = () custom-call(%add.1, %constant.3), custom_call_target="check.expect_eq", custom_call_has_side_effect=true
// CHECK:   %constant.4 = f32[2]{0} constant({1.00001, 2})
// CHECK:   %custom-call.3 = () custom-call(%constant.1, %constant.4), custom_call_target="check.expect_almost_eq", custom_call_has_side_effect=true, backend_config="tolerance=0.0001"
// CHECK:   %constant.5 = f32[2]{0} constant({1.001, 2})
// CHECK:   %custom-call.4 = () custom-call(%constant.1, %constant.5), custom_call_target="check.expect_almost_eq", custom_call_has_side_effect=true, backend_config="tolerance=0.0001"
// CHECK:   %constant.6 = f32[2]{0} constant({1.0000001, 2})
// CHECK:   %custom-call.5 = () custom-call(%constant.1, %constant.6), custom_call_target="check.expect_close", custom_call_has_side_effect=true, backend_config="min_ulps=0,max_ulps=1"
// CHECK:   %constant.7 = f32[2]{0} constant({1.000001, 2})
// CHECK:   %custom-call.6 = () custom-call(%constant.1, %constant.7), custom_call_target="check.expect_close", custom_call_has_side_effect=true, backend_config="min_ulps=0,max_ulps=3"
// CHECK: }
