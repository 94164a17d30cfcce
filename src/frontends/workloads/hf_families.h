// What each family of config.json adds to the sizes that all have. A new family is a function here and a row
// in hf_config.cc.
#pragma once

#include "workloads/hf_reader.h"

namespace hlosim {

// hf_llama.cc
void read_llama(HfReader& reader);
void read_mistral(HfReader& reader);
void read_mixtral(HfReader& reader);
void read_llama4(HfReader& reader);
void read_gpt_oss(HfReader& reader);

// hf_qwen.cc
void read_qwen2(HfReader& reader);
void read_qwen3(HfReader& reader);
void read_qwen2_moe(HfReader& reader);
void read_qwen3_moe(HfReader& reader);

// hf_gemma.cc
void read_gemma(HfReader& reader);
void read_gemma2(HfReader& reader);
void read_gemma3(HfReader& reader);
void read_gemma4(HfReader& reader);

// hf_deepseek.cc
void read_deepseek_v2(HfReader& reader);
void read_deepseek_v3(HfReader& reader);

}  // namespace hlosim
