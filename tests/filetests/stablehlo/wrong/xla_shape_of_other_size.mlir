// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @f(%x) {xla_shape = "f32[5]{0}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ERR: xla_shape_of_other_size.mlir:4:8: error: stablehlo.custom_call: xla_shape "f32[5]{0}" is not a shape of a result f32[4]
// ERR:     %0 = stablehlo.custom_call @f(%x) {xla_shape = "f32[5]{0}"} : (tensor<4xf32>) -> tensor<4xf32>
// ERR:          ^
