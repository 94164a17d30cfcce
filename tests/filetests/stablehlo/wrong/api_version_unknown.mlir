// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.custom_call @f(%x) {api_version = 7 : i32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: api_version_unknown.mlir:4:8: error: stablehlo.custom_call: api_version 7 is none of 0 to 4
// ERR:     %0 = stablehlo.custom_call @f(%x) {api_version = 7 : i32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// ERR:          ^
