// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @f(%x) {backend_config = 7 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// ERR: backend_config_is_a_number.mlir:4:8: error: stablehlo.custom_call: backend_config is neither a string nor a dictionary
// ERR:     %0 = stablehlo.custom_call @f(%x) {backend_config = 7 : i32} : (tensor<4xf32>) -> tensor<4xf32>
// ERR:          ^
