// What shows of a module that it is one device's part of a program.
//
//   mark_partitioned(made.module, op_table())      // frontend_attributes={hlosim.partitioned="true"}
//   is_marked_partitioned(module)                  // true: also when its text was written and read again
//
// The text of a program without collectives doesn't show whether its shapes are global ones or those of the
// parts: shardings of parameters and results stay either way. Nor does that of one in which notes of
// shardings were left.
#pragma once

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// It has collectives, or asks which partition it runs as.
bool exchanges_data(const Module& module, const OpTable& table);

/// It has calls of which a partitioner leaves none or few: what arrays are sharded as, where manual regions
/// begin and end.
bool has_sharding_notes(const Module& module);

/// An attribute in the header, for programs of several partitions that exchange no data or still have such
/// calls.
void mark_partitioned(Module& module, const OpTable& table);
bool is_marked_partitioned(const Module& module);

}  // namespace hlosim
