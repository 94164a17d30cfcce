// RUN: hlosim check -q %s
// EXIT: 2
module @m {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  func.func @main() {
    return
  }
}
// ERR: operation_between_functions.mlir:4:8: error: 'stablehlo.constant' in a module, expected functions
// ERR:     %0 = stablehlo.constant dense<1> : tensor<i32>
// ERR:          ^
