// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<4x8xf32>, %v: tensor<8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = sdy.propagation_barrier %x allowed_direction=UP : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}
// ERR: barrier_direction.mlir:4:8: error: sdy.propagation_barrier: allowed_direction UP is none of NONE, FORWARD, BACKWARD, BOTH
// ERR:     %0 = sdy.propagation_barrier %x allowed_direction=UP : tensor<4x8xf32>
// ERR:          ^
