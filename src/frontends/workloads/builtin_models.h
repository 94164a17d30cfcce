// The model files of examples/models, embedded into the library when it is built (cmake/embed_files.cmake).
//
//   for (const BuiltinModel& model : builtin_models()) std::cout << model.name << '\n';  // gemma2-9b, …
#pragma once

#include <span>
#include <string_view>

namespace hlosim {

struct BuiltinModel {
  std::string_view name;  // "llama3-8b"
  std::string_view text;
};

/// By name.
std::span<const BuiltinModel> builtin_models();

}  // namespace hlosim
