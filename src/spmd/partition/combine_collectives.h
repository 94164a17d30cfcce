// Small collectives that don't wait for each other, as one.
//
//   combine_collectives(made, options);
//   made.reshardings[0].together                   // 3: it is one with two others
#pragma once

#include "partition/partition.h"

namespace hlosim {

/// Of those that partitioning added: all-reduces, all-gathers along one dimension and reduce-scatters along
/// one, between the same devices, with as many collectives before them on the longest way from the inputs, so
/// that none needs another one's result. In the order of the program, as many as `options` allow bytes, at
/// most 256. What does the same to one array is there once, whatever the bytes.
void combine_collectives(Partitioned& made, const PartitionOptions& options);

}  // namespace hlosim
