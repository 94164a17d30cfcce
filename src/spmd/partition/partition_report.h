// The collectives that partition() added, as text and as JSON.
#pragma once

#include <string>

#include "hlo/module.h"
#include "partition/partition.h"
#include "text/json.h"

namespace hlosim {

/// A line per added collective and per replicated instruction, and one of totals. `module`: the original one,
/// for places in its source.
std::string partition_text(const Module& module, const Partitioned& made);

/// {"module", "devices", "collectives", "sent_bytes", "reshardings": […], "replicated": […]}.
Json partition_json(const Module& module, const Partitioned& made);

}  // namespace hlosim
