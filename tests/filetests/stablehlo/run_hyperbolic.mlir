// RUN: hlosim run %s
// cosh and sinh are sums of e^(x - log 2) and e^(-x - log 2), as CHLO and XLA expand them: the rounding of
// x - log 2 shows in what they give, and neither overflows before its result does.
func.func @main() {
  %x = stablehlo.constant dense<[10.2020040, -7.72690964, 0.25, 89.0, 0x7F800000]> : tensor<5xf32>
  %c = chlo.cosh %x : tensor<5xf32> -> tensor<5xf32>
  %s = chlo.sinh %x : tensor<5xf32> -> tensor<5xf32>
  %half = stablehlo.constant dense<-0.693147182> : tensor<5xf32>
  %minus = stablehlo.negate %x : tensor<5xf32>
  %up = stablehlo.add %x, %half : tensor<5xf32>
  %down = stablehlo.add %minus, %half : tensor<5xf32>
  %a = stablehlo.exponential %up : tensor<5xf32>
  %b = stablehlo.exponential %down : tensor<5xf32>
  %sum = stablehlo.add %a, %b : tensor<5xf32>
  %difference = stablehlo.subtract %a, %b : tensor<5xf32>
  check.expect_close %c, %sum, max_ulp_difference = 0 : tensor<5xf32>, tensor<5xf32>
  %large = stablehlo.slice %s [3:5] : (tensor<5xf32>) -> tensor<2xf32>
  %other = stablehlo.slice %difference [3:5] : (tensor<5xf32>) -> tensor<2xf32>
  check.expect_close %large, %other, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  // Near 0 the terms are alike.
  %near = stablehlo.slice %s [2:3] : (tensor<5xf32>) -> tensor<1xf32>
  check.expect_almost_eq_const %near, dense<0.252612317> : tensor<1xf32>
  return
}
// CHECK: output  shape  min  max  mean  NaN  inf  crc32c
