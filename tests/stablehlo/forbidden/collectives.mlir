// all_gather groups repeat
// error: stablehlo.all_gather: replica_groups: names id 1 more than once
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups repeat
// error: stablehlo.all_reduce: replica_groups: names id 1 more than once
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups repeat
// error: stablehlo.reduce_scatter: replica_groups: names id 1 more than once
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_to_all groups repeat
// error: stablehlo.all_to_all: replica_groups: names id 1 more than once
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// collective_broadcast groups repeat
// error: stablehlo.collective_broadcast: replica_groups: names id 1 more than once
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// all_gather groups gap
// error: stablehlo.all_gather: replica_groups: names 2 ids up to 2, expected all from 0 on
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups gap
// error: stablehlo.all_reduce: replica_groups: names 2 ids up to 2, expected all from 0 on
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups gap
// error: stablehlo.reduce_scatter: replica_groups: names 2 ids up to 2, expected all from 0 on
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_to_all groups gap
// error: stablehlo.all_to_all: replica_groups: names 2 ids up to 2, expected all from 0 on
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 2]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_gather groups rank
// error: stablehlo.all_gather: replica_groups: is tensor<2xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups rank
// error: stablehlo.all_reduce: replica_groups: is tensor<2xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups rank
// error: stablehlo.reduce_scatter: replica_groups: is tensor<2xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_to_all groups rank
// error: stablehlo.all_to_all: replica_groups: is tensor<2xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// collective_broadcast groups rank
// error: stablehlo.collective_broadcast: replica_groups: is tensor<2xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[0, 1]> : tensor<2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// all_gather groups rank 3
// error: stablehlo.all_gather: replica_groups: is tensor<1x1x1xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1x1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups rank 3
// error: stablehlo.all_reduce: replica_groups: is tensor<1x1x1xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<0> : tensor<1x1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups rank 3
// error: stablehlo.reduce_scatter: replica_groups: is tensor<1x1x1xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<0> : tensor<1x1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_to_all groups rank 3
// error: stablehlo.all_to_all: replica_groups: is tensor<1x1x1xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<0> : tensor<1x1x1xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// collective_broadcast groups rank 3
// error: stablehlo.collective_broadcast: replica_groups: is tensor<1x1x1xi64>, expected a table of rank 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<0> : tensor<1x1x1xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// all_gather groups negative
// error: stablehlo.all_gather: replica_groups: names id -2, expected ids of at least 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups negative
// error: stablehlo.all_reduce: replica_groups: names id -2, expected ids of at least 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups negative
// error: stablehlo.reduce_scatter: replica_groups: names id -2, expected ids of at least 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_to_all groups negative
// error: stablehlo.all_to_all: replica_groups: names id -2, expected ids of at least 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// collective_broadcast groups negative
// error: stablehlo.collective_broadcast: replica_groups: names id -2, expected ids of at least 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, -2]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// all_gather groups type
// error: stablehlo.all_gather: replica_groups: is tensor<1x2xi32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi32>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups type
// error: stablehlo.all_reduce: replica_groups: is tensor<1x2xi32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi32>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups type
// error: stablehlo.reduce_scatter: replica_groups: is tensor<1x2xi32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi32>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_to_all groups type
// error: stablehlo.all_to_all: replica_groups: is tensor<1x2xi32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi32>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// collective_broadcast groups type
// error: stablehlo.collective_broadcast: replica_groups: is tensor<1x2xi32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi32>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// all_gather groups float
// error: stablehlo.all_gather: replica_groups: is tensor<1x2xf32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0.0, 1.0]]> : tensor<1x2xf32>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups float
// error: stablehlo.all_reduce: replica_groups: is tensor<1x2xf32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0.0, 1.0]]> : tensor<1x2xf32>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups float
// error: stablehlo.reduce_scatter: replica_groups: is tensor<1x2xf32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0.0, 1.0]]> : tensor<1x2xf32>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_to_all groups float
// error: stablehlo.all_to_all: replica_groups: is tensor<1x2xf32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0.0, 1.0]]> : tensor<1x2xf32>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// collective_broadcast groups float
// error: stablehlo.collective_broadcast: replica_groups: is tensor<1x2xf32>, expected elements of i64
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0.0, 1.0]]> : tensor<1x2xf32>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// all_gather groups global no channel
// error: all-gather: use_global_device_ids=true needs a channel_id
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups global no channel
// error: stablehlo.all_reduce: C4: use_global_device_ids needs a channel with a handle above 0, but has 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups global no channel
// error: stablehlo.reduce_scatter: C6: use_global_device_ids needs a channel with a handle above 0, but has 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_gather groups global handle 0
// error: all-gather: use_global_device_ids=true needs a channel_id
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups global handle 0
// error: stablehlo.all_reduce: C4: use_global_device_ids needs a channel with a handle above 0, but has 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups global handle 0
// error: stablehlo.reduce_scatter: C6: use_global_device_ids needs a channel with a handle above 0, but has 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_gather groups global empty
// error: stablehlo.all_gather: replica_groups: is empty, expected the devices for use_global_device_ids
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<> : tensor<0x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups global empty
// error: stablehlo.all_reduce: replica_groups: is empty, expected the devices for use_global_device_ids
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<> : tensor<0x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups global empty
// error: stablehlo.reduce_scatter: replica_groups: is empty, expected the devices for use_global_device_ids
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<> : tensor<0x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_gather groups global handle negative
// error: all-gather: use_global_device_ids=true needs a channel_id
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = -1, type = 0>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_reduce groups global handle negative
// error: stablehlo.all_reduce: C4: use_global_device_ids needs a channel with a handle above 0, but has -1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = -1, type = 0>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter groups global handle negative
// error: stablehlo.reduce_scatter: C6: use_global_device_ids needs a channel with a handle above 0, but has -1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = -1, type = 0>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_reduce body no value
// error: stablehlo.all_reduce: C5: the reducer returns 0 values, expected 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"() : () -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter body no value
// error: stablehlo.reduce_scatter: C7: the reducer returns 0 values, expected 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"() : () -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_reduce body two values
// error: stablehlo.all_reduce: C5: the reducer returns 2 values, expected 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter body two values
// error: stablehlo.reduce_scatter: C7: the reducer returns 2 values, expected 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_reduce body one argument
// error: stablehlo.all_reduce: C5: the reducer takes 1 values, expected 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter body one argument
// error: stablehlo.reduce_scatter: C7: the reducer takes 1 values, expected 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_reduce body three arguments
// error: stablehlo.all_reduce: C5: the reducer takes 3 values, expected 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>, %t: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter body three arguments
// error: stablehlo.reduce_scatter: C7: the reducer takes 3 values, expected 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>, %t: tensor<f32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_reduce body rank 1
// error: stablehlo.all_reduce: C5: the reducer makes tensor<1xf32>, expected a scalar
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<1xf32>, %q: tensor<1xf32>): %s = "stablehlo.add"(%p, %q) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "stablehlo.return"(%s) : (tensor<1xf32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter body rank 1
// error: stablehlo.reduce_scatter: C7: the reducer makes tensor<1xf32>, expected a scalar
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<1xf32>, %q: tensor<1xf32>): %s = "stablehlo.add"(%p, %q) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32> "stablehlo.return"(%s) : (tensor<1xf32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_reduce body tuple
// error: stablehlo.all_reduce: C5: the reducer makes tuple<tensor<f32>> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.tuple"(%p) : (tensor<f32>) -> tuple<tensor<f32>> "stablehlo.return"(%s) : (tuple<tensor<f32>>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter body tuple
// error: stablehlo.reduce_scatter: C7: the reducer makes tuple<tensor<f32>> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.tuple"(%p) : (tensor<f32>) -> tuple<tensor<f32>> "stablehlo.return"(%s) : (tuple<tensor<f32>>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_reduce body other type
// error: stablehlo.all_reduce: C5: the reducer makes tensor<i32> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.convert"(%p) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter body other type
// error: stablehlo.reduce_scatter: C7: the reducer makes tensor<i32> of tensor<f32> and tensor<f32>, expected one type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.convert"(%p) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_reduce body argument type
// error: stablehlo.all_reduce: C5: the reducer makes tensor<f32> of tensor<f32> and tensor<i32>, expected one type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<i32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter body argument type
// error: stablehlo.reduce_scatter: C7: the reducer makes tensor<f32> of tensor<f32> and tensor<i32>, expected one type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<i32>): "stablehlo.return"(%p) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_reduce body int
// error: stablehlo.all_reduce: C5: the reducer takes tensor<i32>, but the elements are of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter body int
// error: stablehlo.reduce_scatter: C7: the reducer takes tensor<i32>, but the elements are of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<i32>, %q: tensor<i32>): %s = "stablehlo.add"(%p, %q) : (tensor<i32>, tensor<i32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_gather dim range
// error: stablehlo.all_gather: C1: all_gather_dim is 2, expected a dimension of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_gather dim negative
// error: stablehlo.all_gather: C1: all_gather_dim is -1, expected a dimension of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_gather multiple
// error: stablehlo.all_gather: C6: tensor<2x4xf32> becomes tensor<2x9xf32> along dimension 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x9xf32>
  return
}
// -----
// all_gather other dim
// error: stablehlo.all_gather: C6: tensor<2x4xf32> becomes tensor<4x8xf32> along dimension 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x8xf32>
  return
}
// -----
// all_gather rank
// error: stablehlo.all_gather: C6: tensor<2x4xf32> becomes tensor<2x8x1xf32>, expected the same rank
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x8x1xf32>
  return
}
// -----
// all_gather type
// error: stablehlo.all_gather: C1: tensor<2x4xf32> and tensor<2x8xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x8xi32>
  return
}
// -----
// all_gather smaller
// error: stablehlo.all_gather: C6: tensor<2x4xf32> becomes tensor<2x2xf32> along dimension 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// all_gather group factor
// error: all-gather C2: sizes 4 and 12 of dimension 1 speak of 3 shards, a group has 2 members
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x12xf32>
  return
}
// -----
// all_gather zero
// error: stablehlo.all_gather: C6: tensor<2x0xf32> becomes tensor<2x0xf32> along dimension 1
func.func @main(%x: tensor<2x0xf32>) {
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x0xf32>) -> tensor<2x0xf32>
  return
}
// -----
// all_gather counts
// error: stablehlo.all_gather: has 1 results, expected 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_gather"(%x, %x) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  return
}
// -----
// all_gather none
// error: stablehlo.all_gather: expects at least 1 operand, but has 0
func.func @main() {
  "stablehlo.all_gather"() {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : () -> ()
  return
}
// -----
// all_reduce result
// error: stablehlo.all_reduce: C6: result 0 is tensor<2x5xf32>, expected tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x5xf32>
  return
}
// -----
// all_reduce result type
// error: stablehlo.all_reduce: C1: tensor<2x4xf32> and tensor<2x4xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xi32>
  return
}
// -----
// all_reduce counts
// error: stablehlo.all_reduce: has 1 results, expected 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_reduce"(%x, %x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// reduce_scatter dim
// error: stablehlo.reduce_scatter: C1: scatter_dimension is 2, expected a dimension of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// reduce_scatter dim negative
// error: stablehlo.reduce_scatter: C1: scatter_dimension is -1, expected a dimension of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return
}
// -----
// reduce_scatter other
// error: stablehlo.reduce_scatter: C6: tensor<2x4xf32> becomes tensor<1x2xf32> along dimension 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<1x2xf32>
  return
}
// -----
// reduce_scatter rank
// error: stablehlo.reduce_scatter: C6: tensor<2x4xf32> becomes tensor<2x2x1xf32>, expected the same rank
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2x1xf32>
  return
}
// -----
// reduce_scatter type
// error: stablehlo.reduce_scatter: C1: tensor<2x4xf32> and tensor<2x2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x2xi32>
  return
}
// -----
// reduce_scatter multiple
// error: stablehlo.reduce_scatter: C6: tensor<2x4xf32> becomes tensor<2x3xf32> along dimension 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}
// -----
// reduce_scatter zero result
// error: stablehlo.reduce_scatter: C6: tensor<2x4xf32> becomes tensor<2x0xf32> along dimension 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x0xf32>
  return
}
// -----
// reduce_scatter zero operand
// error: stablehlo.reduce_scatter: C6: tensor<2x0xf32> becomes tensor<2x0xf32> along dimension 1
func.func @main(%x: tensor<2x0xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x0xf32>) -> tensor<2x0xf32>
  return
}
// -----
// reduce_scatter factor
// error: reduce-scatter C2: sizes 4 and 1 of dimension 1 speak of 4 shards, a group has 2 members
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.reduce_scatter"(%x) ({ ^bb0(%p: tensor<f32>, %q: tensor<f32>): %s = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%s) : (tensor<f32>) -> () }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  return
}
// -----
// all_to_all split range
// error: stablehlo.all_to_all: C1: dimension 2 isn't one of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 2 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_to_all split negative
// error: stablehlo.all_to_all: C1: dimension -1 isn't one of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = -1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_to_all concat range
// error: stablehlo.all_to_all: C1: dimension 2 isn't one of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 2 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_to_all concat negative
// error: stablehlo.all_to_all: C1: dimension -1 isn't one of tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = -1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_to_all count 0
// error: stablehlo.all_to_all: C4: split_count is 0, expected at least 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_to_all count negative
// error: stablehlo.all_to_all: C4: split_count is -1, expected at least 1
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = -1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_to_all count multiple
// error: stablehlo.all_to_all: replica_groups: has 1 groups of 2, expected groups of 3
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 3 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_to_all result
// error: stablehlo.all_to_all: C9: result 0 is tensor<2x4xf32>, expected tensor<4x2xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// all_to_all result type
// error: stablehlo.all_to_all: C1: tensor<2x4xf32> and tensor<4x2xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xi32>
  return
}
// -----
// all_to_all group size
// error: stablehlo.all_to_all: replica_groups: has 1 groups of 4, expected groups of 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_to_all uneven groups
// error: stablehlo.all_to_all: replica_groups: names id -1, expected ids of at least 0
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// all_to_all counts
// error: stablehlo.all_to_all: has 1 results, expected 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.all_to_all"(%x, %x) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}
// -----
// collective_broadcast type
// error: stablehlo.collective_broadcast: C3: result 0 is tensor<2x5xf32>, expected tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x5xf32>
  return
}
// -----
// collective_broadcast element
// error: stablehlo.collective_broadcast: C3: result 0 is tensor<2x4xi32>, expected tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xi32>
  return
}
// -----
// collective_broadcast root type
// error: stablehlo.collective_broadcast: C4: the root is tensor<1xi64>, expected a list of i32
func.func @main(%x: tensor<4xf32>, %r: tensor<1xi64>) {
  %0 = "stablehlo.collective_broadcast"(%x, %r) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<4xf32>, tensor<1xi64>) -> tensor<4xf32>
  return
}
// -----
// collective_broadcast root count
// error: stablehlo.collective_broadcast: C4: the root is tensor<3xi32>, expected an element for each of the 1 groups
func.func @main(%x: tensor<4xf32>, %r: tensor<3xi32>) {
  %0 = "stablehlo.collective_broadcast"(%x, %r) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, has_dynamic_root} : (tensor<4xf32>, tensor<3xi32>) -> tensor<4xf32>
  return
}
// -----
// collective_permute columns
// error: stablehlo.collective_permute: C1: source_target_pairs is tensor<1x3xi64>, expected rows of 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// collective_permute rank
// error: stablehlo.collective_permute: C1: source_target_pairs is tensor<2xi64>, expected rows of 2
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[0, 1]> : tensor<2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// collective_permute sources
// error: collective-permute: source 0 appears more than once in source_target_pairs
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// collective_permute targets
// error: collective-permute: target 1 appears more than once in source_target_pairs
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// collective_permute negative
// error: collective-permute: target -1 of source_target_pairs, expected an id below the number of devices
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, -1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
// -----
// collective_permute result
// error: stablehlo.collective_permute: C5: result 0 is tensor<2x5xf32>, expected tensor<2x4xf32>
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x5xf32>
  return
}
// -----
// collective_permute result type
// error: stablehlo.collective_permute: C1: tensor<2x4xf32> and tensor<2x4xi32> differ in their elements, expected the same type
func.func @main(%x: tensor<2x4xf32>) {
  %0 = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x4xf32>) -> tensor<2x4xi32>
  return
}
