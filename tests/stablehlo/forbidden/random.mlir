// rng shape rank
// error: stablehlo.rng: I3: operand 2 is tensor<2x1xi64>, expected a tensor of rank 1
func.func @main(%a: tensor<f32>, %s: tensor<2x1xi64>) {
  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<2x1xi64>) -> tensor<2x3xf32>
  return
}
// -----
// rng shape type
// error: stablehlo.rng: I3: operand 2 is tensor<2xf32>, expected a tensor of integers
func.func @main(%a: tensor<f32>, %s: tensor<2xf32>) {
  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}
// -----
// rng shape count
// error: stablehlo.rng: C3: the shape has 3 sizes, but the result is tensor<2x3xf32>
func.func @main(%a: tensor<f32>, %s: tensor<3xi64>) {
  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<3xi64>) -> tensor<2x3xf32>
  return
}
// -----
// rng a rank
// error: stablehlo.rng: I1: operand 0 is tensor<1xf32>, expected a tensor of rank 0
func.func @main(%a: tensor<1xf32>, %b: tensor<f32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = "stablehlo.rng"(%a, %b, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<1xf32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}
// -----
// rng shape values
// error: stablehlo.rng: C3: the shape [2, 4] isn't that of the result tensor<2x3xf32>
func.func @main(%a: tensor<f32>) {
  %s = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}
// -----
// rng normal int
// error: stablehlo.rng: C2: operand 0 is tensor<i32>, expected a tensor of floats
func.func @main(%a: tensor<i32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution NORMAL>} : (tensor<i32>, tensor<i32>, tensor<2xi64>) -> tensor<2x3xi32>
  return
}
// -----
// rng types
// error: stablehlo.rng: C1: tensor<f32> and tensor<f64> differ in their elements, expected the same type
func.func @main(%a: tensor<f32>, %b: tensor<f64>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = "stablehlo.rng"(%a, %b, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f64>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}
// -----
// rng result type
// error: stablehlo.rng: C1: tensor<f32> and tensor<2x3xf64> differ in their elements, expected the same type
func.func @main(%a: tensor<f32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf64>
  return
}
// -----
// rng complex
// error: stablehlo.rng: I1: operand 0 is tensor<complex<f32>>, expected a tensor of truth values, integers or floats
func.func @main(%a: tensor<complex<f32>>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution UNIFORM>} : (tensor<complex<f32>>, tensor<complex<f32>>, tensor<2xi64>) -> tensor<2x3xcomplex<f32>>
  return
}
// -----
// rng word
// error: stablehlo.rng: rng_distribution: 'POISSON' is none of UNIFORM, NORMAL
func.func @main(%a: tensor<f32>) {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = "stablehlo.rng"(%a, %a, %s) {rng_distribution = #stablehlo<rng_distribution POISSON>} : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}
// -----
// rng_bit_generator state type
// error: stablehlo.rng_bit_generator: C1: result 0 is tensor<2xui32>, expected tensor<2xui64>
func.func @main(%a: tensor<2xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : (tensor<2xui64>) -> (tensor<2xui32>, tensor<4xui32>)
  return
}
// -----
// rng_bit_generator rank
// error: stablehlo.rng_bit_generator: I2: operand 0 is tensor<2x1xui64>, expected a tensor of rank 1
func.func @main(%a: tensor<2x1xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : (tensor<2x1xui64>) -> (tensor<2x1xui64>, tensor<4xui32>)
  return
}
// -----
// rng_bit_generator word
// error: stablehlo.rng_bit_generator: rng_algorithm: 'NONE' is none of DEFAULT, THREE_FRY, PHILOX
func.func @main(%a: tensor<2xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) {rng_algorithm = #stablehlo<rng_algorithm NONE>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return
}
// -----
// rng_bit_generator threefry size
// error: stablehlo.rng_bit_generator: C2: THREE_FRY has a state of 192 bits, expected 128
func.func @main(%a: tensor<3xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}
// -----
// rng_bit_generator philox size
// error: stablehlo.rng_bit_generator: C2: PHILOX has a state of 256 bits, expected 128 or 192
func.func @main(%a: tensor<4xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) {rng_algorithm = #stablehlo<rng_algorithm PHILOX>} : (tensor<4xui64>) -> (tensor<4xui64>, tensor<4xui32>)
  return
}
// -----
// rng_bit_generator output
// error: stablehlo.rng_bit_generator: O2: result 1 is tensor<4xcomplex<f32>>, expected a tensor of integers or floats
func.func @main(%a: tensor<2xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%a) {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xcomplex<f32>>)
  return
}
