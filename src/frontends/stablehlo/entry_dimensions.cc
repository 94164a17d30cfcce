// Lowering: sizes for the dynamic dimensions of an entry's arguments.
#include <fmt/format.h>

#include "stablehlo/lowering.h"
#include "stablehlo/types.h"

namespace hlosim::stablehlo {

/// The size that options give to the name under which the file around the program knows a dimension.
std::optional<int64_t> Lowering::size_by_name(size_t argument, size_t dimension) {
  const std::string_view name = facts_.size_text(argument, dimension);
  if (name.empty()) return std::nullopt;
  for (const DimensionSize& given : options_.dimensions) {
    if (given.name != name) continue;
    used_names_.insert(given.name);
    return given.size;
  }
  return std::nullopt;
}

/// Name `argI.D` is dimension D of argument I; a name that the file around the program uses is every
/// dimension of that name; any other name, and none, stands for the next one in order.
ShapeRef Lowering::entry_shape(const mlir::Value& argument, uint32_t offset) {
  if (!is_dynamic(*argument.type) || argument.type->kind != mlir::TypeKind::kTensor ||
      options_.dimensions.empty())
    return argument_shape(argument, offset);
  std::vector<int64_t> dims(argument.type->dims.begin(), argument.type->dims.end());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != mlir::kDynamic) continue;
    const std::string place = fmt::format("arg{}.{}", argument.number, i);
    for (const DimensionSize& given : options_.dimensions)
      if (given.name == place) dims[i] = given.size;
    if (dims[i] != mlir::kDynamic) continue;
    if (const auto size = size_by_name(argument.number, i)) {
      dims[i] = *size;
      continue;
    }
    std::vector<int64_t> sizes;
    for (const DimensionSize& given : options_.dimensions)
      if (!given.name.starts_with("arg") && !used_names_.contains(given.name)) sizes.push_back(given.size);
    // One size is that of all.
    if (sizes.size() == 1) dims[i] = sizes[0];
    if (sizes.size() > 1 && next_dimension_ < sizes.size()) dims[i] = sizes[next_dimension_++];
  }
  mlir::Type sized = *argument.type;
  sized.dims = dims;
  return argument_shape(argument, sized, offset);
}

bool Lowering::check_dimensions(const mlir::Operation& function) {
  size_t in_order = 0;
  for (const DimensionSize& given : options_.dimensions)
    in_order += !given.name.starts_with("arg") && !used_names_.contains(given.name);
  if (in_order <= 1 || next_dimension_ == in_order) return true;
  builder_.fail(function.offset,
                fmt::format("{} sizes are given, but the arguments have {} dynamic dimensions", in_order,
                            next_dimension_));
  return false;
}

}  // namespace hlosim::stablehlo
