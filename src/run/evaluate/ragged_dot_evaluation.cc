// ragged-dot: one dimension of lhs is cut into groups whose sizes are data.
//   a free dimension:       each group of rows meets its own rhs, rows behind the last group are 0
//   a contracting one:      each group of terms has its own result
//   a batch dimension:      batches behind the last group are 0
// Operands are brought into an order in which every group's part is a plain matrix.
#include <algorithm>
#include <cstring>

#include "evaluate/dot_evaluation.h"

namespace hlosim {
namespace {

using Sizes = std::vector<int64_t>;

bool holds(const Sizes& list, int64_t i) { return std::find(list.begin(), list.end(), i) != list.end(); }

int64_t product_of(const Sizes& dimensions, const Sizes& chosen) {
  int64_t product = 1;
  for (const int64_t i : chosen) product *= dimensions[static_cast<size_t>(i)];
  return product;
}

Sizes joined(std::initializer_list<Sizes> lists) {
  Sizes all;
  for (const Sizes& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Everything in `list` before and behind `value`.
std::pair<Sizes, Sizes> split(const Sizes& list, int64_t value) {
  const auto at = std::find(list.begin(), list.end(), value);
  return {Sizes(list.begin(), at), Sizes(at == list.end() ? at : at + 1, list.end())};
}

StridedCopy transposition(const DotOperand& operand, const Sizes& order) {
  const Sizes strides = dense_strides(operand.dimensions);
  Sizes sizes, from;
  for (const int64_t i : order) {
    sizes.push_back(operand.dimensions[static_cast<size_t>(i)]);
    from.push_back(strides[static_cast<size_t>(i)]);
  }
  return StridedCopy(sizes, from, dense_strides(sizes), byte_width(operand.type));
}

struct Range {
  int64_t begin = 0, end = 0;
};

class RaggedDot {
 public:
  explicit RaggedDot(const EvaluateContext& op);

  bool supported() const { return supported_; }
  void run(Invocation& call) const;

 private:
  struct Operands {
    MemoryPool& pool;
    const std::byte *lhs, *rhs;
    std::byte* result;
  };

  void multiply(const Operands& operands, int64_t m, int64_t k) const;
  void run_free(const Operands& all, const Array& groups) const;
  void run_contracting(const Operands& all, const Array& groups) const;
  void run_batch(const Operands& all, const Array& groups) const;
  std::vector<Range> ranges(const Array& groups, int64_t prefix) const;

  DotOperand lhs_, rhs_;
  ElementType result_;
  bool supported_ = true;
  enum class Role { kFree, kContracting, kBatch } role_;
  std::optional<StridedCopy> lhs_copy_, rhs_copy_;
  std::optional<DotPlan> whole_;               // of a ragged batch
  int64_t batches_, ragged_, before_, after_;  // sizes, of the ragged dimension's kind before and behind it
  int64_t rows_, columns_, depth_;             // of a group's product, but for the ragged dimension
};

RaggedDot::RaggedDot(const EvaluateContext& op)
    : lhs_(dot_operand(op.operand_shape(0))),
      rhs_(dot_operand(op.operand_shape(1))),
      result_(op.shape()->element_type) {
  const DotRoles roles = dot_roles(op);
  const int64_t ragged = op.ints(AttrKey::kLhsRaggedDims)[0];
  Sizes rows, columns, groups;
  for (const int64_t i : op.ints(AttrKey::kRhsGroupDims)) groups.push_back(i);
  for (int64_t i = 0; i < static_cast<int64_t>(lhs_.dimensions.size()); ++i)
    if (!holds(roles.lhs_batch, i) && !holds(roles.lhs_contracting, i)) rows.push_back(i);
  for (int64_t i = 0; i < static_cast<int64_t>(rhs_.dimensions.size()); ++i)
    if (!holds(roles.rhs_batch, i) && !holds(roles.rhs_contracting, i) && !holds(groups, i))
      columns.push_back(i);
  role_ = holds(roles.lhs_batch, ragged)         ? Role::kBatch
          : holds(roles.lhs_contracting, ragged) ? Role::kContracting
                                                 : Role::kFree;
  const auto [before, after] = split(role_ == Role::kBatch         ? roles.lhs_batch
                                     : role_ == Role::kContracting ? roles.lhs_contracting
                                                                   : rows,
                                     ragged);
  const auto lhs_size = [&](const Sizes& list) { return product_of(lhs_.dimensions, list); };
  batches_ = lhs_size(roles.lhs_batch);
  ragged_ = lhs_.dimensions[static_cast<size_t>(ragged)];
  before_ = lhs_size(before);
  after_ = lhs_size(after);
  rows_ = lhs_size(rows);
  depth_ = lhs_size(roles.lhs_contracting);
  columns_ = product_of(rhs_.dimensions, columns);
  if (role_ == Role::kBatch) {
    whole_ = DotPlan::make(lhs_, rhs_, roles, result_);
    supported_ = whole_.has_value();
    return;
  }
  supported_ =
      DotPlan::make({lhs_.type, {1, 1}}, {rhs_.type, {1, 1}}, {{}, {}, {1}, {0}}, result_).has_value();
  lhs_copy_ = transposition(lhs_, joined({roles.lhs_batch, rows, roles.lhs_contracting}));
  rhs_copy_ = transposition(rhs_, joined({groups, roles.rhs_batch, roles.rhs_contracting, columns}));
}

/// The groups' parts of the ragged dimension: an element belongs to the first group whose end, the sum of the
/// sizes so far, lies behind it. `prefix`: index of the dimensions before it, where each has sizes of its
/// own.
std::vector<Range> RaggedDot::ranges(const Array& groups, int64_t prefix) const {
  const int64_t count = groups.shape->dim(groups.shape->rank() - 1);
  const int64_t first = groups.shape->rank() == 1 ? 0 : prefix * count;
  std::vector<Range> list;
  int64_t at = 0;
  uint64_t sum = 0;  // negative sizes move the ends back; sums of nonsense wrap
  for (int64_t i = 0; i < count; ++i) {
    sum += static_cast<uint64_t>(integer_at(groups, first + i));
    const int64_t end = std::clamp<int64_t>(static_cast<int64_t>(sum), at, ragged_);
    list.push_back({at, end});
    at = end;
  }
  return list;
}

/// lhs [m, k] · rhs [k, columns].
void RaggedDot::multiply(const Operands& operands, int64_t m, int64_t k) const {
  DotPlan::make({lhs_.type, {m, k}}, {rhs_.type, {k, columns_}}, {{}, {}, {1}, {0}}, result_)
      ->run(operands.pool, operands.lhs, operands.rhs, operands.result);
}

// lhs [batch, before, ragged, after, depth] · rhs [group, batch, depth, columns]
//   → [batch, before, ragged, after, columns]
void RaggedDot::run_free(const Operands& all, const Array& groups) const {
  const int64_t lhs_width = byte_width(lhs_.type), rhs_width = byte_width(rhs_.type);
  std::memset(all.result, 0, static_cast<size_t>(batches_ * rows_ * columns_ * byte_width(result_)));
  for (int64_t outer = 0; outer < batches_ * before_; ++outer) {
    int64_t group = 0;
    for (const Range range : ranges(groups, outer)) {
      const int64_t row = (outer * ragged_ + range.begin) * after_;
      const int64_t matrix = group++ * batches_ + outer / before_;
      if (range.begin == range.end) continue;
      multiply(
          {all.pool, all.lhs + row * depth_ * lhs_width, all.rhs + matrix * depth_ * columns_ * rhs_width,
           all.result + row * columns_ * byte_width(result_)},
          (range.end - range.begin) * after_, depth_);
    }
  }
}

// lhs [batch, rows, before, ragged, after] · rhs [batch, before, ragged, after, columns]
//   → [group, batch, rows, columns]
void RaggedDot::run_contracting(const Operands& all, const Array& groups) const {
  const int64_t lhs_width = byte_width(lhs_.type), rhs_width = byte_width(rhs_.type);
  const int64_t group_count = groups.shape->dim(groups.shape->rank() - 1);
  const Buffer lhs = all.pool.allocate(rows_ * depth_ * lhs_width);
  const Buffer rhs = all.pool.allocate(depth_ * columns_ * rhs_width);
  for (int64_t batch = 0; batch < batches_; ++batch) {
    for (int64_t group = 0; group < group_count; ++group) {
      std::vector<Range> parts;  // of depth
      int64_t k = 0;
      for (int64_t outer = 0; outer < before_; ++outer) {
        const Range range = ranges(groups, batch * before_ + outer)[static_cast<size_t>(group)];
        const int64_t first = outer * ragged_;
        parts.push_back({(first + range.begin) * after_, (first + range.end) * after_});
        k += parts.back().end - parts.back().begin;
      }
      int64_t at = 0;
      for (const Range part : parts) {
        const int64_t size = part.end - part.begin;
        StridedCopy(Sizes{rows_, size}, Sizes{depth_, 1}, Sizes{k, 1}, lhs_width)
            .run(all.lhs + (batch * rows_ * depth_ + part.begin) * lhs_width, lhs.data() + at * lhs_width);
        std::memcpy(rhs.data() + at * columns_ * rhs_width,
                    all.rhs + (batch * depth_ + part.begin) * columns_ * rhs_width,
                    static_cast<size_t>(size * columns_ * rhs_width));
        at += size;
      }
      multiply({all.pool, lhs.data(), rhs.data(),
                all.result + (group * batches_ + batch) * rows_ * columns_ * byte_width(result_)},
               rows_, k);
    }
  }
}

// result [before, ragged, after, rows, columns]
void RaggedDot::run_batch(const Operands& all, const Array& groups) const {
  whole_->run(all.pool, all.lhs, all.rhs, all.result);
  const int64_t block = after_ * rows_ * columns_ * byte_width(result_);
  for (int64_t outer = 0; outer < before_; ++outer) {
    const std::vector<Range> list = ranges(groups, outer);
    const int64_t end = list.empty() ? 0 : list.back().end;
    std::memset(all.result + (outer * ragged_ + end) * block, 0,
                static_cast<size_t>((ragged_ - end) * block));
  }
}

void RaggedDot::run(Invocation& call) const {
  MemoryPool& pool = call.device().pool();
  const Array& result = call.make_result();
  const Array& groups = call.operand(2);
  if (result.count() == 0) return;
  Operands all{pool, call.operand(0).bytes(), call.operand(1).bytes(), result.bytes()};
  if (role_ == Role::kBatch) return run_batch(all, groups);
  const Buffer lhs = pool.allocate(data_bytes(call.operand(0).shape));
  const Buffer rhs = pool.allocate(data_bytes(call.operand(1).shape));
  lhs_copy_->run(all.lhs, lhs.data());
  rhs_copy_->run(all.rhs, rhs.data());
  all.lhs = lhs.data();
  all.rhs = rhs.data();
  if (role_ == Role::kFree)
    run_free(all, groups);
  else
    run_contracting(all, groups);
}

}  // namespace

Evaluation evaluate_ragged_dot(EvaluateContext& op) {
  RaggedDot ragged(op);
  if (!ragged.supported()) return op.unsupported();
  return [ragged = std::move(ragged)](Invocation& call) { ragged.run(call); };
}

}  // namespace hlosim
