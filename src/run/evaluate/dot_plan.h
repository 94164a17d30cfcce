// A product of two dense arrays over named dimensions, planned once and run many times.
//
//   lhs [b, m0, k, m1] · rhs [k, b, n]  with batch b and contracting k  →  result [b, m0, m1, n]
//
// The kernel sees one stride per part (rows, columns, depth). Where the dimensions of a part are no
// multiples of each other in memory, as m0 and m1 here, the operand is first copied to [batch, rows, depth].
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "array/memory_pool.h"
#include "cpu_kernels/element.h"
#include "cpu_kernels/matmul.h"
#include "cpu_kernels/strided_copy.h"
#include "ops/dot_roles.h"

namespace hlosim {

/// Every value, or for integers every value modulo 2^width, comes through.
bool converts_losslessly(ElementType from, ElementType to);

struct DotOperand {
  ElementType type = ElementType::kInvalid;
  std::vector<int64_t> dimensions;
};

/// Elements of one type made into those of another, `count` at a time, on several threads when it is worth
/// it.
struct ConvertElements {
  ConvertElements() = default;
  ConvertElements(ElementType source, ElementType target);
  bool supported() const { return from == to || kernel; }
  void run(const std::byte* from, std::byte* to, int64_t count) const;

  ElementType from = ElementType::kInvalid, to = ElementType::kInvalid;
  ElementKernel kernel;
};

/// Adds what brings elements of type `from` through the types of `steps` one after the other. False: there is
/// no such conversion.
bool append_conversions(ElementType from, std::span<const ElementType> steps,
                        std::vector<ConvertElements>& list);

class DotPlan {
 public:
  /// Operands are converted to the result's type first where that loses something, as XLA's evaluator does;
  /// floats of 16 bits and less are summed in f32 and rounded once, integers wrap, pred is an or of ands.
  /// Null: there is no product of such types.
  static std::optional<DotPlan> make(const DotOperand& lhs, const DotOperand& rhs, const DotRoles& roles,
                                     ElementType result);

  /// `result`: batch dimensions, free ones of lhs, free ones of rhs, dense.
  void run(MemoryPool& pool, const std::byte* lhs, const std::byte* rhs, std::byte* result) const;

 private:
  /// What is done to an operand before the product.
  struct Preparation {
    int64_t count = 0;  // elements
    std::vector<ConvertElements> conversions;
    std::optional<StridedCopy> copy;
    int64_t width = 0;  // bytes of an element after the conversions
  };
  static const std::byte* prepare(const Preparation& preparation, MemoryPool& pool, const std::byte* data,
                                  Buffer& kept);

  Preparation lhs_, rhs_;
  Matmul matmul_;
  std::vector<MatmulBatch> batch_;
  int64_t result_count_ = 0;
  std::vector<ConvertElements> result_conversions_;  // at most one
};

}  // namespace hlosim
