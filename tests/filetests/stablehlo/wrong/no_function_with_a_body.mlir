// RUN: hlosim check -q %s
// EXIT: 2
module @m {
}
// ERR: no_function_with_a_body.mlir:1:1: error: no function with a body in the module
// ERR:   // RUN: hlosim check -q %s
// ERR:   ^
