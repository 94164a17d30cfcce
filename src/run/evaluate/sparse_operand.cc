#include "evaluate/sparse_operand.h"

#include <algorithm>
#include <cstring>

namespace hlosim {

std::optional<SparseOperand> SparseOperand::make(const OperandSparsity& sparsity, ShapeRef operand,
                                                 ShapeRef metadata) {
  if (sparsity.stride != 1 || !metadata->is_array() || !is_integer(metadata->element_type) ||
      !std::equal(operand->dimensions.begin(), operand->dimensions.end(), metadata->dimensions.begin(),
                  metadata->dimensions.end()))
    return std::nullopt;
  SparseOperand sparse;
  sparse.sparsity_ = sparsity;
  sparse.full_.assign(operand->dimensions.begin(), operand->dimensions.end());
  for (int64_t i = 0; i < operand->rank(); ++i)
    (i < sparsity.dimension    ? sparse.outer_
     : i == sparsity.dimension ? sparse.size_
                               : sparse.inner_) *= operand->dim(i);
  if (sparse.size_ % sparsity.kept != 0) return std::nullopt;
  sparse.full_[static_cast<size_t>(sparsity.dimension)] = sparse.size_ / sparsity.kept * sparsity.of;
  return sparse;
}

Buffer SparseOperand::expand(const Array& operand, const Array& metadata, MemoryPool& pool) const {
  const auto width = static_cast<size_t>(byte_width(operand.type()));
  const int64_t full = size_ / sparsity_.kept * sparsity_.of;
  Buffer expanded = pool.allocate(outer_ * full * inner_ * static_cast<int64_t>(width));
  std::memset(expanded.data(), 0, static_cast<size_t>(outer_ * full * inner_) * width);
  for (int64_t outer = 0; outer < outer_; ++outer)
    for (int64_t i = 0; i < size_; ++i)
      for (int64_t inner = 0; inner < inner_; ++inner) {
        const int64_t from = (outer * size_ + i) * inner_ + inner;
        const int64_t chosen = integer_at(metadata, from);
        if (chosen < 0 || chosen >= sparsity_.of) return {};
        const int64_t to = (outer * full + i / sparsity_.kept * sparsity_.of + chosen) * inner_ + inner;
        std::memcpy(expanded.data() + static_cast<size_t>(to) * width,
                    operand.bytes() + static_cast<size_t>(from) * width, width);
      }
  return expanded;
}

}  // namespace hlosim
