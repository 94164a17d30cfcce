// RUN: hlosim check %s
// EXIT: 2
func.func @main() -> tensor<3xbf16> {
  %0 = stablehlo.constant dense_resource<__elided__> :!tensor<3xbf16>
  return %0 : tensor<3xbf16>
}
// CHECK: 0 of 1 files are right: 0 modules, 0 instructions
// ERR: resource_of_no_tensor.mlir:4:55: error: expects the type of a tensor, as in tensor<2xf32>, but sees '!tensor'
// ERR:     %0 = stablehlo.constant dense_resource<__elided__> :!tensor<3xbf16>
// ERR:                                                         ^
