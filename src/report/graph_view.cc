#include "report/graph_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "hlo/graph.h"

namespace hlosim {
namespace {

std::string_view without_percent(std::string_view name) {
  return name.starts_with('%') ? name.substr(1) : name;
}

/// Calls f(predecessor, operand number) for operands and, with -1, control predecessors.
template <class F>
void for_each_source(const Instruction& instruction, F&& f) {
  int32_t number = 0;
  for (const InstructionId operand : instruction.operands) f(operand, number++);
  if (const Attr* attr = instruction.find(AttrKey::kControlPredecessors))
    for (const InstructionId before : attr->instructions()) f(before, -1);
}

/// Memory spaces of the arrays of a shape, each once.
void add_spaces(ShapeRef shape, std::vector<int64_t>& spaces) {
  if (shape->is_array()) {
    if (std::find(spaces.begin(), spaces.end(), shape->memory_space()) == spaces.end())
      spaces.push_back(shape->memory_space());
    return;
  }
  for (const ShapeRef element : shape->elements) add_spaces(element, spaces);
}

std::vector<int64_t> spaces_of(ShapeRef shape) {
  std::vector<int64_t> spaces;
  add_spaces(shape, spaces);
  return spaces;
}

/// Adds the edges between the nodes of `view`, and marks the nodes that have edges to other nodes.
void add_edges(const GraphData& data, GraphView& view) {
  const Module& module = data.module();
  IdMap<InstructionId, int64_t> place(module.instructions.size(), -1);
  for (size_t i = 0; i < view.nodes.size(); ++i) place[view.nodes[i]] = static_cast<int64_t>(i);
  view.is_cut.assign(view.nodes.size(), 0);
  const ComputationId computation = module[view.nodes.front()].parent;
  for (const InstructionId id : module[computation].instructions)
    for_each_source(module[id], [&](InstructionId from, int32_t operand) {
      const int64_t source = place[from], target = place[id];
      if (source >= 0 && target >= 0)
        view.edges.push_back({static_cast<size_t>(source), static_cast<size_t>(target), operand});
      else if (source >= 0)
        view.is_cut[static_cast<size_t>(source)] = 1;
      else if (target >= 0)
        view.is_cut[static_cast<size_t>(target)] = 1;
    });
}

/// Instructions at most `distance` edges from `centre`, in either direction. Paths do not pass through
/// instructions without operands: two users of one constant are not close.
std::vector<InstructionId> near(const Module& module, InstructionId centre, int64_t distance) {
  const Computation& computation = module[module[centre].parent];
  IdMap<InstructionId, std::vector<InstructionId>> neighbours(module.instructions.size());
  for (const InstructionId id : computation.instructions)
    for_each_source(module[id], [&](InstructionId from, int32_t) {
      neighbours[id].push_back(from);
      neighbours[from].push_back(id);
    });
  IdMap<InstructionId, uint8_t> is_in(module.instructions.size());
  is_in[centre] = 1;
  std::vector<InstructionId> ring = {centre};
  for (int64_t step = 0; step < distance && !ring.empty(); ++step) {
    std::vector<InstructionId> next;
    for (const InstructionId id : ring) {
      if (id != centre && module[id].operands.empty()) continue;
      for (const InstructionId neighbour : neighbours[id])
        if (!is_in[neighbour]) is_in[neighbour] = 1, next.push_back(neighbour);
    }
    ring = std::move(next);
  }
  std::vector<InstructionId> found;
  for (const InstructionId id : computation.instructions)
    if (is_in[id]) found.push_back(id);
  return found;
}

struct Rgb {
  double red, green, blue;
};

std::string hex(Rgb c) {
  const auto byte = [](double v) { return static_cast<int>(std::lround(std::clamp(v, 0.0, 255.0))); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(c.red), byte(c.green), byte(c.blue));
}

/// Dark text on light fills, light text on dark ones (relative luminance as in WCAG 2, without its gamma).
NodeColours readable(Rgb fill) {
  const double light = 0.2126 * fill.red + 0.7152 * fill.green + 0.0722 * fill.blue;
  return {hex(fill), light > 140 ? "#1a2029" : "#ffffff"};
}

constexpr Rgb kNothing{0xf4, 0xf6, 0xf9};
// From no time to the longest: the square root, so that small shares differ too.
Rgb heat(double share) {
  constexpr std::array<Rgb, 3> kStops = {{{0xff, 0xf6, 0xe5}, {0xf2, 0x8e, 0x2b}, {0xb3, 0x1b, 0x1b}}};
  const double at = 2 * std::sqrt(std::clamp(share, 0.0, 1.0));
  const auto low = static_cast<size_t>(std::min(at, 1.0));
  const double t = at - static_cast<double>(low);
  const Rgb &a = kStops[low], &b = kStops[low + 1];
  return {a.red + t * (b.red - a.red), a.green + t * (b.green - a.green), a.blue + t * (b.blue - a.blue)};
}

constexpr std::array<Rgb, 6> kSpaceColours = {{{0x9d, 0xc1, 0xee},
                                               {0x1f, 0x8a, 0x5b},
                                               {0xc9, 0xb0, 0xe8},
                                               {0xe8, 0xb2, 0x5d},
                                               {0xe3, 0x9a, 0xb8},
                                               {0xa8, 0xb2, 0xbd}}};
// By CostCategory, as the page of a report has them.
constexpr std::array<Rgb, kCostCategoryCount> kCategoryColours = {{{0x2f, 0x66, 0xcf},
                                                                   {0x1f, 0x8a, 0x5b},
                                                                   {0xb8, 0x6e, 0x00},
                                                                   {0x83, 0x47, 0xc4},
                                                                   {0x0f, 0x7f, 0x8f},
                                                                   {0xa8, 0x45, 0x6b},
                                                                   {0xd5, 0xda, 0xe1}}};

}  // namespace

GraphData::GraphData(const OpTable& table, const DeviceConfig& device, const Estimate& estimate)
    : module_(*estimate.module),
      table_(table),
      device_(device),
      simulation_(*estimate.simulation),
      records_(module_.instructions.size(), nullptr) {
  for (const InstructionRecord& record : simulation_.instructions) {
    records_[record.id] = &record;
    longest_ = std::max(longest_, record.self_time);
  }
}

Picoseconds GraphData::time(InstructionId id) const {
  return records_[id] ? records_[id]->self_time : Picoseconds(0);
}

std::string GraphData::space(InstructionId id) const {
  std::string text;
  for (const int64_t number : spaces_of(module_[id].shape)) {
    const MemorySpace* known = device_.memory_space(number);
    text += (text.empty() ? "" : "+") + (known ? known->name : fmt::format("S({})", number));
  }
  return text;
}

Result<GraphView> graph_of(const GraphData& data, std::string_view computation) {
  const Module& module = data.module();
  const std::string_view wanted = without_percent(computation);
  std::vector<std::string_view> names;
  for (size_t i = 0; i < module.computations.size(); ++i) {
    const ComputationId id{static_cast<int32_t>(i)};
    names.push_back(without_percent(module[id].name));
    if (wanted.empty() ? id != module.entry : names.back() != wanted) continue;
    GraphView view;
    view.title = fmt::format("{} of {}", module[id].name, module.name);
    view.nodes = module[id].instructions;
    add_edges(data, view);
    return view;
  }
  return failure(fmt::format("module {} has no computation '{}'", module.name, shown(computation)),
                 did_you_mean(wanted, names));
}

Result<GraphView> graph_around(const GraphData& data, const Neighbourhood& wanted) {
  const Module& module = data.module();
  const std::string_view name = without_percent(wanted.instruction),
                         where = without_percent(wanted.computation);
  std::vector<std::string_view> names;
  const auto runs = [&](InstructionId id) { return data.record(id) && data.record(id)->executions > 0; };
  InstructionId centre;
  for (const ComputationId computation : callees_first(module)) {
    if (!where.empty() && without_percent(module[computation].name) != where) continue;
    for (const InstructionId id : module[computation].instructions) {
      names.push_back(without_percent(module[id].name));
      if (names.back() == name && (!centre.valid() || (runs(id) && !runs(centre)))) centre = id;
    }
  }
  if (centre.valid()) {
    GraphView view;
    view.title =
        fmt::format("{} and what is up to {} edge{} away, in {} of {}", module[centre].name, wanted.distance,
                    wanted.distance == 1 ? "" : "s", module[module[centre].parent].name, module.name);
    view.centre = centre;
    view.nodes = near(module, centre, wanted.distance);
    add_edges(data, view);
    return view;
  }
  return failure(
      where.empty() ? fmt::format("module {} has no instruction '{}'", module.name, shown(wanted.instruction))
                    : fmt::format("computation {} has no instruction '{}'", wanted.computation,
                                  shown(wanted.instruction)),
      did_you_mean(name, names));
}

NodeColours colours_of(const GraphData& data, InstructionId id, GraphColour colour) {
  if (colour == GraphColour::kSpace) {
    const std::vector<int64_t> spaces = spaces_of(data.module()[id].shape);
    // Of several memory spaces, the first that is not the default memory decides.
    const auto special =
        std::find_if(spaces.begin(), spaces.end(), [](int64_t n) { return n != kDefaultMemorySpace; });
    if (spaces.empty()) return readable(kNothing);
    const int64_t number = special == spaces.end() ? spaces.front() : *special;
    return readable(kSpaceColours[static_cast<size_t>(std::min<int64_t>(number, kSpaceColours.size() - 1))]);
  }
  const InstructionRecord* record = data.record(id);
  if (!record) return readable(kNothing);
  if (colour == GraphColour::kCategory)
    return readable(kCategoryColours[static_cast<size_t>(data.cost(id).category)]);
  if (data.longest().count() == 0) return readable(kNothing);
  return readable(
      heat(static_cast<double>(record->self_time.count()) / static_cast<double>(data.longest().count())));
}

}  // namespace hlosim
