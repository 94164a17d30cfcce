// RUN: hlosim run %s
// Real and imaginary parts that cancel nearly: what is left is the rounding of sums of real products.
func.func @main() {
  %x = stablehlo.constant dense<[[-3, -2, 3]]> : tensor<1x3xi16>
  %a = stablehlo.convert %x : (tensor<1x3xi16>) -> tensor<1x3xcomplex<f32>>
  %b = stablehlo.constant dense<[[(-1.14176381,0.982468426)], [(-3.7231698,-1.29486406)], [(-3.47399879,1.28193557)]]> : tensor<3x1xcomplex<f32>>
  %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x3xcomplex<f32>>, tensor<3x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  %e = stablehlo.constant dense<(0.449635506,3.48812938)> : tensor<1x1xcomplex<f32>>
  // exp(x) has no direction where the angle is infinite.
  %far = stablehlo.constant dense<(0xFF800000,0x7F800000)> : tensor<complex<f32>>
  %exp = stablehlo.exponential %far : tensor<complex<f32>>
  check.expect_almost_eq_const %exp, dense<(0x7FC00000,0x7FC00000)> : tensor<complex<f32>>
  check.expect_close %p, %e, max_ulp_difference = 0 : tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>
  return
}
// CHECK: output  shape  min  max  mean  NaN  inf  crc32c
