// An operand with N:M sparsity at its full size: of each M elements along a dimension N are stored, and an
// integer of the metadata operand, which has the same shape, says for each stored one which of the M it is.
//
//   const auto lhs = SparseOperand::make(sparsity, operand, metadata);
//   const Buffer dense = lhs->expand(values, indices, pool);  // lhs->dimensions() of them
#pragma once

#include <optional>
#include <vector>

#include "array/array.h"
#include "ops/sparsity.h"

namespace hlosim {

class SparseOperand {
 public:
  /// Nullopt: blocks whose elements are apart (stride other than 1), or metadata of another shape.
  static std::optional<SparseOperand> make(const OperandSparsity& sparsity, ShapeRef operand,
                                           ShapeRef metadata);

  const std::vector<int64_t>& dimensions() const { return full_; }
  size_t metadata_operand() const { return static_cast<size_t>(sparsity_.metadata_operand); }

  /// Dense elements, zeros where nothing is stored; null when an index is outside of its block.
  Buffer expand(const Array& operand, const Array& metadata, MemoryPool& pool) const;

 private:
  OperandSparsity sparsity_;
  std::vector<int64_t> full_;
  int64_t outer_ = 1, size_ = 1, inner_ = 1;  // of the stored operand: before, along and behind the dimension
};

}  // namespace hlosim
