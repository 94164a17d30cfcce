// What mutations draw from: the inputs of one form, and their parts.
//
//   PoolMaker maker;
//   maker.add("mlp.hlo", text);
//   const Pool pool = maker.finish();
//   pool.seeds[random.below(pool.seeds.size())].text;
//   pool.attributes.at("dimensions")               // "dimensions={0}", "dimensions={1,0}", …
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "module_text.h"
#include "random.h"
#include "tokens.h"

namespace hlosim::fuzz {

struct Seed {
  std::string name, text;
  std::optional<ModuleText> module;  // where it is one as the printer writes it
};

/// An instruction of a seed.
struct Place {
  size_t seed = 0, computation = 0, instruction = 0;
};

struct Pool {
  std::vector<Seed> seeds;
  std::array<std::vector<std::string>, 4> tokens;  // by TokenKind, each once
  std::vector<std::string> lines;
  // Of modules.
  std::vector<std::string> opcodes;
  std::map<std::string, std::vector<Place>, std::less<>> places;            // by opcode
  std::map<std::string, std::vector<std::string>, std::less<>> attributes;  // by key, each once
  std::vector<std::string> headers;                                         // attributes of modules
  std::vector<std::string> shapes;

  const InstructionText& at(const Place& place) const {
    return seeds[place.seed].module->computations[place.computation].instructions[place.instruction];
  }
};

/// Takes up seeds, then makes the pool of them.
class PoolMaker {
 public:
  /// Parts of texts that are longer than a mutation may reasonably bring in are left out.
  void add(std::string name, std::string text);
  size_t size() const { return pool_.seeds.size(); }
  Pool finish();

 private:
  using Parts = std::set<std::string, std::less<>>;
  static void keep(Parts& parts, std::string_view part);

  Pool pool_;
  std::array<Parts, 4> tokens_;
  Parts lines_, opcodes_, headers_, shapes_;
  std::map<std::string, Parts, std::less<>> attributes_;
};

}  // namespace hlosim::fuzz
