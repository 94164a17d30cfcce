// RUN: hlosim check -q %s
// EXIT: 2
module @m attributes {mhlo.name = "no end} {
}
// ERR: unfinished_string.mlir:3:35: error: this string has no end on its line
// ERR:   module @m attributes {mhlo.name = "no end} {
// ERR:                                     ^
