// Results that are the operand's elements at other indices: the `view` of a row (hlo/op_def.h).
//
//   StridedView turned;
//   if (view_transpose(op, dense_view(op.operand_shape(0)->dimensions), turned)) …turned.strides…
#pragma once

#include "hlo/op_def.h"
#include "layout/strided_view.h"

namespace hlosim {

// Where the result's elements lie among the operand's. False where they change type or strides can't say it.
bool view_copy(const OpContext& op, const StridedView& operand, StridedView& result);
bool view_bitcast(const OpContext& op, const StridedView& operand, StridedView& result);
bool view_broadcast(const OpContext& op, const StridedView& operand, StridedView& result);
bool view_reshape(const OpContext& op, const StridedView& operand, StridedView& result);
bool view_reverse(const OpContext& op, const StridedView& operand, StridedView& result);
bool view_slice(const OpContext& op, const StridedView& operand, StridedView& result);
bool view_transpose(const OpContext& op, const StridedView& operand, StridedView& result);

}  // namespace hlosim
