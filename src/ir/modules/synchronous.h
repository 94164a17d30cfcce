// Operations that go on while others run, as what they do.
//
//   Module plain = synchronous(module, op_table());   // all-gather-start, all-gather-done: an all-gather
//   async_form(Opcode::kAllGather);                   // and the way back: modules/async_forms.h
#pragma once

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// A copy of `module` in which one instruction stands where the done stood: the collective, the copy, or a
/// call of what an async-start wraps. Sends and receives stay, and so do pairs whose start the done doesn't
/// name itself, or is seen otherwise: those that go through tuples or loops. Requires: a verified module.
Module synchronous(const Module& module, const OpTable& table);

}  // namespace hlosim
