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
