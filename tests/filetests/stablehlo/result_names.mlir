// RUN: hlosim print %s
// RUN: hlosim report --full --device=unit --top=1 %s
// What JAX calls the results, where it says more than their places.
module @step {
  func.func public @main(%arg0: tensor<4xf32> {jax.arg_info = "params['w']"}, %arg1: tensor<4xf32> loc("batch")) -> (tensor<4xf32> {jax.result_info = "result[0]['w']"}, tensor<4xf32> {jax.result_info = "result[1]"}, tensor<4xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    return %0, %arg0, %arg1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module @plain {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    return %arg0 : tensor<4xf32>
  }
}
// ==== 1
// CHECK: HloModule step, frontend_attributes={jax.result_info="result[0]['w'], result[1], -"}
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[4], batch.1: f32[4]) -> (f32[4]{0}, f32[4]{0}, f32[4]{0}) {
// CHECK:   %Arg_0.1 = f32[4]{0} parameter(0), metadata={op_name="params['w']"}
// CHECK:   %batch.1 = f32[4]{0} parameter(1), metadata={op_name="batch"}
// CHECK:   %add.1 = f32[4]{0} add(%Arg_0.1, %batch.1)
// CHECK:   ROOT %tuple.1 = (f32[4]{0}, f32[4]{0}, f32[4]{0}) tuple(%add.1, %Arg_0.1, %batch.1)
// CHECK: }
// CHECK:
// CHECK: // -----
// CHECK:
// CHECK: HloModule plain
// CHECK:
// CHECK: ENTRY %main.1 (Arg_0.1: f32[4]) -> f32[4]{0} {
// CHECK:   ROOT %Arg_0.1 = f32[4]{0} parameter(0)
// CHECK: }
// ==== 2
// CHECK: step on unit
// CHECK: time              3.593 us  (3,593 cycles @ 1 GHz)
// CHECK: bound by          HBM for 100.0 % of the time
// CHECK: FLOP/s            0 FLOP/s, 0.0 % of the peak of 32.77 TFLOP/s (bf16); 0 FLOP in matmuls
// CHECK: HBM traffic       3.50 KiB (3,584 B): 2,048 B read, 1,536 B written
// CHECK: HBM bandwidth     997.5 MB/s, 99.7 % of 1 GB/s
// CHECK: perfect overlap   3.584 us  (the time of the busiest unit)
// CHECK: module            4 instructions, scheduled, from result_names.mlir
// CHECK: results           result[0]['w'], result[1], -
// CHECK: device            unit.yaml (built-in); slice 1x1 (no wrap-around), 1 x 1 (replicas x partitions)
// CHECK:
// CHECK: Memory spaces
// CHECK:   space         read   written      peak      mean  capacity   used  scratch  peak at
// CHECK:   hbm S(0)  2.00 KiB  1.50 KiB  2.50 KiB  1.93 KiB  1.00 GiB  0.0 %        -  step 4 (copy.2)
// CHECK:
// CHECK: Time by category
// CHECK:   category           time   share
// CHECK:   vector         1.539 us  42.8 %
// CHECK:   data movement  2.054 us  57.2 %
// CHECK:
// CHECK: Time by unit
// CHECK:   unit      busy   share    bounds    share
// CHECK:   VPU       1 ns   0.0 %      0 ps    0.0 %
// CHECK:   HBM   3.584 us  99.7 %  3.593 us  100.0 %
// CHECK:
// CHECK: Longest instructions (time, FLOP and bytes of all their runs)
// CHECK:   instruction  line  runs      time   share  bound by  FLOP     bytes  padding
// CHECK:   add.1           6     1  1.539 us  42.8 %  HBM          0  1.50 KiB   96.9 %
// CHECK:   and 2 more (--top=0 shows all)
// CHECK:
// CHECK: Asynchronous copies
// CHECK:   none: the module has no copy-start
// CHECK:
// CHECK: Collectives
// CHECK:   none: the module has no collectives
// CHECK:
// CHECK: Padding
// CHECK:   5 arrays are padded. All arrays: 80 B unpadded, 2.50 KiB padded, 2.42 KiB of padding (32.0x expansion)
// CHECK:   1. Size: 512B
// CHECK:      Operator: op_name="params['w']"
// CHECK:      Shape: f32[4]{0:T(128)}
// CHECK:      Unpadded size: 16B
// CHECK:      Extra memory due to padding: 496B (32.0x expansion)
// CHECK:      XLA label: Arg_0.1 = parameter
// CHECK:      Allocation type: parameter in hbm
// CHECK:   and 4 more (--top=0 shows more)
// CHECK:
// CHECK: Assumptions
// CHECK:   - unoptimized HLO: hlosim applied its approximation of XLA:TPU's fusion and layout passes for unit
// CHECK:
// CHECK: Confidence: time by provenance of the device parameters that determine it
// CHECK:   source         time    share
// CHECK:   published  3.593 us  100.0 %
// CHECK:   device b99f10058406d8f5, module 5a3b933b845a4e48
// CHECK:
// CHECK:
// CHECK: plain on unit
// CHECK: time              1.027 us  (1,027 cycles @ 1 GHz)
// CHECK: bound by          HBM for 100.0 % of the time
// CHECK: FLOP/s            0 FLOP/s, 0.0 % of the peak of 32.77 TFLOP/s (bf16); 0 FLOP in matmuls
// CHECK: HBM traffic       1.00 KiB (1,024 B): 512 B read, 512 B written
// CHECK: HBM bandwidth     997.1 MB/s, 99.7 % of 1 GB/s
// CHECK: perfect overlap   1.024 us  (the time of the busiest unit)
// CHECK: module            1 instruction, scheduled, from result_names.mlir
// CHECK: device            unit.yaml (built-in); slice 1x1 (no wrap-around), 1 x 1 (replicas x partitions)
// CHECK:
// CHECK: Memory spaces
// CHECK:   space      read  written      peak      mean  capacity   used  scratch  peak at
// CHECK:   hbm S(0)  512 B    512 B  1.00 KiB  1.00 KiB  1.00 GiB  0.0 %        -  step 1 (copy.1)
// CHECK:
// CHECK: Time by category
// CHECK:   category           time    share
// CHECK:   data movement  1.027 us  100.0 %
// CHECK:
// CHECK: Time by unit
// CHECK:   unit      busy   share    bounds    share
// CHECK:   HBM   1.024 us  99.7 %  1.027 us  100.0 %
// CHECK:
// CHECK: Longest instructions (time, FLOP and bytes of all their runs)
// CHECK:   instruction  line  runs      time    share  bound by  FLOP     bytes  padding
// CHECK:   copy.1         14     1  1.027 us  100.0 %  HBM          0  1.00 KiB   96.9 %
// CHECK:
// CHECK: Asynchronous copies
// CHECK:   none: the module has no copy-start
// CHECK:
// CHECK: Collectives
// CHECK:   none: the module has no collectives
// CHECK:
// CHECK: Padding
// CHECK:   2 arrays are padded. All arrays: 32 B unpadded, 1.00 KiB padded, 992 B of padding (32.0x expansion)
// CHECK:   1. Size: 512B
// CHECK:      Operator: unknown, the text has no metadata for it
// CHECK:      Shape: f32[4]{0:T(128)}
// CHECK:      Unpadded size: 16B
// CHECK:      Extra memory due to padding: 496B (32.0x expansion)
// CHECK:      XLA label: Arg_0.1 = parameter
// CHECK:      Allocation type: parameter in hbm
// CHECK:   and 1 more (--top=0 shows more)
// CHECK:
// CHECK: Assumptions
// CHECK:   - unoptimized HLO: hlosim applied its approximation of XLA:TPU's fusion and layout passes for unit
// CHECK:
// CHECK: Confidence: time by provenance of the device parameters that determine it
// CHECK:   source         time    share
// CHECK:   published  1.027 us  100.0 %
// CHECK:   device b99f10058406d8f5, module 97bb1affbef51d8e
