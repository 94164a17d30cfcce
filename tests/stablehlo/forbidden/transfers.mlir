// send device host
// error: stablehlo.send: C1: the channel's type is 1, expected 2: device to host
func.func @main(%x: tensor<2x4xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true} : (tensor<2x4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
// -----
// send host device
// error: stablehlo.send: C1: the channel's type is 2, expected 1: device to device
func.func @main(%x: tensor<2x4xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = false} : (tensor<2x4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
// -----
// send to device
// error: stablehlo.send: C1: the channel's type is 3, expected 2: device to host
func.func @main(%x: tensor<2x4xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (tensor<2x4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
// -----
// send result
// error: stablehlo.send: O1: result 0 is tensor<f32>, expected a token
func.func @main(%x: tensor<2x4xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<2x4xf32>, !stablehlo.token) -> tensor<f32>
  return
}
// -----
// send bad type
// error: stablehlo.send: C1: the channel's type is 9, expected 2: device to host
func.func @main(%x: tensor<2x4xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 9>, is_host_transfer = true} : (tensor<2x4xf32>, !stablehlo.token) -> !stablehlo.token
  return
}
// -----
// send no token
// error: stablehlo.send: I2: operand 1 is tensor<2x4xf32>, expected a token
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.send"(%x, %x) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> !stablehlo.token
  return
}
// -----
// recv device host
// error: stablehlo.recv: C1: the channel's type is 1, expected 3: host to device
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2x4xf32>, !stablehlo.token)
  return
}
// -----
// recv host device
// error: stablehlo.recv: C1: the channel's type is 3, expected 1: device to device
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = false} : (!stablehlo.token) -> (tensor<2x4xf32>, !stablehlo.token)
  return
}
// -----
// recv from device
// error: stablehlo.recv: C1: the channel's type is 2, expected 3: host to device
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2x4xf32>, !stablehlo.token)
  return
}
// -----
// recv no token
// error: stablehlo.recv: C3: result 1 is tensor<2x4xf32>, expected a token
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  return
}
// -----
// recv token first
// error: stablehlo.recv: C2: result 0 is !stablehlo.token, expected a tensor
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (!stablehlo.token, tensor<2x4xf32>)
  return
}
// -----
// recv two tokens
// error: stablehlo.recv: C2: result 0 is !stablehlo.token, expected a tensor
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}
// -----
// recv operand
// error: stablehlo.recv: I1: operand 0 is tensor<f32>, expected a token
func.func @main(%t: tensor<f32>) {
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true} : (tensor<f32>) -> (tensor<2x4xf32>, !stablehlo.token)
  return
}
// -----
// infeed layout count
// error: stablehlo.infeed: layout: has 2 entries, expected one for each of 1 arrays
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) {layout = [[0, 1], [0]]} : (!stablehlo.token) -> (tensor<2x4xf32>, !stablehlo.token)
  return
}
// -----
// infeed layout not array
// error: stablehlo.infeed: layout: an entry is not a list of integers, as in [[0, 1]]
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) {layout = [0]} : (!stablehlo.token) -> (tensor<2x4xf32>, !stablehlo.token)
  return
}
// -----
// infeed layout words
// error: stablehlo.infeed: layout: an entry is not a list of integers, as in [[0, 1]]
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) {layout = [["a", "b"]]} : (!stablehlo.token) -> (tensor<2x4xf32>, !stablehlo.token)
  return
}
// -----
// infeed layout nested
// error: stablehlo.infeed: layout: an entry is not a list of integers, as in [[0, 1]]
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) {layout = [[[0], [1]]]} : (!stablehlo.token) -> (tensor<2x4xf32>, !stablehlo.token)
  return
}
// -----
// infeed no results
// error: stablehlo.infeed: C1: has no result, expected a token at least
func.func @main(%t: !stablehlo.token) {
  "stablehlo.infeed"(%t) {} : (!stablehlo.token) -> ()
  return
}
// -----
// infeed no token
// error: stablehlo.infeed: C3: result 1 is tensor<i32>, expected a token
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) {} : (!stablehlo.token) -> (tensor<2x4xf32>, tensor<i32>)
  return
}
// -----
// infeed token twice
// error: stablehlo.infeed: C2: result 0 is !stablehlo.token, expected a tensor
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) {} : (!stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}
// -----
// infeed layout order
// error: infeed: layout of f32[2,4]{0,2} is invalid: minor_to_major entry 2 is out of range 0..1
func.func @main(%t: !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) {layout = [[0, 2]]} : (!stablehlo.token) -> (tensor<2x4xf32>, !stablehlo.token)
  return
}
// -----
// outfeed result
// error: stablehlo.outfeed: O1: result 0 is tensor<f32>, expected a token
func.func @main(%x: tensor<2x4xf32>, %t: !stablehlo.token) {
  %0 = "stablehlo.outfeed"(%x, %t) {outfeed_config = ""} : (tensor<2x4xf32>, !stablehlo.token) -> tensor<f32>
  return
}
// -----
// outfeed no token
// error: stablehlo.outfeed: I2: operand 1 is tensor<2x4xf32>, expected a token
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.outfeed"(%x, %x) {outfeed_config = ""} : (tensor<2x4xf32>, tensor<2x4xf32>) -> !stablehlo.token
  return
}
