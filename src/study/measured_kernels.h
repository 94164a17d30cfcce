// Measured kernels: entries of a file of measured cases with `kernel`, `args` and `blocks` in place of a
// module.
//
//   {"kernel": "flash_attention", "args": {"q": "bf16[1,8192,16,128]", …, "mask": {"is_causal": true}},
//    "blocks": {"block_q": 1024, "block_kv": 1024, "block_kv_compute": 512}, …}
#pragma once

#include "base/source.h"
#include "base/value.h"
#include "report/kernel_request.h"

namespace hlosim {

/// Arguments as the library's own tables of measurements name them. `blocks` may be null: the best that
/// fit, or what servers take. Errors: what isn't modelled, or read_kernel()'s.
Result<KernelRequest> read_measured_kernel(const Value& kernel, const Value* arguments, const Value* blocks);

}  // namespace hlosim
