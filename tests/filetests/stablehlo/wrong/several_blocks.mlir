// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %x) <{dimensions = array<i64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  ^bb1(%c: tensor<f32>):
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
// ERR: several_blocks.mlir:4:8: error: stablehlo.reduce: a region has 2 blocks, expected one
// ERR:     %0 = "stablehlo.reduce"(%x, %x) <{dimensions = array<i64>}> ({
// ERR:          ^
