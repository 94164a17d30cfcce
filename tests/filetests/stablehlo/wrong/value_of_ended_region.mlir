// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  "stablehlo.case"(%i) ({
    %0 = stablehlo.abs %x : tensor<4x8xf32>
    stablehlo.return
  }) : (tensor<i32>) -> ()
  %1 = stablehlo.abs %0 : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: value_of_ended_region.mlir:8:22: error: %0 isn't defined
// ERR:     %1 = stablehlo.abs %0 : tensor<4x8xf32>
// ERR:                        ^
// ERR:   hint: it is defined in a region that ended before
