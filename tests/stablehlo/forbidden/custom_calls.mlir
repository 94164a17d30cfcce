// custom_call operand layouts only
// error: stablehlo.custom_call: layouts: has layouts of operands only, expected those of both or none
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call result layouts only
// error: stablehlo.custom_call: layouts: has layouts of results only, expected those of both or none
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call operand layout count
// error: stablehlo.custom_call: operand_layouts: has 2 layouts, expected 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call result layout count
// error: stablehlo.custom_call: result_layouts: has 2 layouts, expected 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call layout permutation
// error: stablehlo.custom_call: operand_layouts: layout 0 is [0, 2], expected each dimension once
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[0, 2]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call layout unique
// error: stablehlo.custom_call: operand_layouts: layout 0 is [0, 0], expected each dimension once
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[0, 0]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call layout short
// error: stablehlo.custom_call: operand_layouts: layout 0 is [0], expected one of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[0]> : tensor<1xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call result layout permutation
// error: stablehlo.custom_call: result_layouts: layout 0 is [1, 1], expected each dimension once
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 1]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call layout rank
// error: stablehlo.custom_call: operand_layouts: layout 0 is not a list of dimensions
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[[0, 1]]> : tensor<1x2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call alias operand
// error: stablehlo.custom_call: output_operand_aliases: operand_index is 1, expected one of 1 operands
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call alias negative
// error: stablehlo.custom_call: output_operand_aliases: operand_index is -1, expected one of 1 operands
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = -1, operand_tuple_indices = []>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call alias operand tuple
// error: stablehlo.custom_call: output_operand_aliases: the indices lead to no part of the operand
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [0]>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call alias output tuple
// error: stablehlo.custom_call: output_operand_aliases: the indices lead to no part of the result
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call ffi string
// error: stablehlo.custom_call: backend_config: is no dictionary, as api_version 4 expects
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", api_version = 4 : i32, backend_config = "x"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call original dictionary
// error: stablehlo.custom_call: backend_config: is no string, as api_version 1 expects
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", api_version = 1 : i32, backend_config = {a = 1 : i32}} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call config number
// error: stablehlo.custom_call: backend_config is neither a string nor a dictionary
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", backend_config = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call api version -1
// error: stablehlo.custom_call: api_version -1 is none of 0 to 4
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", api_version = -1 : i32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call side effect number
// error: stablehlo.custom_call: the attribute "has_side_effect" is not an integer
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", has_side_effect = "x"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// custom_call alias shapes
// error: stablehlo.custom_call: output_operand_aliases: tensor<4x2xf32> is to be in the place of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// custom_call token layout
// error: stablehlo.custom_call: operand_layouts: layout 0 is [0], expected one of !stablehlo.token
func.func @main(%x: !stablehlo.token) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[0]> : tensor<1xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (!stablehlo.token) -> tensor<2x4xf32>
  return
}
// -----
// custom_call tuple layouts
// error: stablehlo.custom_call: operand_layouts: layout 0 is of tuple<tensor<2xf32>>, expected none of tuples
func.func @main(%x: tuple<tensor<2xf32>>) {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "foo", operand_layouts = [dense<[0]> : tensor<1xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tuple<tensor<2xf32>>) -> tensor<2x4xf32>
  return
}
