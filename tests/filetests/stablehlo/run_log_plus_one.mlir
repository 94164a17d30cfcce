// RUN: hlosim run %s
// log(1 + z) of complex numbers: no overflow where |z| has one, and little is lost where |1 + z| is near 1.
func.func @main() {
  %x = stablehlo.constant dense<[(1.7e308, 1.7e308), (-1.7e308, 1.0), (0xFFF0000000000000, 1.0), (-0.02, 0.2), (-0.5, 0.8660254037844386), (1.0e-9, 1.0e-5), (-1.0, 1.0e-300), (5.0e-324, 0.0)]> : tensor<8xcomplex<f64>>
  %y = stablehlo.log_plus_one %x : tensor<8xcomplex<f64>>
  %e = stablehlo.constant dense<[(710.0734104835083, 0.7853981633974483), (709.7268368932282, 3.141592653589793), (0x7FF0000000000000, 3.141592653589793), (0.00019996001066346951, 0.20131710837464079), (-4.345318932600586e-17, 1.0471975511965976), (1.0499999993975001e-09, 9.999999989666666e-06), (-690.7755278982137, 1.5707963267948966), (5.0e-324, 0.0)]> : tensor<8xcomplex<f64>>
  check.expect_close %y, %e, max_ulp_difference = 2 : tensor<8xcomplex<f64>>, tensor<8xcomplex<f64>>
  return
}
// CHECK: output  shape  min  max  mean  NaN  inf  crc32c
