// -----
func.func @constants() {
  %c = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>
  %0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %1 = stablehlo.constant dense<"0x0000803F0000C07F"> : tensor<2xf32>
  %2 = stablehlo.constant dense<[0x7FC00000, 1.0e+10]> : tensor<2xf32>
  %3 = stablehlo.constant dense<[(1.0, -0.0), (0.5, 2.25)]> : tensor<2xcomplex<f64>>
  %4 = stablehlo.constant dense<> : tensor<0x3xf32>
  %5 = stablehlo.constant dense_resource<weights> : tensor<3xi16>
  %6 = stablehlo.constant dense_resource<__elided__> :!tensor<3xbf16>
  %7 = stablehlo.constant() <{value = dense<-1> : tensor<i4>}> : () -> tensor<i4>
  %8 = stablehlo.constant {mhlo.sharding = "{replicated}"} dense<18446744073709551615> : tensor<ui64>
  %9 = stablehlo.constant dense<[1.0, -448.0]> : tensor<2xf8E4M3FN>
  %10 = stablehlo.iota dim = 0 : tensor<8xi32>
  %11 = "stablehlo.constant"() {value = dense<0.1> : tensor<bf16>} : () -> tensor<bf16>
  return
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x020000000100FEFF0300"
    }
  }
#-}