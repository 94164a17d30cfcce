// abs I1 unsigned
// error: stablehlo.abs: I1: operand 0 is tensor<2xui32>, expected a tensor of signed integers, floats or complex numbers
func.func @main(%x: tensor<2xui32>) {
  %0 = "stablehlo.abs"(%x) : (tensor<2xui32>) -> tensor<2xui32>
  return
}
// -----
// abs C1 shape
// error: stablehlo.abs: C2: result 0 is tensor<3xf32>, expected tensor<2xf32>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.abs"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return
}
// -----
// abs C2 complex result
// error: stablehlo.abs: C2: result 0 is tensor<2xcomplex<f32>>, expected tensor<2xf32>
func.func @main(%x: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.abs"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}
// -----
// abs I1 pred
// error: stablehlo.abs: I1: operand 0 is tensor<2xi1>, expected a tensor of signed integers, floats or complex numbers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.abs"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// add C1 types
// error: stablehlo.add: C1: types tensor<2xf32> and tensor<2xf64> differ, expected the same
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}
// -----
// add C1 result
// error: stablehlo.add: C1: result 0 is tensor<2xf64>, expected tensor<2xf32>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>
  return
}
// -----
// add C1 result shape
// error: stablehlo.add: C1: result 0 is tensor<3xf32>, expected tensor<2xf32>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.add"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}
// -----
// add token
// error: stablehlo.add: I1: operand 0 is !stablehlo.token, expected a tensor of truth values, integers, floats or complex numbers
func.func @main(%x: !stablehlo.token) {
  %0 = "stablehlo.add"(%x, %x) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
  return
}
// -----
// and float
// error: stablehlo.and: I1: operand 0 is tensor<2xf32>, expected a tensor of truth values or integers
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.and"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// and types
// error: stablehlo.and: C1: types tensor<2xi32> and tensor<2xui32> differ, expected the same
func.func @main(%x: tensor<2xi32>, %y: tensor<2xui32>) {
  %0 = "stablehlo.and"(%x, %y) : (tensor<2xi32>, tensor<2xui32>) -> tensor<2xi32>
  return
}
// -----
// or complex
// error: stablehlo.or: I1: operand 0 is tensor<2xcomplex<f32>>, expected a tensor of truth values or integers
func.func @main(%x: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.or"(%x, %x) : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}
// -----
// xor float
// error: stablehlo.xor: I1: operand 0 is tensor<2xf32>, expected a tensor of truth values or integers
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.xor"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// not float
// error: stablehlo.not: I1: operand 0 is tensor<2xf32>, expected a tensor of truth values or integers
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.not"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// atan2 int
// error: stablehlo.atan2: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.atan2"(%x, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// cbrt int
// error: stablehlo.cbrt: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.cbrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// ceil int
// error: stablehlo.ceil: I1: operand 0 is tensor<2xi32>, expected a tensor of floats
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.ceil"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// ceil complex
// error: stablehlo.ceil: I1: operand 0 is tensor<2xcomplex<f32>>, expected a tensor of floats
func.func @main(%x: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.ceil"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}
// -----
// floor complex
// error: stablehlo.floor: I1: operand 0 is tensor<2xcomplex<f32>>, expected a tensor of floats
func.func @main(%x: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.floor"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}
// -----
// floor int
// error: stablehlo.floor: I1: operand 0 is tensor<2xi32>, expected a tensor of floats
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.floor"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// round afz int
// error: stablehlo.round_nearest_afz: I1: operand 0 is tensor<2xi32>, expected a tensor of floats
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.round_nearest_afz"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// round even complex
// error: stablehlo.round_nearest_even: I1: operand 0 is tensor<2xcomplex<f32>>, expected a tensor of floats
func.func @main(%x: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.round_nearest_even"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}
// -----
// cosine int
// error: stablehlo.cosine: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.cosine"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// sine pred
// error: stablehlo.sine: I1: operand 0 is tensor<2xi1>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.sine"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// exponential int
// error: stablehlo.exponential: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.exponential"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// expm1 int
// error: stablehlo.exponential_minus_one: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.exponential_minus_one"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// log int
// error: stablehlo.log: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.log"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// log1p int
// error: stablehlo.log_plus_one: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.log_plus_one"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// logistic int
// error: stablehlo.logistic: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.logistic"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// sqrt int
// error: stablehlo.sqrt: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.sqrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// rsqrt int
// error: stablehlo.rsqrt: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.rsqrt"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// tan int
// error: stablehlo.tan: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.tan"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// tanh int
// error: stablehlo.tanh: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.tanh"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// clz float
// error: stablehlo.count_leading_zeros: I1: operand 0 is tensor<2xf32>, expected a tensor of integers
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.count_leading_zeros"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// clz pred
// error: stablehlo.count_leading_zeros: I1: operand 0 is tensor<2xi1>, expected a tensor of integers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.count_leading_zeros"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// popcnt float
// error: stablehlo.popcnt: I1: operand 0 is tensor<2xf32>, expected a tensor of integers
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.popcnt"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// popcnt pred
// error: stablehlo.popcnt: I1: operand 0 is tensor<2xi1>, expected a tensor of integers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.popcnt"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// sign unsigned
// error: stablehlo.sign: I1: operand 0 is tensor<2xui8>, expected a tensor of signed integers, floats or complex numbers
func.func @main(%x: tensor<2xui8>) {
  %0 = "stablehlo.sign"(%x) : (tensor<2xui8>) -> tensor<2xui8>
  return
}
// -----
// sign pred
// error: stablehlo.sign: I1: operand 0 is tensor<2xi1>, expected a tensor of signed integers, floats or complex numbers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.sign"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// negate pred
// error: stablehlo.negate: I1: operand 0 is tensor<2xi1>, expected a tensor of integers, floats or complex numbers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.negate"(%x) : (tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// subtract pred
// error: stablehlo.subtract: I1: operand 0 is tensor<2xi1>, expected a tensor of integers, floats or complex numbers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.subtract"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// divide pred
// error: stablehlo.divide: I1: operand 0 is tensor<2xi1>, expected a tensor of integers, floats or complex numbers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.divide"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// remainder pred
// error: stablehlo.remainder: I1: operand 0 is tensor<2xi1>, expected a tensor of integers, floats or complex numbers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.remainder"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// power pred
// error: stablehlo.power: I1: operand 0 is tensor<2xi1>, expected a tensor of integers, floats or complex numbers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.power"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// shift float
// error: stablehlo.shift_left: I1: operand 0 is tensor<2xf32>, expected a tensor of integers
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.shift_left"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// shift pred
// error: stablehlo.shift_left: I1: operand 0 is tensor<2xi1>, expected a tensor of integers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.shift_left"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// shift ra pred
// error: stablehlo.shift_right_arithmetic: I1: operand 0 is tensor<2xi1>, expected a tensor of integers
func.func @main(%x: tensor<2xi1>) {
  %0 = "stablehlo.shift_right_arithmetic"(%x, %x) : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  return
}
// -----
// shift rl float
// error: stablehlo.shift_right_logical: I1: operand 0 is tensor<2xf32>, expected a tensor of integers
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.shift_right_logical"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// is_finite int
// error: stablehlo.is_finite: I1: operand 0 is tensor<2xi32>, expected a tensor of floats
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.is_finite"(%x) : (tensor<2xi32>) -> tensor<2xi1>
  return
}
// -----
// is_finite complex
// error: stablehlo.is_finite: I1: operand 0 is tensor<2xcomplex<f32>>, expected a tensor of floats
func.func @main(%x: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.is_finite"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xi1>
  return
}
// -----
// is_finite result
// error: stablehlo.is_finite: C1: result 0 is tensor<2xi8>, expected tensor<2xi1>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.is_finite"(%x) : (tensor<2xf32>) -> tensor<2xi8>
  return
}
// -----
// is_finite shape
// error: stablehlo.is_finite: C1: result 0 is tensor<3xi1>, expected tensor<2xi1>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.is_finite"(%x) : (tensor<2xf32>) -> tensor<3xi1>
  return
}
// -----
// real int
// error: stablehlo.real: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.real"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// real shape
// error: stablehlo.real: C2: result 0 is tensor<3xf32>, expected tensor<2xf32>
func.func @main(%x: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.real"(%x) : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return
}
// -----
// imag type
// error: stablehlo.imag: C2: result 0 is tensor<2xf64>, expected tensor<2xf32>
func.func @main(%x: tensor<2xcomplex<f32>>) {
  %0 = "stablehlo.imag"(%x) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}
// -----
// imag int
// error: stablehlo.imag: I1: operand 0 is tensor<2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.imag"(%x) : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// complex bf16
// error: stablehlo.complex: I1: operand 0 is tensor<2xbf16>, expected elements of f32 or f64
func.func @main(%x: tensor<2xbf16>) {
  %0 = "stablehlo.complex"(%x, %x) : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xcomplex<f32>>
  return
}
// -----
// complex int
// error: stablehlo.complex: I1: operand 0 is tensor<2xi32>, expected a tensor of floats
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.complex"(%x, %x) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xcomplex<f32>>
  return
}
// -----
// complex types
// error: stablehlo.complex: C1: types tensor<2xf32> and tensor<2xf64> differ, expected the same
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  %0 = "stablehlo.complex"(%x, %y) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xcomplex<f32>>
  return
}
// -----
// complex result
// error: stablehlo.complex: C3: result 0 is tensor<2xcomplex<f64>>, expected tensor<2xcomplex<f32>>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.complex"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>
  return
}
// -----
// complex result real
// error: stablehlo.complex: C3: result 0 is tensor<2xf32>, expected tensor<2xcomplex<f32>>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.complex"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// complex shape
// error: stablehlo.complex: C3: result 0 is tensor<3xcomplex<f32>>, expected tensor<2xcomplex<f32>>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.complex"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xcomplex<f32>>
  return
}
// -----
// type of i7
// error: argument 0: tensor<2xi7> has no HLO type for its elements
func.func @main(%x: tensor<2xi7>) {
  %0 = "stablehlo.negate"(%x) : (tensor<2xi7>) -> tensor<2xi7>
  return
}
// -----
// complex of f16
// error: argument 0: tensor<2xcomplex<f16>> has no HLO type for its elements
func.func @main(%x: tensor<2xcomplex<f16>>) {
  %0 = "stablehlo.negate"(%x) : (tensor<2xcomplex<f16>>) -> tensor<2xcomplex<f16>>
  return
}
// -----
// type of f80
// error: argument 0: tensor<2xf80> has no HLO type for its elements
func.func @main(%x: tensor<2xf80>) {
  %0 = "stablehlo.negate"(%x) : (tensor<2xf80>) -> tensor<2xf80>
  return
}
// -----
// type of ui1
// error: argument 0: tensor<2xui1> has no HLO type for its elements
func.func @main(%x: tensor<2xui1>) {
  %0 = "stablehlo.negate"(%x) : (tensor<2xui1>) -> tensor<2xui1>
  return
}
// -----
// compare types
// error: stablehlo.compare: C1: types tensor<2xf32> and tensor<2xf64> differ, expected the same
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  %0 = stablehlo.compare LT, %x, %y : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xi1>
  return
}
// -----
// compare shapes
// error: stablehlo.compare: C1: types tensor<2xf32> and tensor<3xf32> differ, expected the same
func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  %0 = stablehlo.compare LT, %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
  return
}
// -----
// compare result
// error: stablehlo.compare: C2: result 0 is tensor<3xi1>, expected tensor<2xi1>
func.func @main(%x: tensor<2xf32>) {
  %0 = stablehlo.compare LT, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
  return
}
// -----
// compare result f32
// error: stablehlo.compare: C2: result 0 is tensor<2xf32>, expected tensor<2xi1>
func.func @main(%x: tensor<2xf32>) {
  %0 = stablehlo.compare LT, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// compare direction word
// error: stablehlo.compare: comparison_direction: 'XX' is none of EQ, NE, GE, GT, LE, LT
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.compare"(%x, %x) {comparison_direction = #stablehlo<comparison_direction XX>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}
// -----
// compare type word
// error: stablehlo.compare: compare_type: 'XX' is none of NOTYPE, FLOAT, TOTALORDER, SIGNED, UNSIGNED
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.compare"(%x, %x) {comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type XX>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}
// -----
// select pred shape
// error: stablehlo.select: C1: the condition is tensor<3xi1>, expected a scalar or the sizes of tensor<2xf32>
func.func @main(%p: tensor<3xi1>, %x: tensor<2xf32>) {
  %0 = "stablehlo.select"(%p, %x, %x) : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// select pred type
// error: stablehlo.select: I1: operand 0 is tensor<2xi32>, expected a tensor of truth values
func.func @main(%p: tensor<2xi32>, %x: tensor<2xf32>) {
  %0 = "stablehlo.select"(%p, %x, %x) : (tensor<2xi32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// select branch types
// error: stablehlo.select: C2: types tensor<2xf32> and tensor<2xf64> differ, expected the same
func.func @main(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf64>) {
  %0 = "stablehlo.select"(%p, %x, %y) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}
// -----
// select result
// error: stablehlo.select: C2: result 0 is tensor<2xi32>, expected tensor<2xf32>
func.func @main(%p: tensor<2xi1>, %x: tensor<2xf32>) {
  %0 = "stablehlo.select"(%p, %x, %x) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xi32>
  return
}
// -----
// select 1 pred
// error: stablehlo.select: C1: the condition is tensor<1xi1>, expected a scalar or the sizes of tensor<2xf32>
func.func @main(%p: tensor<1xi1>, %x: tensor<2xf32>) {
  %0 = "stablehlo.select"(%p, %x, %x) : (tensor<1xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// clamp min shape
// error: stablehlo.clamp: C1: operand 0 is tensor<1xf32>, expected a scalar or the sizes of tensor<2xf32>
func.func @main(%m: tensor<1xf32>, %x: tensor<2xf32>) {
  %0 = "stablehlo.clamp"(%m, %x, %x) : (tensor<1xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// clamp max shape
// error: stablehlo.clamp: C2: operand 2 is tensor<3xf32>, expected a scalar or the sizes of tensor<2xf32>
func.func @main(%m: tensor<3xf32>, %x: tensor<2xf32>) {
  %0 = "stablehlo.clamp"(%x, %x, %m) : (tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}
// -----
// clamp type
// error: stablehlo.clamp: C3: tensor<f64> and tensor<2xf32> differ in their elements, expected the same type
func.func @main(%m: tensor<f64>, %x: tensor<2xf32>) {
  %0 = "stablehlo.clamp"(%m, %x, %m) : (tensor<f64>, tensor<2xf32>, tensor<f64>) -> tensor<2xf32>
  return
}
// -----
// clamp max type
// error: stablehlo.clamp: C3: tensor<i32> and tensor<2xf32> differ in their elements, expected the same type
func.func @main(%m: tensor<i32>, %x: tensor<2xf32>) {
  %0 = "stablehlo.clamp"(%x, %x, %m) : (tensor<2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  return
}
// -----
// clamp result
// error: stablehlo.clamp: C4: result 0 is tensor<3xf32>, expected tensor<2xf32>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.clamp"(%x, %x, %x) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return
}
// -----
// clamp result type
// error: stablehlo.clamp: C4: result 0 is tensor<2xi32>, expected tensor<2xf32>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.clamp"(%x, %x, %x) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xi32>
  return
}
// -----
// convert shape
// error: stablehlo.convert: C1: operand tensor<2xf32> and result tensor<3xi32> differ in shape
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.convert"(%x) : (tensor<2xf32>) -> tensor<3xi32>
  return
}
// -----
// convert rank
// error: stablehlo.convert: C1: operand tensor<2xf32> and result tensor<2x1xi32> differ in shape
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.convert"(%x) : (tensor<2xf32>) -> tensor<2x1xi32>
  return
}
// -----
// reduce_precision int
// error: stablehlo.reduce_precision: I1: operand 0 is tensor<2xi32>, expected a tensor of floats
func.func @main(%x: tensor<2xi32>) {
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 2 : i32, mantissa_bits = 2 : i32} : (tensor<2xi32>) -> tensor<2xi32>
  return
}
// -----
// reduce_precision exponent 0
// error: stablehlo.reduce_precision: C2: exponent_bits is 0, expected at least 1
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 0 : i32, mantissa_bits = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// reduce_precision mantissa -1
// error: stablehlo.reduce_precision: C3: mantissa_bits is -1, expected at least 0
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 1 : i32, mantissa_bits = -1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// reduce_precision result
// error: stablehlo.reduce_precision: C1: result 0 is tensor<3xf32>, expected tensor<2xf32>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 5 : i32, mantissa_bits = 1 : i32} : (tensor<2xf32>) -> tensor<3xf32>
  return
}
// -----
// reduce_precision result type
// error: stablehlo.reduce_precision: C1: result 0 is tensor<2xf64>, expected tensor<2xf32>
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 5 : i32, mantissa_bits = 1 : i32} : (tensor<2xf32>) -> tensor<2xf64>
  return
}
// -----
// reduce_precision no bits
// error: stablehlo.reduce_precision: needs the attribute "mantissa_bits"
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.reduce_precision"(%x) {exponent_bits = 5 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// accuracy tolerance in default
// error: stablehlo.exponential: result_accuracy: atol is not 0 in mode DEFAULT, expected a tolerance in mode TOLERANCE only
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.exponential"(%x) {result_accuracy = #stablehlo.result_accuracy<atol = 1.0, rtol = 0.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// accuracy tolerance in highest
// error: stablehlo.exponential: result_accuracy: ulps is not 0 in mode HIGHEST, expected a tolerance in mode TOLERANCE only
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.exponential"(%x) {result_accuracy = #stablehlo.result_accuracy<atol = 0.0, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// accuracy mode word
// error: stablehlo.exponential: result_accuracy: mode BAD is none of DEFAULT, HIGHEST and TOLERANCE
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.exponential"(%x) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<BAD>>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// accuracy negative
// error: stablehlo.exponential: result_accuracy: atol is negative
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.exponential"(%x) {result_accuracy = #stablehlo.result_accuracy<atol = -1.0, rtol = 0.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// accuracy cosine
// error: stablehlo.cosine: result_accuracy: rtol is not 0 in mode HIGHEST, expected a tolerance in mode TOLERANCE only
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.cosine"(%x) {result_accuracy = #stablehlo.result_accuracy<atol = 0.0, rtol = 2.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// accuracy cbrt
// error: stablehlo.cbrt: result_accuracy: rtol is not 0 in mode HIGHEST, expected a tolerance in mode TOLERANCE only
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.cbrt"(%x) {result_accuracy = #stablehlo.result_accuracy<atol = 0.0, rtol = 2.0, ulps = 0, mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
