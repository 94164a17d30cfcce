// The model of tests whose experts are on several devices.
#pragma once

#include "workloads/model_config.h"

namespace hlosim::test {

/// Two layers, eight experts of which each token takes two.
inline ModelConfig small_expert_model() {
  ModelConfig model;
  model.name = "m", model.layers = 2, model.d_model = 8, model.d_ff = 12, model.q_heads = 4;
  model.kv_heads = 4, model.head_dim = 4, model.vocab = 12;
  MoeConfig& moe = model.moe.emplace();
  moe.experts = 8, moe.top_k = 2, moe.d_ff = 8;
  return model;
}

}  // namespace hlosim::test
