// RUN: hlosim check -q %s
// EXIT: 2
module attributes {a.b = "C:\Users"} {
}
// ERR: unknown_escape.mlir:3:29: error: this is not an escape of a string
// ERR:   module attributes {a.b = "C:\Users"} {
// ERR:                               ^
// ERR:   hint: there are \" \\ \n \t and two hexadecimal digits
