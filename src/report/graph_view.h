// A computation, or what is near an instruction, as a graph for people: DOT for Graphviz, and Model
// Explorer's JSON.
//
//   const GraphData data(module, op_table(), device.config, *estimate);
//   Result<GraphView> view = graph_around(data, {"fusion.3", 2});
//   std::cout << to_dot(data, *view, GraphColour::kTime);
//
// docs/graphs.md shows pictures and names the formats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/staged_files.h"
#include "estimate/estimate.h"

namespace hlosim {

/// What colours mean.
enum class GraphColour : uint8_t { kTime, kSpace, kCategory };

/// A module that ran, with what its graphs show. Views into all of them.
class GraphData {
 public:
  GraphData(const OpTable& table, const DeviceConfig& device, const Estimate& estimate);

  /// That ran: the one given, or what was made of it.
  const Module& module() const { return module_; }
  const OpTable& table() const { return table_; }
  const DeviceConfig& device() const { return device_; }
  Picoseconds makespan() const { return simulation_.totals.makespan; }
  /// Null: it didn't run as such (parameters, what is inside fusions).
  const InstructionRecord* record(InstructionId id) const { return records_[id]; }
  const InstructionCost& cost(InstructionId id) const { return (*simulation_.costs)[id]; }
  /// Of all executions, without called computations; 0 for what has no record.
  Picoseconds time(InstructionId id) const;
  /// The longest time of one instruction.
  Picoseconds longest() const { return longest_; }
  /// Where its result lies: "hbm", "vmem", "S(9)"; several for a tuple, joined by "+"; empty: nowhere.
  std::string space(InstructionId id) const;

 private:
  const Module& module_;
  const OpTable& table_;
  const DeviceConfig& device_;
  const Simulation& simulation_;
  IdMap<InstructionId, const InstructionRecord*> records_;
  Picoseconds longest_{};
};

struct GraphEdge {
  size_t from = 0, to = 0;  // indices into GraphView::nodes
  int32_t operand = 0;      // of `to`; -1: a control dependency
};

struct GraphView {
  std::string title;
  std::vector<InstructionId> nodes;  // in the computation's order
  std::vector<uint8_t> is_cut;       // by node: has neighbours that are left out
  std::optional<InstructionId> centre;
  std::vector<GraphEdge> edges;
};

/// A whole computation; empty: the entry. Errors: no such computation.
Result<GraphView> graph_of(const GraphData& data, std::string_view computation);

struct Neighbourhood {
  std::string_view instruction{};  // with or without %
  int64_t distance = 2;            // operands and users at most so many edges away
  std::string_view computation{};  // empty: one that runs such an instruction on its own, else the first
};
/// Errors: no such instruction.
Result<GraphView> graph_around(const GraphData& data, const Neighbourhood& wanted);

/// Graphviz's language.
std::string to_dot(const GraphData& data, const GraphView& view, GraphColour colour);

/// Model Explorer's graph collection: a graph per computation that runs or is inside one, the entry first.
void write_model_explorer_json(const GraphData& data, const TextSink& out);
/// Model Explorer's node data for those graphs: microseconds, names of memory spaces or categories.
void write_node_data_json(const GraphData& data, GraphColour colour, const TextSink& out);

/// "#rrggbb" of an instruction, and of the text on it.
struct NodeColours {
  std::string fill, text;
};
NodeColours colours_of(const GraphData& data, InstructionId id, GraphColour colour);

}  // namespace hlosim
