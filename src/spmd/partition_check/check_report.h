// The outcome of check_partition() as text and as JSON.
#pragma once

#include <string>

#include "partition_check/partition_check.h"
#include "text/json.h"

namespace hlosim {

/// A line per output.
std::string check_text(const PartitionCheck& check);

/// {"agrees", "outputs": [{"shape", "agrees", "device", "compared", "different", "outside", "max_abs"}]}.
Json check_json(const PartitionCheck& check);

}  // namespace hlosim
