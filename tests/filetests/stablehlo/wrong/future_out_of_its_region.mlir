// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return %0 : !stablehlo.future<tensor<4xf32>>
}
// ERR: future_out_of_its_region.mlir:4:8: error: async-start: async-start.1 has no matching async-done
// ERR:     %0 = "stablehlo.async_start"(%x) ({
// ERR:          ^
