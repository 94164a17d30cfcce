// What flags tell the compiler to do with a module that none has touched: which collectives run beside the
// TensorCore, and how copies to the host's memory are spread.
//
//   const CompilerChoices choices = compiler_choices(flags, device.config, problems);
//   lower_as(module, table, device, options, {}, choices)
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/source.h"
#include "flags/xla_flags.h"
#include "model/device.h"

namespace hlosim {

struct CompilerChoices {
  /// All-gathers that TensorCores drive go on beside products (asynchronous collective fusion). Compilers do
  /// so
  /// unasked since 2024; else the TensorCore waits for them.
  bool fused_gathers = true;
  // Collectives that SparseCores drive beside the TensorCore, by kind.
  bool offload_all_gathers = false, offload_all_reduces = false, offload_reduce_scatters = false;
  /// Copies to and from the host's memory that are under way at a time. More than one: loops read ahead and
  /// write behind.
  int64_t overlapped_host_copies = 1;
  /// MiB from which a product's gathered operand, or its summands, go round as a ring beside parts of the
  /// product; none: not given.
  std::optional<int64_t> windowed_einsum_mib;
};

/// Of a flag given twice the last one counts. Errors, at the value: not true or false, no number from 1 on.
/// Notes: flags of SparseCores that the device hasn't.
CompilerChoices compiler_choices(std::span<const XlaFlag> flags, const DeviceConfig& device,
                                 DiagnosticList& problems);

}  // namespace hlosim
