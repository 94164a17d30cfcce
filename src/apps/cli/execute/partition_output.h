// Output of `hlosim partition`: the added collectives, and the outcome of --check, as text and as JSON.
#pragma once

#include <string>

#include "hlo/module.h"
#include "partition/partition.h"
#include "partition_check/partition_check.h"
#include "text/json.h"

namespace hlosim {

/// A line per added collective and per replicated instruction, and one of totals. `module`: the original one,
/// for places in its source.
std::string partition_text(const Module& module, const Partitioned& made);

/// {"module", "devices", "collectives", "sent_bytes", "reshardings": […], "replicated": […]}.
Json partition_json(const Module& module, const Partitioned& made);

/// A line per output.
std::string check_text(const PartitionCheck& check);

/// {"agrees", "outputs": [{"shape", "agrees", "device", "compared", "different", "outside", "max_abs"}]}.
Json check_json(const PartitionCheck& check);

}  // namespace hlosim
