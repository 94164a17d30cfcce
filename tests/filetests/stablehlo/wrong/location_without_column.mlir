// RUN: hlosim check -q %s
// EXIT: 2
func.func @main() {
  return
} loc("a.py":7)
// ERR: location_without_column.mlir:5:15: error: expects ':' behind the line, but sees ')'
// ERR:   } loc("a.py":7)
// ERR:                 ^
