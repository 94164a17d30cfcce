// A module of the same form with smaller sizes: the same instructions under the same names, the same fusions,
// loops, collectives, layouts and schedule. What can't be run or handed on at its size can be at a smaller
// one.
//
//   const Result<Shrunk> small = shrink(module, op_table(), {.scale = 64, .layers = 1});
//   std::cout << to_text(small->module, op_table());
//   for (const std::string& warning : small->warnings) std::cerr << warning << '\n';
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// By what a dimension of an instruction's result shrinks has to divide `number`.
struct ShrinkBound {
  InstructionId id;
  int64_t leaf = 0, dimension = 0;
  int64_t number = 0;
};

struct ShrinkOptions {
  int64_t scale = 1;     // each dimension is divided by a divisor of it, as large as the program lets it be
  int64_t min_size = 8;  // by which none gets smaller than this
  int64_t layers = 0;    // turns of loops that run once per layer; 0: as they are
  std::vector<ShrinkBound> bounds{};  // besides
};

struct Shrunk {
  Module module;
  std::vector<std::string> notes;     // what isn't as it was, besides the sizes
  std::vector<std::string> warnings;  // what was asked for and not done
};

/// The result is verified. Error: a scale, a size or a number of layers that is no such thing.
/// Requires: a verified module.
Result<Shrunk> shrink(const Module& module, const OpTable& table, const ShrinkOptions& options);

}  // namespace hlosim
