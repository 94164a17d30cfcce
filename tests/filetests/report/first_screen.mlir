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
// CHECK: time            31.88 us  (80 % interval 30.13 us to 39.56 us)
// CHECK: bottleneck      MXU 83.7 % | HBM 16.3 %
// CHECK: utilization     68.5 % of the bf16 peak of 196.6 TFLOP/s, 24.1 % of HBM's 819 GB/s
// CHECK: hbm peak        6.00 MiB of 15.75 GiB (0.0 %) at fusion.7
// CHECK: vmem peak       4.00 MiB of 128.00 MiB (3.1 %) at dot.1: activations 4.00 MiB
// CHECK: perfect overlap 22.71 us (-28.8 %): the time of the busiest unit
// CHECK: assumed flag    --xla_tpu_scoped_vmem_limit_kib=32768; with 126976: 34.96 us (+9.6 %)
// CHECK: assumed flag    --xla_tpu_enable_large_2nd_minor_layout_for_x16=false; with true: 31.41 us (-1.5 %)
// CHECK: module          5 instructions, scheduled, first_screen.mlir; v5e.yaml (built-in)
// CHECK:
// CHECK: Time by scope
// CHECK:   scope                     time   share  bottleneck
// CHECK:   backward layer_#/mlp   13.4 us  42.0 %  MXU 100.0 %
// CHECK:   forward layer_#/mlp    13.3 us  41.7 %  MXU 100.0 %
// CHECK:   no op_name            5.189 us  16.3 %  HBM 100.0 %
// CHECK:
// CHECK: Longest operations
// CHECK:   instruction      time   share  bound by  runs  where
// CHECK:   fusion.7      13.4 us  42.0 %  MXU          1  model.py:12 backward mlp/dot_general
// CHECK:   dot.1         13.3 us  41.7 %  MXU          1  model.py:12 forward mlp/dot_general
// CHECK:   copy.1       5.189 us  16.3 %  HBM          1  line 3
// CHECK:
// CHECK: confidence      84 % published, 16 % inferred device parameters
// CHECK:
// CHECK: Assumptions
// CHECK:   - unoptimized HLO: hlosim applied its approximation of XLA:TPU's fusion and layout passes for TPU v5e
// CHECK:
// CHECK: --full has all sections, --format=html -o r.html a page, `hlosim explain FILE NAME` one time,
// CHECK: --advise=10s the largest saving
