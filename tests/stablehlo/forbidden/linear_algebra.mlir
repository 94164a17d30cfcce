// cholesky rank
// error: cholesky C3: operand 0 has shape f32[2], expected at least two dimensions, the last two of the same size
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.cholesky"(%x) {lower = true} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// cholesky square
// error: cholesky C3: operand 0 has shape f32[2,3], expected at least two dimensions, the last two of the same size
func.func @main(%x: tensor<2x3xf32>) {
  %0 = "stablehlo.cholesky"(%x) {lower = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// cholesky type
// error: stablehlo.cholesky: I1: operand 0 is tensor<2x2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2x2xi32>) {
  %0 = "stablehlo.cholesky"(%x) {lower = true} : (tensor<2x2xi32>) -> tensor<2x2xi32>
  return
}
// -----
// cholesky result
// error: stablehlo.cholesky: C1: result 0 is tensor<2x3xf32>, expected tensor<2x2xf32>
func.func @main(%x: tensor<2x2xf32>) {
  %0 = "stablehlo.cholesky"(%x) {lower = true} : (tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}
// -----
// cholesky result type
// error: stablehlo.cholesky: C1: result 0 is tensor<2x2xf64>, expected tensor<2x2xf32>
func.func @main(%x: tensor<2x2xf32>) {
  %0 = "stablehlo.cholesky"(%x) {lower = true} : (tensor<2x2xf32>) -> tensor<2x2xf64>
  return
}
// -----
// triangular_solve types
// error: stablehlo.triangular_solve: C1: tensor<2x2xf32> and tensor<2x2xf64> differ in their elements, expected the same type
func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf64>) {
  %0 = "stablehlo.triangular_solve"(%x, %y) {left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true} : (tensor<2x2xf32>, tensor<2x2xf64>) -> tensor<2x2xf32>
  return
}
// -----
// triangular_solve rank 1
// error: triangular-solve C3: operand 0 has shape f32[2], expected at least two dimensions, the last two of the same size
func.func @main(%x: tensor<2xf32>) {
  %0 = "stablehlo.triangular_solve"(%x, %x) {left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// triangular_solve square
// error: triangular-solve C3: operand 0 has shape f32[2,3], expected at least two dimensions, the last two of the same size
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%x, %y) {left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// triangular_solve batch
// error: triangular-solve C6: a is f32[5,2,2], b f32[4,2,2], expected the same size of dimension 0
func.func @main(%x: tensor<5x2x2xf32>, %y: tensor<4x2x2xf32>) {
  %0 = "stablehlo.triangular_solve"(%x, %y) {left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true} : (tensor<5x2x2xf32>, tensor<4x2x2xf32>) -> tensor<4x2x2xf32>
  return
}
// -----
// triangular_solve right
// error: triangular-solve C7: a is f32[2,2], b f32[2,3], expected 2 elements in dimension 1 of b
func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) {
  %0 = "stablehlo.triangular_solve"(%x, %y) {left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
// triangular_solve invalid
// error: triangular-solve C8: transpose_a is TRANSPOSE_INVALID, expected NO_TRANSPOSE, TRANSPOSE or ADJOINT
func.func @main(%x: tensor<2x2xf32>) {
  %0 = "stablehlo.triangular_solve"(%x, %x) {left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE_INVALID>, unit_diagonal = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// triangular_solve word
// error: triangular-solve: transpose_a can't be TRANSPOS
func.func @main(%x: tensor<2x2xf32>) {
  %0 = "stablehlo.triangular_solve"(%x, %x) {left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOS>, unit_diagonal = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// triangular_solve int
// error: stablehlo.triangular_solve: I1: operand 0 is tensor<2x2xi32>, expected a tensor of floats or complex numbers
func.func @main(%x: tensor<2x2xi32>) {
  %0 = "stablehlo.triangular_solve"(%x, %x) {left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true} : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return
}
// -----
// triangular_solve result
// error: stablehlo.triangular_solve: C4: result 0 is tensor<2x3xf32>, expected tensor<2x2xf32>
func.func @main(%x: tensor<2x2xf32>) {
  %0 = "stablehlo.triangular_solve"(%x, %x) {left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return
}
// -----
// triangular_solve no left_side
// error: stablehlo.triangular_solve: needs the attribute "left_side"
func.func @main(%x: tensor<2x2xf32>) {
  %0 = "stablehlo.triangular_solve"(%x, %x) {lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// fft length 0
// error: fft C3: fft_length has 0 entries, expected 1 to 3
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}
// -----
// fft length 4
// error: fft C3: fft_length has 4 entries, expected 1 to 3
func.func @main(%x: tensor<4x4x4x4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [4, 4, 4, 4] : (tensor<4x4x4x4xcomplex<f32>>) -> tensor<4x4x4x4xcomplex<f32>>
  return
}
// -----
// fft rank
// error: fft C4: operand c64[4] has 1 dimensions, expected at least 2
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [4, 4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}
// -----
// fft real operand
// error: fft C2: FFT of f32[4], expected element type c64 or c128
func.func @main(%x: tensor<4xf32>) {
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}
// -----
// fft size mismatch
// error: stablehlo.fft: C5: fft_length [5] isn't that of the last dimensions of tensor<4xcomplex<f32>>
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [5] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}
// -----
// ifft real result
// error: fft: expected instruction to have shape equal to c64[4], actual shape is f32[4]
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = IFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}
// -----
// rfft complex operand
// error: fft C2: RFFT of c64[4], expected element type f32 or f64
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return
}
// -----
// rfft sizes
// error: stablehlo.fft: C5: fft_length [8] isn't that of the last dimensions of tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<4xf32>) -> tensor<5xcomplex<f32>>
  return
}
// -----
// rfft result
// error: fft: expected instruction to have shape equal to c64[3], actual shape is c64[4]
func.func @main(%x: tensor<4xf32>) {
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}
// -----
// irfft sizes
// error: fft C5: dimension 0 of c64[4] has 4 elements, expected 5 for fft_length {8}
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = IRFFT, length = [8] : (tensor<4xcomplex<f32>>) -> tensor<8xf32>
  return
}
// -----
// irfft result complex
// error: fft: expected instruction to have shape equal to f32[4], actual shape is c64[4]
func.func @main(%x: tensor<3xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = IRFFT, length = [4] : (tensor<3xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}
// -----
// fft type word
// error: fft: fft_type can't be XFFT
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = XFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}
// -----
// fft result shape
// error: fft: expected instruction to have shape equal to c64[4], actual shape is c64[5]
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  return
}
// -----
// fft result f64
// error: fft: expected instruction to have shape equal to c64[4], actual shape is c128[4]
func.func @main(%x: tensor<4xcomplex<f32>>) {
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f64>>
  return
}
// -----
// fft dense length
// error: stablehlo.fft: the attribute "fft_length" is not a list of integers
func.func @main(%x: tensor<4x4xcomplex<f32>>) {
  %0 = "stablehlo.fft"(%x) {fft_length = dense<4> : tensor<1x2xi64>, fft_type = #stablehlo<fft_type FFT>} : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  return
}
// -----
// bn training feature
// error: stablehlo.batch_norm_training: C1: feature_index is 2, expected a dimension of tensor<2x2xf32>
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.001 : f32, feature_index = 2 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
// -----
// bn training types
// error: stablehlo.batch_norm_training: C2: tensor<2x2xf32> and tensor<2xf64> differ in their elements, expected the same type
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>, %t: tensor<2xf64>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %t) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf64>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
// -----
// bn training size
// error: batch-norm-training C4: operand 1 is f32[3], expected one value for each of the 2 features
func.func @main(%x: tensor<2x2xf32>, %s: tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
// -----
// bn training rank
// error: stablehlo.batch_norm_training: I2: operand 1 is tensor<2x1xf32>, expected a tensor of rank 1
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2x1xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
// -----
// bn training int
// error: stablehlo.batch_norm_training: I1: operand 0 is tensor<2x2xi32>, expected a tensor of floats
func.func @main(%x: tensor<2x2xi32>, %s: tensor<2xi32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<2x2xi32>, tensor<2xi32>, tensor<2xi32>)
  return
}
// -----
// bn training result shape
// error: stablehlo.batch_norm_training: C3: result 0 is tensor<2x3xf32>, expected tensor<2x2xf32>
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
// -----
// bn training result mean
// error: stablehlo.batch_norm_training: C4: result 1 is tensor<3xf32>, expected tensor<2xf32>
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<3xf32>, tensor<2xf32>)
  return
}
// -----
// bn training result type
// error: stablehlo.batch_norm_training: C4: result 2 is tensor<2xf64>, expected tensor<2xf32>
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf64>)
  return
}
// -----
// bn training results
// error: stablehlo.batch_norm_training: has 2 results, expected 3
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) {
  %0:2 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>)
  return
}
// -----
// bn inference mean
// error: batch-norm-inference C4: operand 3 is f32[3], expected one value for each of the 2 features
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>, %t: tensor<3xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %t, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// bn inference variance
// error: batch-norm-inference C4: operand 4 is f32[3], expected one value for each of the 2 features
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>, %t: tensor<3xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %t) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2x2xf32>
  return
}
// -----
// bn inference result
// error: stablehlo.batch_norm_inference: C3: result 0 is tensor<2x3xf32>, expected tensor<2x2xf32>
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}
// -----
// bn inference types
// error: stablehlo.batch_norm_inference: C2: tensor<2x2xf32> and tensor<2xf64> differ in their elements, expected the same type
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf64>) {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %s) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2x2xf32>
  return
}
// -----
// bn inference epsilon type
// error: stablehlo.batch_norm_inference: I6: epsilon is not a float, expected one of f32
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %s) {epsilon = 1 : i32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return
}
// -----
// bn grad shape
// error: stablehlo.batch_norm_grad: C3: types tensor<2x2xf32> and tensor<3x2xf32> differ, expected the same
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>, %g: tensor<3x2xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %g) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
// -----
// bn grad type
// error: stablehlo.batch_norm_grad: C2: tensor<2x2xf32> and tensor<2x2xf64> differ in their elements, expected the same type
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>, %g: tensor<2x2xf64>) {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %g) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf64>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
// -----
// bn grad result
// error: stablehlo.batch_norm_grad: C4: result 1 is tensor<3xf32>, expected tensor<2xf32>
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %x) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<3xf32>, tensor<2xf32>)
  return
}
// -----
// bn grad feature negative
// error: stablehlo.batch_norm_grad: C1: feature_index is -1, expected a dimension of tensor<2x2xf32>
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %s, %s, %x) {epsilon = 0.001 : f32, feature_index = -1 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return
}
