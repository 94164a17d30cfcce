// conv rank
// error: stablehlo.convolution: dimension_numbers name a dimension twice, or one that the operands don't have
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv strides size
// error: stablehlo.convolution: the window's lists differ in length from the 2 spatial dimensions
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = "stablehlo.convolution"(%x, %k) {window_strides = array<i64: 1>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv stride 0
// error: convolution C6: window stride is 0 in dimension 0, expected a positive number
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv padding shape
// error: stablehlo.convolution: the window's lists differ in length from the 2 spatial dimensions
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = "stablehlo.convolution"(%x, %k) {padding = dense<[[0,0]]> : tensor<1x2xi64>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv padding columns
// error: stablehlo.convolution: C4: padding is tensor<2x3xi64>, expected 2 columns
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = "stablehlo.convolution"(%x, %k) {padding = dense<0> : tensor<2x3xi64>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv padding rank 1
// error: stablehlo.convolution: C4: padding is tensor<4xi64>, expected 2 columns
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = "stablehlo.convolution"(%x, %k) {padding = dense<0> : tensor<4xi64>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv lhs dilation size
// error: stablehlo.convolution: the window's lists differ in length from the 2 spatial dimensions
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = "stablehlo.convolution"(%x, %k) {lhs_dilation = array<i64: 1, 1, 1>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv lhs dilation 0
// error: convolution C6: window lhs_dilate is 0 in dimension 0, expected a positive number
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv rhs dilation 0
// error: convolution C6: window rhs_dilate is 0 in dimension 0, expected a positive number
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x4x2x1xf32>
  return
}
// -----
// conv reversal size
// error: stablehlo.convolution: the window's lists differ in length from the 2 spatial dimensions
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = "stablehlo.convolution"(%x, %k) {window_reversal = array<i1: false>, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv batch group
// error: convolution C8: the input batch of 3 in f32[3,4,4,2] is not a multiple of batch_group_count=2
func.func @main(%x: tensor<3x4x4x2xf32>, %k: tensor<3x3x2x4xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<3x4x4x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x2x2x4xf32>
  return
}
// -----
// conv feature group
// error: convolution C9: 3 input features of f32[1,4,4,3] in feature_group_count=2 groups do not match the 1 input features of the kernel f32[3,3,1,4]
func.func @main(%x: tensor<1x4x4x3xf32>, %k: tensor<3x3x1x4xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x4x4x3xf32>, tensor<3x3x1x4xf32>) -> tensor<1x2x2x4xf32>
  return
}
// -----
// conv kernel input feature
// error: convolution C9: 4 input features of f32[1,4,4,4] in feature_group_count=1 groups do not match the 3 input features of the kernel f32[3,3,3,4]
func.func @main(%x: tensor<1x4x4x4xf32>, %k: tensor<3x3x3x4xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x4xf32>, tensor<3x3x3x4xf32>) -> tensor<1x2x2x4xf32>
  return
}
// -----
// conv out features of batch group
// error: convolution C7: the 3 output features of the kernel f32[3,3,2,3] are not a multiple of batch_group_count=2
func.func @main(%x: tensor<2x4x4x2xf32>, %k: tensor<3x3x2x3xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x2x3xf32>) -> tensor<1x2x2x3xf32>
  return
}
// -----
// conv out features of feature group
// error: convolution C10: the 3 output features of the kernel f32[3,3,2,3] are not a multiple of feature_group_count=2
func.func @main(%x: tensor<1x4x4x4xf32>, %k: tensor<3x3x2x3xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x4x4x4xf32>, tensor<3x3x2x3xf32>) -> tensor<1x2x2x3xf32>
  return
}
// -----
// conv dims unique out
// error: stablehlo.convolution: dimension_numbers name a dimension twice, or one that the operands don't have
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = "stablehlo.convolution"(%x, %k) {dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, output_feature_dimension = 0, output_spatial_dimensions = [1, 2]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv feature group 0
// error: convolution C3: feature_group_count=0 and batch_group_count=1, expected positive counts and at most one above 1
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv batch group -1
// error: convolution C3: feature_group_count=1 and batch_group_count=-1, expected positive counts and at most one above 1
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = -1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv both groups
// error: convolution C3: feature_group_count=2 and batch_group_count=2, expected positive counts and at most one above 1
func.func @main(%x: tensor<2x4x4x2xf32>, %k: tensor<3x3x1x4xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<2x4x4x2xf32>, tensor<3x3x1x4xf32>) -> tensor<1x2x2x4xf32>
  return
}
// -----
// conv precision count
// error: stablehlo.convolution: C24: precision_config has 3 words, expected one for each of the 2 operands
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv element types
// error: stablehlo.convolution: C27: tensor<1x4x4x2xf32> and tensor<3x3x2x1xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xi32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xi32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv result spatial
// error: convolution: expected instruction to have shape equal to f32[1,2,2,1], actual shape is f32[1,3,2,1]
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x3x2x1xf32>
  return
}
// -----
// conv result rank
// error: convolution: expected instruction to have shape equal to f32[1,2,2,1], actual shape is f32[1,2,2]
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2xf32>
  return
}
// -----
// conv keyword
// error: unexpected 'strides' of a window
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {strides = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv keyword twice
// error: 'window_strides' is given twice
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv pad pairs
// error: expects pairs of padding, as in [[1, 1], [0, 1]]
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv pad triples
// error: expects pairs of padding, as in [[1, 1], [0, 1]]
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0, 0], [0, 0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv stride count
// error: stablehlo.convolution: the window's lists differ in length from the 2 spatial dimensions
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv no group counts
// error: stablehlo.convolution: needs the attribute "batch_group_count"
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv numbers label twice
// error: expects the numbers 0 to 1 once each
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 0, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv numbers label missing
// error: expects the numbers 0 to 1 once each
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 2, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv numbers letter
// error: expects 'b', 'f', a number or '?', but sees 'o'
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, o]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
// -----
// conv numbers no batch
// error: expects 'b' and 'f' among the labels
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x1xf32>) {
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [0, 1, 2, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x2x2x1xf32>
  return
}
