// Modules as the user wants them laid over devices: `--partitions`, `--mesh`, `--shard`, and what follows.
//
//   ShardingRequest request;
//   declare_sharding(line, request);               // the options
//   const std::optional<Propagated> whole = propagated_module(module, request, streams);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "hlo/module.h"
#include "propagate/propagate.h"

namespace hlosim {

struct ShardingRequest {
  int64_t partitions = 0;  // 0: not said
  std::string mesh;        // empty: not said
  std::vector<std::string> statements;
  std::string order, topology;  // of the mesh on a torus; empty: devices stand in order
  bool some_devices = false;    // shardings may be over some of a machine's, the same ones
};

/// `--partitions`, `--mesh`, `--shard`, `--mesh-order`, `--topology`; `request` outlives the line.
void declare_sharding(CommandLine& line, ShardingRequest& request);

/// The module with the user's statements, and all that follows from them and from its own. Null, with what is
/// wrong printed; warnings are printed too.
std::optional<Propagated> propagated_module(const Module& module, const ShardingRequest& request,
                                            Streams streams);

/// The module's text; behind each instruction, as a comment, who decided its sharding.
std::string text_with_decisions(const Propagated& propagated);

}  // namespace hlosim
