// What the user says of a module's arrays: `--shard 'PARAM-REGEX=[model,data]'`.
//
//   std::vector<ShardStatement> said = {*parse_statement("params.*kernel=[data,model]", mesh)};
//   const Result<Stated> stated = state_shardings(module, mesh, said);
//   stated->module                                     // with sharding= on the entry's parameters
//   stated->unused                                     // statements that no name matches
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "hlo/module.h"
#include "sharding/mesh.h"

namespace hlosim {

struct ShardStatement {
  std::string text;  // as the user wrote it
  Pattern names;
  AxisSharding sharding;
};

/// `REGEX=[axes]`; the last `=[` divides. Errors are placed in the text.
Result<ShardStatement> parse_statement(std::string_view text, const Mesh& mesh, std::string name = "--shard");

struct Stated {
  Module module;
  std::vector<size_t> unused;  // statements that match nothing, by number
};

/// The shardings of the entry's parameters whose name or op_name a statement's expression matches as a whole,
/// or of the element of a tuple, whose name has its index behind it (`state.0.1`). Of several statements the
/// last holds; a statement holds against what the module says. Errors: another number of dimensions, more
/// shards than elements.
Result<Stated> state_shardings(const Module& module, const Mesh& mesh,
                               const std::vector<ShardStatement>& statements);

}  // namespace hlosim
