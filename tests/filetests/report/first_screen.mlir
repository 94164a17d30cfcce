// RUN: hlosim report --device=v5e %s
module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xbf16>, %arg1: tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> loc(#loc1)
    %1 = stablehlo.tanh %0 : tensor<1024x1024xbf16> loc(#loc2)
    %2 = stablehlo.dot_general %1, %arg1, contracting_dims = [1] x [1] : (tensor<1024x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16> loc(#loc3)
    return %2 : tensor<1024x1024xbf16>
  }
}
#loc1 = loc("jit(step)/jit(main)/jvp(layer_0/mlp)/dot_general"("model.py":12:0))
#loc2 = loc("jit(step)/jit(main)/jvp(layer_0/mlp)/tanh"("model.py":13:0))
#loc3 = loc("jit(step)/jit(main)/transpose(jvp(layer_0/mlp))/dot_general"("model.py":12:0))
// CHECK: jit_step on TPU v5e
// CHECK: time            32.04 us  (80 % interval 29.7 us to 42.02 us)
// CHECK: bottleneck      MXU 83.8 % | HBM 16.2 %
// CHECK: utilization     68.2 % of the bf16 peak of 196.6 TFLOP/s, 24.0 % of HBM's 819 GB/s
// CHECK: hbm peak        6.00 MiB of 15.75 GiB (0.0 %) at dot.2
// CHECK: vmem peak       4.00 MiB of 128.00 MiB (3.1 %) at fusion.7: activations 4.00 MiB
// CHECK: perfect overlap 22.71 us (-29.1 %): the time of the busiest unit
// CHECK: assumed flag    --xla_tpu_scoped_vmem_limit_kib=32768; with 126976: 35.1 us (+9.6 %)
// CHECK: assumed flag    --xla_tpu_enable_large_2nd_minor_layout_for_x16=false; with true: 31.56 us (-1.5 %)
// CHECK: module          5 instructions, scheduled, first_screen.mlir; v5e.yaml (built-in)
// CHECK:
// CHECK: Time by scope
// CHECK:   scope                     time   share  bottleneck
// CHECK:   forward layer_#/mlp   14.24 us  44.5 %  MXU 100.0 %
// CHECK:   backward layer_#/mlp   12.6 us  39.3 %  MXU 100.0 %
// CHECK:   no op_name            5.189 us  16.2 %  HBM 100.0 %
// CHECK:
// CHECK: Longest operations
// CHECK:   instruction      time   share  bound by  runs  where
// CHECK:   fusion.7     14.24 us  44.5 %  MXU          1  model.py:13 forward mlp/tanh
// CHECK:   dot.2         12.6 us  39.3 %  MXU          1  model.py:12 backward mlp/dot_general
// CHECK:   copy.1       5.189 us  16.2 %  HBM          1  line 3
// CHECK:
// CHECK: confidence      84 % published, 16 % inferred device parameters
// CHECK:
// CHECK: Assumptions
// CHECK:   - unoptimized HLO: hlosim applied its approximation of XLA:TPU's fusion and layout passes for TPU v5e
// CHECK:
// CHECK: --full has all sections, --format=html -o r.html a page, `hlosim explain FILE NAME` one time,
// CHECK: --advise=10s the largest saving
