// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = stablehlo.abs %x : tensor<4x8xf32>
  %0 = stablehlo.abs %x : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: value_twice.mlir:5:3: error: %0 is defined twice
// ERR:     %0 = stablehlo.abs %x : tensor<4x8xf32>
// ERR:     ^
// ERR:   hint: a name can be defined once in its region
