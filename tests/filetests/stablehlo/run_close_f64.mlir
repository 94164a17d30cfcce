// RUN: hlosim run %s
// EXIT: 1
// Distances of 64-bit floats are counted one by one.
func.func @main() {
  %a = stablehlo.constant dense<"0x000000000000F03F010000000000008000000000000000C0"> : tensor<3xf64>
  %near = stablehlo.constant dense<"0x030000000000F03F020000000000000002000000000000C0"> : tensor<3xf64>
  %far = stablehlo.constant dense<"0x040000000000F03F010000000000008000000000000000C0"> : tensor<3xf64>
  %below = stablehlo.constant dense<"0x000000000000F03F030000000000000000000000000000C0"> : tensor<3xf64>
  check.expect_close %a, %near, max_ulp_difference = 3, min_ulp_difference = 2 : tensor<3xf64>, tensor<3xf64>
  check.expect_close %a, %far, max_ulp_difference = 3 : tensor<3xf64>, tensor<3xf64>
  check.expect_close %a, %below, max_ulp_difference = 3 : tensor<3xf64>, tensor<3xf64>
  return
}
// CHECK: output  shape  min  max  mean  NaN  inf  crc32c
// ERR: run_close_f64.mlir:10:3: error: check.expect_close fails: element [0] is 1, expected 1.0000000000000009 (1 of 3 differ)
// ERR:     check.expect_close %a, %far, max_ulp_difference = 3 : tensor<3xf64>, tensor<3xf64>
// ERR:     ^
// ERR: run_close_f64.mlir:11:3: error: check.expect_close fails: element [1] is -5e-324, expected 1.5e-323 (1 of 3 differ)
// ERR:     check.expect_close %a, %below, max_ulp_difference = 3 : tensor<3xf64>, tensor<3xf64>
// ERR:     ^
