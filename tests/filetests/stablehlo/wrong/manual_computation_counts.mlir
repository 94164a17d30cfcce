// RUN: hlosim check -q %s
// EXIT: 2
sdy.mesh @mesh = <["a"=2]>
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// ERR: manual_computation_counts.mlir:5:8: error: sdy.manual_computation: the numbers of shardings, arguments and results differ
// ERR:     %0 = sdy.manual_computation(%x) in_shardings=[] out_shardings=[<@mesh, [{"a"}]>] manual_axes={"a"} (%b: tensor<4xf32>) {
// ERR:          ^
