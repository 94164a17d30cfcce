#!/usr/bin/env python3
"""Writes StableHLO text of a given size: layers of a transformer, as frontends print them.

    bench/make_mlir.py 5000 > transformer.mlir    # about 5,000 operations
"""
import sys

LAYER = """\
    %{0} = stablehlo.dot_general %{p}, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16> loc(#loc{l})
    %{1} = stablehlo.convert %{0} : (tensor<256x512xbf16>) -> tensor<256x512xf32> loc(#loc{l})
    %{2} = stablehlo.reduce(%{1} init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<256x512xf32>, tensor<f32>) -> tensor<256xf32> loc(#loc{l})
    %{3} = stablehlo.broadcast_in_dim %{2}, dims = [0] : (tensor<256xf32>) -> tensor<256x512xf32> loc(#loc{l})
    %{4} = stablehlo.subtract %{1}, %{3} : tensor<256x512xf32> loc(#loc{l})
    %{5} = stablehlo.compare GT, %{4}, %{3}, FLOAT : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<256x512xi1> loc(#loc{l})
    %{6} = stablehlo.select %{5}, %{4}, %{1} : tensor<256x512xi1>, tensor<256x512xf32> loc(#loc{l})
    %{7} = stablehlo.tanh %{6} : tensor<256x512xf32> loc(#loc{l})
    %{8} = stablehlo.slice %{7} [0:256, 0:256] : (tensor<256x512xf32>) -> tensor<256x256xf32> loc(#loc{l})
    %{9} = stablehlo.concatenate %{8}, %{8}, dim = 1 : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x512xf32> loc(#loc{l})
    %{10} = stablehlo.convert %{9} : (tensor<256x512xf32>) -> tensor<256x512xbf16> loc(#loc{l})
"""
PER_LAYER = 11


def main():
    operations = int(sys.argv[1])
    layers = max(1, operations // PER_LAYER)
    out = ["#loc = loc(unknown)\n", "module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {\n"]
    out.append("  func.func public @main(%arg0: tensor<256x512xbf16>, %arg1: tensor<512x512xbf16>) -> tensor<256x512xbf16> {\n")
    out.append("    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32> loc(#loc)\n")
    previous = "arg0"
    for layer in range(layers):
        first = layer * PER_LAYER
        out.append(LAYER.format(*range(first, first + PER_LAYER), p=previous, l=layer % 50 + 1))
        previous = first + PER_LAYER - 1
    out.append(f"    return %{previous} : tensor<256x512xbf16>\n  }}\n}}\n")
    for line in range(1, 51):
        out.append(f'#loc{line} = loc("jit(step)/layer_{line}/dot_general"("model.py":{line}:12))\n')
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
