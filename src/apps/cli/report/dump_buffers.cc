#include "cli/report/dump_buffers.h"

#include "console/input.h"
#include "console/verbosity.h"
#include "xla_dump/dump.h"

namespace hlosim {

std::optional<Bytes> xla_allocates(const DumpedModule& dumped, Streams streams) {
  if (dumped.buffers.empty()) return std::nullopt;
  const Result<SourcePtr> source = read_input(dumped.buffers, streams);
  const Result<BufferDump> dump = source ? read_dump(*source) : tl::unexpected(source.error());
  if (dump) {
    Bytes sum{};  // not every dump has its total
    for (const DumpAllocation& allocation : dump->allocations) sum += Bytes(allocation.size);
    return sum;
  }
  Diagnostic warning = dump.error();
  warning.severity = Severity::kWarning;
  tell(warning, streams);
  return std::nullopt;
}

}  // namespace hlosim
