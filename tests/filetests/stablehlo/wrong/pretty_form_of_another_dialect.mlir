// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = arith.addf %x, %x : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: pretty_form_of_another_dialect.mlir:4:8: error: arith.addf is read in generic form only
// ERR:     %0 = arith.addf %x, %x : tensor<4x8xf32>
// ERR:          ^
// ERR:   hint: as in "arith.addf"(%0) : (…) -> …; programs are of stablehlo, mhlo, chlo, sdy and func
