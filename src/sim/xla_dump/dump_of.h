// What XLA would have dumped of a module.
#pragma once

#include "buffers/buffer_analysis.h"
#include "hlo/op_def.h"
#include "xla_dump/dump.h"

namespace hlosim {

/// In the dialect of `era`; without addresses, which can't be known.
BufferDump dump_of(const BufferAnalysis& analysis, const OpTable& table, Era era);

/// Attributes of one allocation as its line in a dump has them, its values left out.
DumpAllocation describe_allocation(const BufferAnalysis& analysis, int32_t number, Era era);

}  // namespace hlosim
