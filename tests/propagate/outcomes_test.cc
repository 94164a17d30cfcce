// What modules state holds; and what follows from it is what XLA makes of it, where that is known.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "propagate/propagate.h"
#include "sharding/sharding_calls.h"
#include "sharding/tile_assignment.h"
#include "support/folders.h"
#include "support/module_files.h"
#include "support/modules.h"

namespace hlosim {
namespace {

/// Of each device the part that it has: coordinates of its tile, then those along manual subgroups. Empty:
/// all have all.
using Parts = std::map<int64_t, std::vector<int64_t>>;

Parts parts_of(const TileAssignment& tiles) {
  Parts parts;
  if (!tiles.is_tiled()) return parts;
  std::vector<int64_t> sizes = tiles.dimensions;
  for (const TileAssignment::Subgroup& subgroup : tiles.subgroups) sizes.push_back(subgroup.size);
  int64_t place = 0;
  for (const int64_t device : list_devices(tiles)) {
    std::vector<int64_t> index(sizes.size());
    for (size_t i = sizes.size(), rest = static_cast<size_t>(place++); i-- > 0;) {
      index[i] = static_cast<int64_t>(rest) % sizes[i];
      rest /= static_cast<size_t>(sizes[i]);
    }
    for (size_t k = tiles.subgroups.size(); k-- > 0;)
      if (tiles.subgroups[k].type == SubgroupType::kReplicated)
        index.erase(index.begin() + static_cast<int64_t>(tiles.dimensions.size() + k));
    parts[device] = std::move(index);
  }
  const bool same = std::all_of(parts.begin(), parts.end(),
                                [&](const auto& one) { return one.second == parts.begin()->second; });
  return same ? Parts() : parts;
}

const std::regex kList("\\]([0-9]+(,[0-9]+)*)");

std::vector<int64_t> numbers_in(const std::string& list) {
  std::vector<int64_t> devices;
  std::stringstream numbers(list);
  for (std::string number; std::getline(numbers, number, ',');) devices.push_back(std::stoll(number));
  return devices;
}

/// All devices that lists in these texts name.
std::set<int64_t> devices_in(std::initializer_list<std::string> texts) {
  std::set<int64_t> devices;
  for (const std::string& text : texts)
    for (std::sregex_iterator at(text.begin(), text.end(), kList), end; at != end; ++at)
      for (const int64_t device : numbers_in((*at)[1].str())) devices.insert(device);
  return devices;
}

/// Some of a machine's devices, counted from 0: those of {2, 3, 6, 9} are 0, 1, 2, 3.
std::string renumbered(const std::string& text, const std::set<int64_t>& names) {
  std::string made;
  auto rest = text.cbegin();
  for (std::sregex_iterator at(text.begin(), text.end(), kList), end; at != end; ++at) {
    std::vector<int64_t> devices = numbers_in((*at)[1].str());
    for (int64_t& device : devices) device = std::distance(names.begin(), names.find(device));
    made += std::string(rest, (*at)[1].first) + fmt::format("{}", fmt::join(devices, ","));
    rest = (*at)[1].second;
  }
  return made + std::string(rest, text.cend());
}

/// Devices count as they are written: where lists need other numbers to be read, both texts get the same.
bool says_the_same(const std::string& a, const std::string& b, size_t leaves) {
  auto first = read_tile_assignments(a, leaves), second = read_tile_assignments(b, leaves);
  if (!first || !second) {
    const std::set<int64_t> names = devices_in({a, b});
    first = read_tile_assignments(renumbered(a, names), leaves);
    second = read_tile_assignments(renumbered(b, names), leaves);
  }
  if (!first || !second) return a == b;
  return std::equal(first->begin(), first->end(), second->begin(), second->end(),
                    [](const TileAssignment& x, const TileAssignment& y) {
                      return x.is_tiled() == y.is_tiled()
                                 ? parts_of(x) == parts_of(y) && (x.is_tiled() || x.kind == y.kind)
                                 : parts_of(x).empty() && parts_of(y).empty();
                    });
}

std::string sharding(const Module& module, InstructionId id) {
  const Attr* attr = module[id].find(AttrKey::kSharding);
  return std::string(attr ? attr->text() : std::string_view());
}

bool is_cut(std::string_view text) { return text.find("devices=") != std::string_view::npos; }

/// In the entry, or else anywhere.
InstructionId named(const Module& module, std::string_view name) {
  for (const InstructionId id : module.entry_computation().instructions)
    if (module[id].name == name) return id;
  for (size_t i = 0; i < module.instructions.size(); ++i)
    if (const InstructionId id{static_cast<int32_t>(i)}; module[id].name == name) return id;
  return {};
}

/// Nothing is taken back or changed but what is left open. Returns how many statements there were.
int64_t expect_statements_hold(const Module& module, const Module& made, const std::string& file) {
  int64_t count = 0;
  for (const InstructionId id : module.entry_computation().instructions) {
    const bool is_open = !unspecified_dimensions(module[id]).empty() ||
                         sharding(module, id).find_first_of("?") != std::string_view::npos ||
                         sharding(module, id).find("unknown") != std::string_view::npos;
    const InstructionId now = named(made, module[id].name);
    if (!is_cut(sharding(module, id)) || is_open || !now.valid()) continue;
    ++count;
    const auto leaves = static_cast<size_t>(leaf_count(module[id].shape));
    EXPECT_TRUE(says_the_same(sharding(module, id), sharding(made, now), leaves))
        << file << ": " << module[id].name << " lies as " << sharding(made, now);
  }
  return count;
}

template <class F>
void for_each_sharded(const test::Sample& sample, F&& f) {
  for (const std::filesystem::path& path : test::right_modules(sample)) {
    const std::string file = path.filename().string();
    const Result<SourcePtr> source = read_source(path.string());
    if (!source || (*source)->text().find("sharding=") == std::string_view::npos) continue;
    DiagnosticList diagnostics;
    for (Module& module : read_modules(*source, op_table(), diagnostics))
      if (verify(module, op_table(), diagnostics)) f(module, file);
  }
}

TEST(Statements, OfOurModulesHold) {
  int64_t statements = 0;
  for_each_sharded({.file_tests = 1, .others = 0}, [&](const Module& module, const std::string& file) {
    if (const Result<Propagated> made = propagate(module, op_table(), {.some_devices = true}))
      statements += expect_statements_hold(module, made->module, file);
  });
  EXPECT_GT(statements, 20);
}

TEST(Statements, AreOfTheDevicesThatTheyName) {
  EXPECT_TRUE(says_the_same("{devices=[2]4,5}", "{devices=[2]4,5}", 1));
  EXPECT_FALSE(says_the_same("{devices=[2]4,5}", "{devices=[2]0,1}", 1));
  EXPECT_FALSE(says_the_same("{devices=[2]4,5}", "{devices=[2]5,4}", 1));
  EXPECT_FALSE(says_the_same("{devices=[2]4,5}", "{devices=[2]6,7}", 1));
  EXPECT_TRUE(says_the_same("{devices=[2]0,1}", "{devices=[2]<=[2]}", 1));
  EXPECT_TRUE(says_the_same("{devices=[2,2]2,3,6,9 last_tile_dim_replicate}",
                            "{devices=[2,2]3,2,9,6 last_tile_dim_replicate}", 1));
}

struct Outcome {
  std::string file, instruction, sharding, differs;
};

std::vector<Outcome> outcomes() {
  std::vector<Outcome> all;
  std::ifstream in(test::source_folder() / "tests/propagate/outcomes.tsv");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    std::stringstream cells(line);
    Outcome& one = all.emplace_back();
    std::getline(cells, one.file, '\t');
    std::getline(cells, one.instruction, '\t');
    std::getline(cells, one.sharding, '\t');
    std::getline(cells, one.differs);
  }
  return all;
}

// Those that differ have to: what is mended loses its reason.
TEST(Outcomes, OfModulesOfOthersAreThoseOfXla) {
  const std::vector<Outcome> wanted = outcomes();
  int64_t modules = 0, tried = 0, equal = 0;
  for_each_sharded({.file_tests = 0, .others = 1}, [&](const Module& module, const std::string& file) {
    if (file.find("ShardingPropagationTest") == std::string::npos &&
        file.find("ParameterizedMetadataTest") == std::string::npos)
      return;
    ++modules;
    const Result<Propagated> made = propagate(module, op_table(), {.some_devices = true});
    if (made) expect_statements_hold(module, made->module, file);
    for (const Outcome& one : wanted) {
      if (file.find("." + one.file) == std::string::npos) continue;
      ++tried;
      const InstructionId id = made ? named(made->module, one.instruction) : InstructionId();
      const bool same = id.valid() && says_the_same(one.sharding, sharding(made->module, id),
                                                    static_cast<size_t>(leaf_count(made->module[id].shape)));
      equal += same;
      EXPECT_EQ(same, one.differs.empty())
          << fmt::format("{}: {} lies as {}, with XLA as {} {}", file, one.instruction,
                         id.valid() ? sharding(made->module, id) : (made ? "nothing" : made.error().message),
                         one.sharding, one.differs);
    }
  });
  if (tried == 0) GTEST_SKIP() << "no modules of others";
  std::cout << fmt::format("{} modules: {} of {} shardings are those of XLA\n", modules, equal, tried);
}

}  // namespace
}  // namespace hlosim
