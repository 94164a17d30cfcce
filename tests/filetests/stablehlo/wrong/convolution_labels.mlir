// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.convolution(%x, %x) dim_numbers = [b, q]x[i, o]->[b, f] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: convolution_labels.mlir:4:56: error: expects 'b', 'f', a number or '?', but sees 'q'
// ERR:     %0 = stablehlo.convolution(%x, %x) dim_numbers = [b, q]x[i, o]->[b, f] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// ERR:                                                          ^
