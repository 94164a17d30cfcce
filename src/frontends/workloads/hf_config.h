// A Hugging Face config.json as a model.
//
//   const Result<ImportedModel> model = read_hf_config(source);
//   model->notes                                   // keys of the file that nothing here models
#pragma once

#include <string_view>
#include <vector>

#include "base/source.h"
#include "workloads/model_config.h"

namespace hlosim {

struct ImportedModel {
  ModelConfig model;
  std::vector<Diagnostic> notes;  // warnings with their places: keys that are not known, or not modelled
};

/// Reads the families of `hf_families()`, by model_type, or by the first of architectures where that is
/// absent. A model with a vision or an audio part is its text_config; the parts are notes. Sizes are
/// elements. Errors, with their place: wrong syntax, another family, missing sizes, values that model files
/// can't express.
Result<ImportedModel> read_hf_config(const SourcePtr& source);

/// "llama", "mistral", ...: values of model_type.
std::vector<std::string_view> hf_families();

}  // namespace hlosim
