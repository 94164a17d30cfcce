#include "hlo/shifted_slices.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "base/rounding.h"

namespace hlosim {
namespace {

/// The numbers of `key=3` or `key=[3,4]`; empty: there are none.
std::vector<int64_t> numbers_of(std::string_view config, std::string_view key) {
  const std::string word = std::string(key) + "=";
  size_t at = config.find(word);
  while (at != std::string_view::npos && at > 0 && config[at - 1] != ',' && config[at - 1] != '"')
    at = config.find(word, at + 1);
  std::vector<int64_t> numbers;
  if (at == std::string_view::npos) return numbers;
  std::string_view rest = config.substr(at + word.size());
  const bool is_list = rest.starts_with('[');
  if (is_list) rest.remove_prefix(1);
  for (;;) {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    int64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (!is_list || !rest.starts_with(',')) break;
    rest.remove_prefix(1);
  }
  return numbers;
}

std::optional<ShiftedSlices> rotation(const OpContext& op, ShapeRef from, int64_t dimension, int64_t amount) {
  if (op.shape()->kind != from->kind || op.shape()->element_type != from->element_type ||
      !std::ranges::equal(op.shape()->dimensions, from->dimensions))
    return std::nullopt;
  const int64_t size = from->dim(dimension);
  ShiftedSlices made;
  made.dimension = dimension;
  made.rotates_by = size == 0 ? 0 : (amount % size + size) % size;
  return made;
}

/// Does result `to` have the sizes of this slice?
bool fits(ShapeRef from, ShapeRef to, const std::vector<std::array<int64_t, 3>>& slice) {
  if (!to->is_array() || to->rank() != from->rank() || to->element_type != from->element_type) return false;
  for (int64_t i = 0; i < from->rank(); ++i) {
    const auto& [start, limit, stride] = slice[static_cast<size_t>(i)];
    if (start < 0 || limit < start || limit > from->dim(i) || stride < 1 ||
        to->dim(i) != ceil_div(limit - start, stride))
      return false;
  }
  return true;
}

}  // namespace

std::optional<ShiftedSlices> shifted_slices(const OpContext& op) {
  const std::string_view target = op.text(AttrKey::kCustomCallTarget);  // with its quotes
  const bool rotates = target == "\"_SPMDInternalOp_RotateRight\"",
             slices = target == "\"_SPMDInternalOp_MultiSlice\"" || target == "\"_SPMDOp_MultiSlice\"";
  if ((!rotates && !slices) || op.operand_count() != 1 || !op.operand_shape(0)->is_array())
    return std::nullopt;
  const ShapeRef from = op.operand_shape(0);
  const std::string_view config = op.text(AttrKey::kBackendConfig);
  const std::vector<int64_t> dimension = numbers_of(config, "dimension"),
                             amount = numbers_of(config, "amount");
  if (dimension.size() != 1 || amount.size() != 1 || dimension[0] < 0 || dimension[0] >= from->rank())
    return std::nullopt;
  if (rotates) return rotation(op, from, dimension[0], amount[0]);
  const std::vector<int64_t> starts = numbers_of(config, "start_indices"),
                             limits = numbers_of(config, "limit_indices"),
                             strides = numbers_of(config, "strides");
  const auto rank = static_cast<size_t>(from->rank());
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank) return std::nullopt;
  ShiftedSlices made;
  made.dimension = dimension[0];
  bool all_fit = true;
  for_each_leaf(op.shape(), [&](ShapeRef to) {
    const auto shift = static_cast<int64_t>(made.slices.size());
    std::vector<std::array<int64_t, 3>>& slice = made.slices.emplace_back();
    for (size_t i = 0; i < rank; ++i) {
      const int64_t by = static_cast<int64_t>(i) == dimension[0] ? shift : 0;
      slice.push_back({starts[i] + by, limits[i] + by, strides[i]});
    }
    all_fit = all_fit && fits(from, to, slice);
  });
  if (!all_fit || static_cast<int64_t>(made.slices.size()) != amount[0] + 1) return std::nullopt;
  return made;
}

}  // namespace hlosim
