// unary function type arity
// error: expects 1 type of operands, but sees 2
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.abs %x : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// unary two types
// error: expects 1 type of operands and results, but sees 2
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.abs %x : tensor<1xf64>, tensor<1xf64>
  return
}
// -----
// unary no type
// error: expects ':' before the types, but sees 'return'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.abs %x
  return
}
// -----
// unary value as type
// error: expects a type, but sees '%x'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.abs %x : %x
  return
}
// -----
// unary no arrow result
// error: expects '->' behind the types of the operands, but sees 'return'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.abs %x : (tensor<1xf64>)
  return
}
// -----
// unary two results
// error: names 1 results of stablehlo.abs, which has 2
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.abs %x : (tensor<1xf64>) -> (tensor<1xf64>, tensor<1xf64>)
  return
}
// -----
// unary no operand
// error: stablehlo.abs: expects 1 operand, but has 0
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.abs : tensor<1xf64>
  return
}
// -----
// unary two operands
// error: stablehlo.abs: expects 1 operand, but has 2
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.abs %x, %x : tensor<1xf64>
  return
}
// -----
// binary function type arity
// error: expects 2 types of operands, but sees 1
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.add %x, %x : (tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// binary one operand
// error: stablehlo.add: expects 2 operands, but has 1
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.add %x : tensor<1xf64>
  return
}
// -----
// binary two types
// error: expects 1 type of operands and results, but sees 2
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.add %x, %x : tensor<1xf64>, tensor<1xf64>
  return
}
// -----
// binary result mismatch
// error: %x is defined as tensor<1xf64>, but used as tensor<1xf32>
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.add %x, %x : tensor<1xf32>
  return
}
// -----
// binary arity three
// error: expects 2 types of operands, but sees 3
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.add %x, %x : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// complex of real
// error: stablehlo.complex: C3: result 0 is tensor<1xf64>, expected tensor<1xcomplex<f64>>
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.complex %x, %x : tensor<1xf64>
  return
}
// -----
// complex no tensor
// error: expects 1 type of results, but sees 2
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.complex %x, %x : tensor<1xcomplex<f64>>, tensor<1xf64>
  return
}
// -----
// complex function type
// error: stablehlo.complex: C3: result 0 is tensor<1xf64>, expected tensor<1xcomplex<f64>>
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.complex %x, %x : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// select one type
// error: expects 2 types of operands and results, but sees 1
func.func @main(%p: tensor<1xi1>, %x: tensor<1xf64>) {
  %0 = stablehlo.select %p, %x, %x : tensor<1xi1>
  return
}
// -----
// select function arity
// error: expects 3 types of operands, but sees 2
func.func @main(%p: tensor<1xi1>, %x: tensor<1xf64>) {
  %0 = stablehlo.select %p, %x, %x : (tensor<1xi1>, tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// select three types
// error: expects 2 types of operands and results, but sees 3
func.func @main(%p: tensor<1xi1>, %x: tensor<1xf64>) {
  %0 = stablehlo.select %p, %x, %x : tensor<1xi1>, tensor<1xf64>, tensor<1xf64>
  return
}
// -----
// tuple no tuple
// error: expects 1 type of tuples, but sees 1
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.tuple %x : tensor<1xf64>
  return
}
// -----
// tuple function type
// error: stablehlo.tuple: C1: result 0 is tuple<tensor<1xf32>>, expected tuple<tensor<1xf64>>
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.tuple %x : (tensor<1xf64>) -> tuple<tensor<1xf32>>
  return
}
// -----
// tuple too few
// error: expects 2 types of members, but sees 1
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.tuple %x, %x : tuple<tensor<1xf64>>
  return
}
// -----
// barrier types
// error: expects 2 types of operands and results, but sees 1
func.func @main(%x: tensor<1xf64>) {
  %0:2 = stablehlo.optimization_barrier %x, %x : tensor<1xf64>
  return
}
// -----
// barrier types 3
// error: expects 2 types of operands and results, but sees 3
func.func @main(%x: tensor<1xf64>) {
  %0:2 = stablehlo.optimization_barrier %x, %x : tensor<1xf64>, tensor<1xf64>, tensor<1xf64>
  return
}
// -----
// reduce_precision format
// error: expects a format as in e5m10, but sees 'e2'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.reduce_precision %x, format = e2 : tensor<1xf64>
  return
}
// -----
// reduce_precision format 2
// error: expects a format as in e5m10, but sees 'e2n2'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.reduce_precision %x, format = e2n2 : tensor<1xf64>
  return
}
// -----
// reduce_precision format 3
// error: expects a format as in e5m10, but sees ''
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.reduce_precision %x, format = 2e2m : tensor<1xf64>
  return
}
// -----
// reduce_precision format 4
// error: expects a format as in e5m10, but sees 'em2'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.reduce_precision %x, format = em2 : tensor<1xf64>
  return
}
// -----
// reduce_precision format overflow
// error: expects a format as in e5m10, but sees 'e2m2000000000000'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.reduce_precision %x, format = e2m2000000000000 : tensor<1xf64>
  return
}
// -----
// reduce_precision format overflow e
// error: expects a format as in e5m10, but sees 'e999999999999m2'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.reduce_precision %x, format = e999999999999m2 : tensor<1xf64>
  return
}
// -----
// reduce_precision zero
// error: stablehlo.reduce_precision: C2: exponent_bits is 0, expected at least 1
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.reduce_precision %x, format = e0m2 : tensor<1xf64>
  return
}
// -----
// reduce_precision none
// error: expects ',' and 'format =', but sees ':'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.reduce_precision %x : tensor<1xf64>
  return
}
// -----
// dense dims
// error: expects '[' before a list of integers, but sees '0'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = 0 : (tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// dims words
// error: expects an integer, but sees 'a'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [a] : (tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// dims unclosed
// error: expects ']' at the end of the integers, but sees ':'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0 : (tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// dims missing
// error: expects ',' and 'dims =', but sees ':'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.broadcast_in_dim %x : (tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// slice unclosed
// error: expects an integer, but sees '('
func.func @main(%x: tensor<4xf64>) {
  %0 = stablehlo.slice %x [0:1 : (tensor<4xf64>) -> tensor<1xf64>
  return
}
// -----
// slice one number
// error: expects ':' behind the start of a slice, but sees ']'
func.func @main(%x: tensor<4xf64>) {
  %0 = stablehlo.slice %x [0] : (tensor<4xf64>) -> tensor<1xf64>
  return
}
// -----
// slice four
// error: expects ']' behind the bounds of a slice, but sees ':'
func.func @main(%x: tensor<4xf64>) {
  %0 = stablehlo.slice %x [0:1:1:1] : (tensor<4xf64>) -> tensor<1xf64>
  return
}
// -----
// slice words
// error: expects an integer, but sees 'a'
func.func @main(%x: tensor<4xf64>) {
  %0 = stablehlo.slice %x [a:1] : (tensor<4xf64>) -> tensor<1xf64>
  return
}
// -----
// slice no brackets
// error: expects '[' before the bounds of a slice, but sees ':'
func.func @main(%x: tensor<4xf64>) {
  %0 = stablehlo.slice %x : (tensor<4xf64>) -> tensor<1xf64>
  return
}
// -----
// slice empty part
// error: expects an integer, but sees ':'
func.func @main(%x: tensor<4xf64>) {
  %0 = stablehlo.slice %x [0::1] : (tensor<4xf64>) -> tensor<1xf64>
  return
}
// -----
// slice trailing comma
// error: expects an integer, but sees ']'
func.func @main(%x: tensor<4xf64>) {
  %0 = stablehlo.slice %x [0:1,] : (tensor<4xf64>) -> tensor<1xf64>
  return
}
// -----
// list trailing comma
// error: expects an integer, but sees ']'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0,] : (tensor<1xf64>) -> tensor<1xf64>
  return
}
// -----
// concatenate dim missing value
// error: expects an integer, but sees ':'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.concatenate %x, %x, dim = : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
  return
}
// -----
// concatenate operand missing comma
// error: expects ',' and 'dim =', but sees '%x'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.concatenate %x %x, dim = 0 : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
  return
}
// -----
// concatenate no dim
// error: expects ',' and 'dim =', but sees ':'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.concatenate %x, %x : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
  return
}
// -----
// concatenate dim first
// error: expects ',' and 'dim =', but sees 'dim'
func.func @main(%x: tensor<1xf64>) {
  %0 = stablehlo.concatenate dim = 0, %x, %x : (tensor<1xf64>, tensor<1xf64>) -> tensor<2xf64>
  return
}
// -----
// dot_general without x
// error: expects 'x' between the dimensions of both operands, but sees '['
func.func @main(%x: tensor<2x2xf64>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] [0] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return
}
// -----
// dot_general precision word
// error: dot: operand_precision can't be bad
func.func @main(%x: tensor<2x2xf64>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0], precision = [BAD, DEFAULT] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return
}
// -----
// custom_call no symbol
// error: expects a type, but sees 'foo'
func.func @main(%x: tensor<2x2xf64>) {
  %0 = stablehlo.custom_call foo(%x) : (tensor<2x2xf64>) -> tensor<2x2xf64>
  return
}
// -----
// custom_call no parens
// error: expects '(' before the operands, but sees '%x'
func.func @main(%x: tensor<2x2xf64>) {
  %0 = stablehlo.custom_call @foo %x : (tensor<2x2xf64>) -> tensor<2x2xf64>
  return
}
// -----
// compare unknown
// error: stablehlo.compare: comparison_direction: 'XX' is none of EQ, NE, GE, GT, LE, LT
func.func @main(%x: tensor<2xf64>) {
  %0 = stablehlo.compare XX, %x, %x : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xi1>
  return
}
// -----
// compare unknown type
// error: stablehlo.compare: compare_type: 'XX' is none of NOTYPE, FLOAT, TOTALORDER, SIGNED, UNSIGNED
func.func @main(%x: tensor<2xf64>) {
  %0 = stablehlo.compare LT, %x, %x, XX : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xi1>
  return
}
// -----
// compare no function type
// error: expects '->' behind the types of the operands, but sees 'return'
func.func @main(%x: tensor<2xf64>) {
  %0 = stablehlo.compare LT, %x, %x : tensor<2xf64>
  return
}
// -----
// constant mismatch
// error: expects 3 elements in dimension 0 of tensor<3xi32>, but sees 2
func.func @main() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>
  return
}
// -----
// constant no type
// error: expects ':' and the type of dense elements, but sees 'return'
func.func @main() {
  %0 = stablehlo.constant dense<1>
  return
}
// -----
// constant elements float for int
// error: expects an integer, but sees a decimal
func.func @main() {
  %0 = stablehlo.constant dense<1.5> : tensor<i32>
  return
}
// -----
// constant value out of range
// error: 300 doesn't fit into i8
func.func @main() {
  %0 = stablehlo.constant dense<300> : tensor<i8>
  return
}
// -----
// constant bool as int type
// error: expects an integer, but sees 'true'
func.func @main() {
  %0 = stablehlo.constant dense<true> : tensor<i32>
  return
}
// -----
// iota no dim
// error: expects 'dim =', but sees ':'
func.func @main() {
  %0 = stablehlo.iota : tensor<2xi32>
  return
}
// -----
// while without do
// error: expects 'do' and the body, but sees 'return'
func.func @main(%x: tensor<f32>) {
  %0 = stablehlo.while(%a = %x) : tensor<f32> cond { %t = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %t : tensor<i1> }
  return
}
// -----
// while types count
// error: expects 2 types of operands and results, but sees 1
func.func @main(%x: tensor<f32>) {
  %0:2 = stablehlo.while(%a = %x, %b = %x) : tensor<f32> cond { %t = stablehlo.constant dense<true> : tensor<i1> stablehlo.return %t : tensor<i1> } do { stablehlo.return %a, %b : tensor<f32>, tensor<f32> }
  return
}
// -----
// reduce applies unknown
// error: 'stablehlo.frob' is not an operation of the dialect stablehlo that is known here
func.func @main(%x: tensor<2xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.frob across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return
}
// -----
// reduce applies unary
// error: stablehlo.abs: expects 1 operand, but has 2
func.func @main(%x: tensor<2xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.abs across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return
}
// -----
// reduce no init
// error: expects 'init:' and the initial value, but sees ')'
func.func @main(%x: tensor<2xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%x) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return
}
// -----
// reduce no dims
// error: expects 'across dimensions =', but sees ':'
func.func @main(%x: tensor<2xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return
}
// -----
// reduce applies other dialect
// error: 'arith.addf' is of the dialect arith, expected stablehlo, mhlo, chlo, check, sdy or func
func.func @main(%x: tensor<2xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%x init: %i) applies arith.addf across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return
}
// -----
// reduce applies convert
// error: stablehlo.compare: C2: result 0 is tensor<f32>, expected tensor<i1>
func.func @main(%x: tensor<2xf32>, %i: tensor<f32>) {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.compare across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return
}
// -----
// generic no type
// error: expects ':' before the types, but sees 'return'
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.abs"(%x)
  return
}
// -----
// dimension of type string
// error: stablehlo.concatenate: the attribute "dimension" is not an integer
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.concatenate"(%x, %x) {dimension = "0"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}
// -----
// bounds above rank
// error: argument 0: tensor<2x?xf32> has 3 bounds, expected one for each of its 2 dimensions
func.func @main(%x: tensor<2x?xf32, #stablehlo.bounds<?, 8, 8>>) {
  %0 = stablehlo.abs %x : tensor<2x?xf32, #stablehlo.bounds<?, 8, 8>>
  return
}
// -----
// bounds on static
// error: argument 0: dimension 1 of tensor<2x3xf32> is static and has the bound 8, expected '?'
func.func @main(%x: tensor<2x3xf32, #stablehlo.bounds<?, 8>>) {
  %0 = stablehlo.abs %x : tensor<2x3xf32, #stablehlo.bounds<?, 8>>
  return
}
// -----
// bounds wrong
// error: argument 0: tensor<2x?xf32> has 1 bounds, expected one for each of its 2 dimensions
func.func @main(%x: tensor<2x?xf32, #stablehlo.bounds<8>>) {
  %0 = stablehlo.abs %x : tensor<2x?xf32, #stablehlo.bounds<8>>
  return
}
// -----
// composite without decomposition
// error: stablehlo.composite: needs the attribute "decomposition"
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.composite"(%x) {name = "a.b"} : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// composite no name
// error: stablehlo.composite: needs the attribute "name"
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.composite"(%x) {decomposition = @main} : (tensor<f32>) -> tensor<f32>
  return
}
