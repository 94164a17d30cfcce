#include "ops/work.h"

namespace hlosim {

Work work_of(const OpContext& op, const VectorShape& vector) {
  Work work;
  work.vector = vector;
  work.operand_read.reserve(static_cast<size_t>(op.operand_count()));
  for (int64_t i = 0; i < op.operand_count(); ++i) work.operand_read.push_back(op.operand_shape(i));
  work.result_written = op.shape();
  if (op.def().has(kFree)) {
    work.operand_read.assign(work.operand_read.size(), nullptr);
    work.result_written = nullptr;
  }
  if (op.def().work) op.def().work(op, work);
  return work;
}

}  // namespace hlosim
