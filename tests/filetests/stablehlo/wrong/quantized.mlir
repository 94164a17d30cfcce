// RUN: hlosim check -q %s
// EXIT: 2
func.func @main(%x: tensor<8x!quant.uniform<i8:f32, 0.5>>) {
  return
}
// ERR: quantized.mlir:3:1: error: argument 0: !quant.uniform<i8:f32, 0.5> is a quantized type: quantized programs are not supported
// ERR:   func.func @main(%x: tensor<8x!quant.uniform<i8:f32, 0.5>>) {
// ERR:   ^
