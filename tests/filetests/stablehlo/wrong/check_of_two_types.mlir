// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  "check.expect_eq"(%x, %v) : (tensor<4x8xf32>, tensor<8xf32>) -> ()
  return %x : tensor<4x8xf32>
}
// ERR: check_of_two_types.mlir:4:3: error: check.expect_eq: f32[4,8] is compared with f32[8], expected the same type
// ERR:     "check.expect_eq"(%x, %v) : (tensor<4x8xf32>, tensor<8xf32>) -> ()
// ERR:     ^
