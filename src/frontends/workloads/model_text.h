// A model as the text of a model file.
//
//   write_file("llama.yaml", model_text(model))    // read_model_config() reads the same model back
#pragma once

#include <string>

#include "workloads/model_config.h"

namespace hlosim {

/// YAML with the keys of docs/models.md. Keys that have their default are left out.
std::string model_text(const ModelConfig& model);

}  // namespace hlosim
