// reduce body no value
// error: stablehlo.reduce: C6: the reducer returns 0 values, expected 1
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"() : () -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce body two values
// error: stablehlo.reduce: C6: the reducer returns 2 values, expected 1
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce body one argument
// error: stablehlo.reduce: C6: the reducer takes 1 values, expected 2
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce body three arguments
// error: stablehlo.reduce: C6: the reducer takes 3 values, expected 2
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>, %t: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce body rank 1
// error: stablehlo.reduce: C6: the reducer makes tensor<1xf32>, but the initial value is tensor<f32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<1xf32>, %q: tensor<1xf32>): %s = "stablehlo.add"(%p, %q) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "stablehlo.return"(%s) : (tensor<1xf32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce body tuple
// error: stablehlo.reduce: C6: the reducer makes tuple<tensor<f32>> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.tuple"(%p) : (tensor<f32>) -> tuple<tensor<f32>> "stablehlo.return"(%s) : (tuple<tensor<f32>>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce body other type
// error: stablehlo.reduce: C6: the reducer makes tensor<i32> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.convert"(%p) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce body argument type
// error: stablehlo.reduce: C6: the reducer makes tensor<f32> of tensor<f32> and tensor<i32>, expected one type
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<i32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce body int
// error: stablehlo.reduce: C6: the reducer makes tensor<i32>, but the initial value is tensor<f32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce body f64 less
// error: stablehlo.reduce: C7: result 0 is tensor<3xf32>, expected tensor<3xf16>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f16>, %q: tensor<f16>): %s = "stablehlo.add"(%p, %q) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce dim range
// error: stablehlo.reduce: C4: dimensions [2] of tensor<4x3xf32>: 2 isn't one, or twice there
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 2>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce dim negative
// error: stablehlo.reduce: C4: dimensions [-1] of tensor<4x3xf32>: -1 isn't one, or twice there
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: -1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce dim twice
// error: stablehlo.reduce: C4: dimensions [0, 0] of tensor<4x3xf32>: 0 isn't one, or twice there
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0, 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce result shape
// error: stablehlo.reduce: C7: result 0 is tensor<4xf32>, expected tensor<3xf32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
  return
}
// -----
// reduce result rank
// error: stablehlo.reduce: C7: result 0 is tensor<3x1xf32>, expected tensor<3xf32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x1xf32>
  return
}
// -----
// reduce result type
// error: stablehlo.reduce: C7: result 0 is tensor<3xi32>, expected tensor<3xf32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xi32>
  return
}
// -----
// reduce init type
// error: stablehlo.reduce: C6: the reducer makes tensor<f32>, but the initial value is tensor<i32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<i32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<i32>) -> tensor<3xf32>
  return
}
// -----
// reduce init rank
// error: stablehlo.reduce: C6: the reducer makes tensor<f32>, but the initial value is tensor<1xf32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<1xf32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<1xf32>) -> tensor<3xf32>
  return
}
// -----
// reduce dense dims
// error: stablehlo.reduce: the attribute "dimensions" is not a list of integers
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = dense<[[0]]> : tensor<1x1xi64>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce shapes differ
// error: stablehlo.reduce: C1: arrays tensor<4x3xf32> and tensor<4x2xf32> differ in shape
func.func @main(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>, %i: tensor<f32>) {
  %0:2 = "stablehlo.reduce"(%x, %y, %i, %i) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>): "stablehlo.return"(%a, %b) : (tensor<f32>, tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<2xf32>)
  return
}
// -----
// reduce odd operands
// error: stablehlo.reduce: I1: has 3 operands, expected as many arrays as initial values
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce no operands
// error: stablehlo.reduce: I1: has 0 operands, expected as many arrays as initial values
func.func @main() {
  "stablehlo.reduce"() ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : () -> ()
  return
}
// -----
// reduce results count
// error: stablehlo.reduce: has 1 results, expected 2
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %x, %i, %i) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>): "stablehlo.return"(%a, %b) : (tensor<f32>, tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce_window body no value
// error: stablehlo.reduce_window: C6: the reducer returns 0 values, expected 1
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"() : () -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window body two values
// error: stablehlo.reduce_window: C6: the reducer returns 2 values, expected 1
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window body one argument
// error: stablehlo.reduce_window: C6: the reducer takes 1 values, expected 2
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window body three arguments
// error: stablehlo.reduce_window: C6: the reducer takes 3 values, expected 2
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>, %t: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window body rank 1
// error: stablehlo.reduce_window: C6: the reducer makes tensor<1xf32>, but the initial value is tensor<f32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<1xf32>, %q: tensor<1xf32>): %s = "stablehlo.add"(%p, %q) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "stablehlo.return"(%s) : (tensor<1xf32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window body tuple
// error: stablehlo.reduce_window: C6: the reducer makes tuple<tensor<f32>> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.tuple"(%p) : (tensor<f32>) -> tuple<tensor<f32>> "stablehlo.return"(%s) : (tuple<tensor<f32>>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window body other type
// error: stablehlo.reduce_window: C6: the reducer makes tensor<i32> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.convert"(%p) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window body argument type
// error: stablehlo.reduce_window: C6: the reducer makes tensor<f32> of tensor<f32> and tensor<i32>, expected one type
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<i32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window body int
// error: stablehlo.reduce_window: C6: the reducer makes tensor<i32>, but the initial value is tensor<f32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window body f64 less
// error: stablehlo.reduce_window: C15: result 0 is tensor<3x3xf32>, expected tensor<3x3xf16>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f16>, %q: tensor<f16>): %s = "stablehlo.add"(%p, %q) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window size count
// error: stablehlo.reduce_window: C4: a list of the window has 1 entries, expected one for each of 2 dimensions
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window size 0
// error: stablehlo.reduce_window: C5: the window has size 0, stride 1 and dilations 1 and 1, expected at least 1
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window stride count
// error: stablehlo.reduce_window: C4: a list of the window has 1 entries, expected one for each of 2 dimensions
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window stride 0
// error: stablehlo.reduce_window: C5: the window has size 2, stride 0 and dilations 1 and 1, expected at least 1
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window base count
// error: stablehlo.reduce_window: C4: a list of the window has 1 entries, expected one for each of 2 dimensions
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window base 0
// error: stablehlo.reduce_window: C5: the window has size 1, stride 1 and dilations 0 and 1, expected at least 1
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 1, 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window dilation count
// error: stablehlo.reduce_window: C4: a list of the window has 1 entries, expected one for each of 2 dimensions
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>, window_dilations = array<i64: 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window dilation 0
// error: stablehlo.reduce_window: C5: the window has size 1, stride 1 and dilations 1 and 0, expected at least 1
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>, window_dilations = array<i64: 1, 0>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window padding count
// error: stablehlo.reduce_window: C12: padding is tensor<1x2xi64>, expected tensor<2x2xi64>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<1x2xi64>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window padding columns
// error: stablehlo.reduce_window: C12: padding is tensor<2x1xi64>, expected tensor<2x2xi64>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<2x1xi64>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window padding rank
// error: stablehlo.reduce_window: C12: padding is tensor<4xi64>, expected tensor<2x2xi64>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>, padding = dense<0> : tensor<4xi64>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window no sizes
// error: stablehlo.reduce_window: needs the attribute "window_dimensions"
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_strides = array<i64: 1, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window result
// error: stablehlo.reduce_window: C15: result 0 is tensor<4x3xf32>, expected tensor<3x3xf32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return
}
// -----
// reduce_window result type
// error: stablehlo.reduce_window: C15: result 0 is tensor<3x3xi32>, expected tensor<3x3xf32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3x3xi32>
  return
}
// -----
// reduce_window result rank
// error: stablehlo.reduce_window: C15: result 0 is tensor<3xf32>, expected tensor<3x3xf32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}
// -----
// reduce_window init type
// error: stablehlo.reduce_window: C6: the reducer makes tensor<f32>, but the initial value is tensor<i32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<i32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<i32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window init rank
// error: stablehlo.reduce_window: C6: the reducer makes tensor<f32>, but the initial value is tensor<1xf32>
func.func @main(%x: tensor<4x3xf32>, %i: tensor<1xf32>) {
  %0 = "stablehlo.reduce_window"(%x, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<1xf32>) -> tensor<3x3xf32>
  return
}
// -----
// reduce_window shapes differ
// error: stablehlo.reduce_window: C1: arrays tensor<4x3xf32> and tensor<4x2xf32> differ in shape
func.func @main(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>, %i: tensor<f32>) {
  %0:2 = "stablehlo.reduce_window"(%x, %y, %i, %i) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>): "stablehlo.return"(%a, %b) : (tensor<f32>, tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<4x2xf32>, tensor<f32>, tensor<f32>) -> (tensor<3x3xf32>, tensor<3x2xf32>)
  return
}
// -----
// reduce_window results
// error: stablehlo.reduce_window: has 1 results, expected 2
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.reduce_window"(%x, %x, %i, %i) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>): "stablehlo.return"(%a, %b) : (tensor<f32>, tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> tensor<3x3xf32>
  return
}
// -----
// select_and_scatter scatter no value
// error: stablehlo.select_and_scatter: C10: the reducer returns 0 values, expected 1
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"() : () -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter scatter two values
// error: stablehlo.select_and_scatter: C10: the reducer returns 2 values, expected 1
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter scatter one argument
// error: stablehlo.select_and_scatter: C10: the reducer takes 1 values, expected 2
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter scatter three arguments
// error: stablehlo.select_and_scatter: C10: the reducer takes 3 values, expected 2
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>, %t: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter scatter rank 1
// error: stablehlo.select_and_scatter: C10: the reducer makes tensor<1xf32>, but the initial value is tensor<f32>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<1xf32>, %q: tensor<1xf32>): %s = "stablehlo.add"(%p, %q) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "stablehlo.return"(%s) : (tensor<1xf32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter scatter tuple
// error: stablehlo.select_and_scatter: C10: the reducer makes tuple<tensor<f32>> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.tuple"(%p) : (tensor<f32>) -> tuple<tensor<f32>> "stablehlo.return"(%s) : (tuple<tensor<f32>>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter scatter other type
// error: stablehlo.select_and_scatter: C10: the reducer makes tensor<i32> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.convert"(%p) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter scatter argument type
// error: stablehlo.select_and_scatter: C10: the reducer makes tensor<f32> of tensor<f32> and tensor<i32>, expected one type
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<i32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter scatter int
// error: stablehlo.select_and_scatter: C10: the reducer makes tensor<i32>, but the initial value is tensor<f32>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select no value
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"() : () -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select two values
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select one argument
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select three arguments
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>, %t: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select rank 1
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<1xf32>, %q: tensor<1xf32>): %s = "stablehlo.add"(%p, %q) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "stablehlo.return"(%s) : (tensor<1xf32>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select tuple
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.tuple"(%p) : (tensor<f32>) -> tuple<tensor<f32>> "stablehlo.return"(%s) : (tuple<tensor<f32>>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select other type
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.convert"(%p) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select argument type
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<i32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select int
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter select f64 less
// error: stablehlo.select_and_scatter: C9: select isn't a function of two elements that returns tensor<i1>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f16>, %q: tensor<f16>): %s = "stablehlo.add"(%p, %q) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter size count
// error: stablehlo.select_and_scatter: the window's lists differ in length from the 2 dimensions of the operand
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter size 0
// error: select-and-scatter C4: window size is 0 in dimension 1, expected a positive number
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 0>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter stride count
// error: stablehlo.select_and_scatter: the window's lists differ in length from the 2 dimensions of the operand
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter stride 0
// error: select-and-scatter C4: window stride is 0 in dimension 0, expected a positive number
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 0, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter padding count
// error: stablehlo.select_and_scatter: C8: padding is tensor<3x2xi64>, expected tensor<2x2xi64>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<0> : tensor<3x2xi64>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter padding columns
// error: stablehlo.select_and_scatter: C8: padding is tensor<2x3xi64>, expected tensor<2x2xi64>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<0> : tensor<2x3xi64>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter padding rank
// error: stablehlo.select_and_scatter: C8: padding is tensor<2xi64>, expected tensor<2x2xi64>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<0> : tensor<2xi64>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter source shape
// error: select-and-scatter C5: the source is f32[3,2], expected f32[2,2]: one element per place of the window
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<3x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<3x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter source type
// error: stablehlo.select_and_scatter: C3: tensor<4x4xf32> and tensor<2x2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xi32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xi32>, tensor<f32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter init rank
// error: stablehlo.select_and_scatter: C10: the reducer makes tensor<f32>, but the initial value is tensor<1xf32>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<1xf32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<1xf32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter init type
// error: stablehlo.select_and_scatter: C10: the reducer makes tensor<f32>, but the initial value is tensor<i32>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<i32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<4x4xf32>
  return
}
// -----
// select_and_scatter result shape
// error: stablehlo.select_and_scatter: C11: result 0 is tensor<4x5xf32>, expected tensor<4x4xf32>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x5xf32>
  return
}
// -----
// select_and_scatter result type
// error: stablehlo.select_and_scatter: C11: result 0 is tensor<4x4xi32>, expected tensor<4x4xf32>
func.func @main(%x: tensor<4x4xf32>, %s0: tensor<2x2xf32>, %i: tensor<f32>) {
  %0 = "stablehlo.select_and_scatter"(%x, %s0, %i) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction GE>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>} : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xi32>
  return
}
// -----
// sort comparator no value
// error: stablehlo.sort: C5: the comparator returns 0 values, expected tensor<i1>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"() : () -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator two values
// error: stablehlo.sort: C5: the comparator returns 2 values, expected tensor<i1>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator one argument
// error: stablehlo.sort: C5: the comparator takes 1 values, expected 2
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator three arguments
// error: stablehlo.sort: C5: the comparator takes 3 values, expected 2
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>, %t: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator rank 1
// error: stablehlo.sort: C5: the comparator takes tensor<1xf32>, expected an element of tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<1xf32>, %q: tensor<1xf32>): %s = "stablehlo.add"(%p, %q) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "stablehlo.return"(%s) : (tensor<1xf32>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator tuple
// error: stablehlo.sort: C5: the comparator returns tuple<tensor<f32>>, expected tensor<i1>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.tuple"(%p) : (tensor<f32>) -> tuple<tensor<f32>> "stablehlo.return"(%s) : (tuple<tensor<f32>>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator other type
// error: stablehlo.sort: C5: the comparator returns tensor<i32>, expected tensor<i1>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.convert"(%p) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator argument type
// error: stablehlo.sort: C5: the comparator takes tensor<i32>, expected an element of tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<i32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator int
// error: stablehlo.sort: C5: the comparator takes tensor<i32>, expected an element of tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator f64 less
// error: stablehlo.sort: C5: the comparator takes tensor<f16>, expected an element of tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f16>, %q: tensor<f16>): %s = "stablehlo.add"(%p, %q) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator returns float
// error: stablehlo.sort: C5: the comparator returns tensor<f32>, expected tensor<i1>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator i8
// error: stablehlo.sort: C5: the comparator returns tensor<i8>, expected tensor<i1>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.convert"(%p) : (tensor<f32>) -> tensor<i8> "stablehlo.return"(%s) : (tensor<i8>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator two preds
// error: stablehlo.sort: C5: the comparator returns 2 values, expected tensor<i1>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s, %s) : (tensor<i1>, tensor<i1>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator of ints
// error: stablehlo.sort: C5: the comparator takes tensor<i32>, expected an element of tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort comparator rank 1 result
// error: stablehlo.sort: C5: the comparator returns tensor<1xi1>, expected tensor<i1>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<1xi1>} : () -> tensor<1xi1> "stablehlo.return"(%s) : (tensor<1xi1>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort dim high
// error: sort C3: dimension to sort along is 2, expected one of 2 dimensions, counted from 0
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 2 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort dim low
// error: sort C3: dimension to sort along is -1, expected one of 2 dimensions, counted from 0
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = -3 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// sort result
// error: stablehlo.sort: C2: result 0 is tensor<4x4xf32>, expected tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x4xf32>
  return
}
// -----
// sort result type
// error: stablehlo.sort: C2: result 0 is tensor<4x3xi32>, expected tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.sort"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 0 : i64, is_stable = true} : (tensor<4x3xf32>) -> tensor<4x3xi32>
  return
}
// -----
// sort none
// error: stablehlo.sort: C1: has no operand, expected one at least
func.func @main() {
  "stablehlo.sort"() ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.compare"(%p, %q) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 0 : i64} : () -> ()
  return
}
// -----
// sort shapes
// error: stablehlo.sort: C3: operands tensor<4x3xf32> and tensor<4x2xf32> differ in shape
func.func @main(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  %0:2 = "stablehlo.sort"(%x, %y) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>): %s = "stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<f32>, tensor<f32>) -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) {dimension = 0 : i64} : (tensor<4x3xf32>, tensor<4x2xf32>) -> (tensor<4x3xf32>, tensor<4x2xf32>)
  return
}
// -----
// map no value
// error: stablehlo.map: C4: the function takes 2 values and returns 0, expected 2 and one scalar
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"() : () -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map two values
// error: stablehlo.map: C4: the function takes 2 values and returns 2, expected 2 and one scalar
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map one argument
// error: stablehlo.map: C4: the function takes 1 values and returns 1, expected 2 and one scalar
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map three arguments
// error: stablehlo.map: C4: the function takes 3 values and returns 1, expected 2 and one scalar
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>, %t: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map rank 1
// error: stablehlo.map: C4: the function takes 2 values and returns 1, expected 2 and one scalar
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<1xf32>, %q: tensor<1xf32>): %s = "stablehlo.add"(%p, %q) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "stablehlo.return"(%s) : (tensor<1xf32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map tuple
// error: stablehlo.map: C4: the function takes 2 values and returns 1, expected 2 and one scalar
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.tuple"(%p) : (tensor<f32>) -> tuple<tensor<f32>> "stablehlo.return"(%s) : (tuple<tensor<f32>>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map other type
// error: stablehlo.map: C4: result 0 is tensor<4x3xf32>, expected tensor<4x3xi32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.convert"(%p) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map argument type
// error: stablehlo.map: C4: the function takes tensor<i32>, expected an element of tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<i32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map int
// error: stablehlo.map: C4: the function takes tensor<i32>, expected an element of tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map f64 less
// error: stablehlo.map: C4: the function takes tensor<f16>, expected an element of tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f16>, %q: tensor<f16>): %s = "stablehlo.add"(%p, %q) : (tensor<f16>, tensor<f16>) -> tensor<f16> "stablehlo.return"(%s) : (tensor<f16>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map dims
// error: stablehlo.map: C3: dimensions are [0], expected 0 to 1
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map dims order
// error: stablehlo.map: C3: dimensions are [1, 0], expected 0 to 1
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 1, 0>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map result
// error: stablehlo.map: C4: result 0 is tensor<4x4xf32>, expected tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
  return
}
// -----
// map result type
// error: stablehlo.map: C4: result 0 is tensor<4x3xi32>, expected tensor<4x3xf32>
func.func @main(%x: tensor<4x3xf32>) {
  %0 = "stablehlo.map"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi32>
  return
}
// -----
// map shapes
// error: stablehlo.map: C1: operands tensor<4x3xf32> and tensor<4x2xf32> differ in shape
func.func @main(%x: tensor<4x3xf32>, %y: tensor<4x2xf32>) {
  %0 = "stablehlo.map"(%x, %y) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  return
}
// -----
// map none
// error: stablehlo.map: C1: has no operand, expected one at least
func.func @main() {
  %0 = "stablehlo.map"() ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {dimensions = array<i64: 0, 1>} : () -> tensor<4x3xf32>
  return
}
