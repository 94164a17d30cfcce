#include "stablehlo/locations.h"

#include <fmt/format.h>

#include "hlo/module_builder.h"

namespace hlosim::stablehlo {
namespace {

constexpr int kDeepest = 1000;

/// The first file in it, in the order callee, caller; null: there is none.
const mlir::Location* innermost_file(const mlir::Location& location, int depth = 0) {
  if (location.kind == mlir::LocationKind::kFile) return &location;
  if (depth > kDeepest) return nullptr;
  for (const mlir::Location* inner : location.inner)
    if (const mlir::Location* file = inner ? innermost_file(*inner, depth + 1) : nullptr) return file;
  return nullptr;
}

}  // namespace

std::string_view location_name(const mlir::Location* location) {
  for (int depth = 0; location && depth < kDeepest; ++depth) {
    if (location->kind == mlir::LocationKind::kName) return location->text;
    location = location->inner.empty() ? nullptr : location->inner[0];
  }
  return {};
}

std::string metadata_text(const mlir::Location& location) {
  std::string text;
  if (const std::string_view name = location_name(&location); !name.empty())
    text += fmt::format("op_name=\"{}\"", escaped(name));
  if (const mlir::Location* file = innermost_file(location); file && !file->text.empty())
    text += fmt::format("{}source_file=\"{}\" source_line={}", text.empty() ? "" : " ", escaped(file->text),
                        file->line);
  return text.empty() ? text : fmt::format("{{{}}}", text);
}

}  // namespace hlosim::stablehlo
