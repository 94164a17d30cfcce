#include "schedule/schedule_graph.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "hlo/effects.h"
#include "hlo/frontend.h"

namespace hlosim {
namespace {

constexpr int64_t kApproximateLatency = 5000, kApproximateLoopFusion = 1000, kApproximateOutputFusion = 5000;

/// Takes no time and no memory of its own: parameters, constants, and what only hands values on.
bool is_free(const OpTable& table, const Instruction& instruction) {
  const OpDef& def = table[instruction.opcode];
  return instruction.literal || instruction.parameter_number >= 0 ||
         (def.has(kFree) && !def.has(kAsyncUpdate | kAsyncDone));
}

/// frontend_attributes={latency_metadata="123"}: of what the instruction starts.
std::optional<int64_t> stated_latency(const Instruction& instruction) {
  const std::optional<std::string_view> text = frontend_attribute(instruction, "latency_metadata");
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || !(value >= 0) || value > 1e12)
    return std::nullopt;
  return std::llround(value);
}

/// Requires: nodes in an order in which they may run.
void find_depths(ScheduleGraph& graph) {
  for (ScheduleNode& node : graph.nodes) {
    node.async_depth = node.depth = 0;
    for (const ScheduleNode::Edge& edge : node.before) {
      const ScheduleNode& other = graph.nodes[static_cast<size_t>(edge.node)];
      node.async_depth = std::max(node.async_depth, other.async_depth + (other.ends != AsyncKind::kNone));
      node.depth = std::max(node.depth, other.depth + 1);
    }
  }
}

class GraphMaker {
 public:
  GraphMaker(const Module& module, const OpTable& table, ComputationId id, const ScheduleCosts& costs,
             const LatencyScheduleOptions& options)
      : module_(module),
        table_(table),
        id_(id),
        costs_(costs),
        options_(options),
        order_(module[id].instructions) {}

  ScheduleGraph make(const ScheduleMemory* memory) {
    graph_.computation = id_;
    graph_.nodes.resize(order_.size());
    for (size_t i = 0; i < order_.size(); ++i) node_of_.emplace(order_[i].index, static_cast<int32_t>(i));
    for (size_t i = 0; i < order_.size(); ++i) fill(i);
    int32_t last_state = -1;
    for (size_t i = 0; i < order_.size(); ++i) {
      if (!uses_device_state(module_, table_, module_[order_[i]])) continue;
      if (last_state >= 0) connect(last_state, static_cast<int32_t>(i), 0);
      last_state = static_cast<int32_t>(i);
    }
    if (memory)
      for (const ScheduleMemory::Overwrite& pair : memory->overwrites(id_))
        connect(node_of_.at(pair.reader.index), node_of_.at(pair.writer.index), 0);
    find_depths(graph_);
    return std::move(graph_);
  }

 private:
  void fill(size_t i) {
    const Instruction& instruction = module_[order_[i]];
    ScheduleNode& node = graph_.nodes[i];
    node.id = order_[i];
    node.cost = costs_.cost[order_[i]];
    node.is_free = is_free(table_, instruction);
    const OpDef& def = table_[instruction.opcode];
    if (def.has(kAsyncStart)) node.starts = kind_of(instruction);
    if (def.has(kAsyncDone)) node.ends = kind_of_done(instruction);
    if (def.has(kCallsInline)) add_inside(instruction, node.inside);
    for (const InstructionId operand : instruction.operands) {
      const bool waits =
          table_[module_[operand].opcode].has(kAsyncStart) && def.has(kAsyncUpdate | kAsyncDone);
      connect(node_of_.at(operand.index), static_cast<int32_t>(i),
              waits ? costs_.latency[operand] : costs_.edge);
    }
    if (const Attr* before = instruction.find(AttrKey::kControlPredecessors))
      for (const InstructionId other : before->instructions())
        connect(node_of_.at(other.index), static_cast<int32_t>(i), costs_.edge);
  }

  /// Nothing, if it stays where its users put it.
  AsyncKind kind_of(const Instruction& start) const {
    const AsyncKind kind = async_kind(module_, table_, start);
    const bool transfer =
        kind == AsyncKind::kSendRecv || kind == AsyncKind::kSendHost || kind == AsyncKind::kRecvHost;
    return transfer && !options_.schedule_send_recvs ? AsyncKind::kNone : kind;
  }

  /// kNone where the start is in another computation.
  AsyncKind kind_of_done(const Instruction& done) const {
    const Instruction* at = &done;
    while (!at->operands.empty() && table_[at->opcode].has(kAsyncUpdate | kAsyncDone))
      at = &module_[at->operands[0]];
    return table_[at->opcode].has(kAsyncStart) ? kind_of(*at) : AsyncKind::kNone;
  }

  void add_inside(const Instruction& caller, std::vector<AsyncKind>& kinds) const {
    for_each_called(caller, [&](ComputationId called) {
      for (const InstructionId inner : module_[called].instructions) {
        const Instruction& instruction = module_[inner];
        const AsyncKind kind = kind_of(instruction);
        if (kind != AsyncKind::kNone && std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
          kinds.push_back(kind);
        if (table_[instruction.opcode].has(kCallsInline)) add_inside(instruction, kinds);
      }
    });
  }

  void connect(int32_t from, int32_t to, int64_t latency) {
    std::vector<ScheduleNode::Edge>& after = graph_.nodes[static_cast<size_t>(from)].after;
    const auto same =
        std::find_if(after.begin(), after.end(), [&](const auto& edge) { return edge.node == to; });
    if (same != after.end()) {
      same->latency = std::max(same->latency, latency);
      return;
    }
    after.push_back({to, latency});
    graph_.nodes[static_cast<size_t>(to)].before.push_back({from, latency});
  }

  const Module& module_;
  const OpTable& table_;
  const ComputationId id_;
  const ScheduleCosts& costs_;
  const LatencyScheduleOptions& options_;
  const std::vector<InstructionId>& order_;
  std::unordered_map<int32_t, int32_t> node_of_;
  ScheduleGraph graph_;
};

void add_stated_latencies(const Module& module, ScheduleCosts& costs, int64_t unit) {
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    if (const std::optional<int64_t> stated = stated_latency(module[id])) costs.latency[id] = *stated * unit;
  }
}

}  // namespace

ScheduleCosts approximate_costs(const Module& module, const OpTable& table) {
  ScheduleCosts costs{IdMap<InstructionId, int64_t>(module.instructions.size(), 1),
                      IdMap<InstructionId, int64_t>(module.instructions.size(), kApproximateLatency), 1};
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    const Instruction& instruction = module[id];
    const Attr* kind = instruction.find(AttrKey::kKind);
    const bool fusion = table[instruction.opcode].has(kFusion) && kind;
    if (is_free(table, instruction)) costs.cost[id] = 0;
    if (fusion && kind->text() == "kLoop") costs.cost[id] = kApproximateLoopFusion;
    if ((fusion && kind->text() == "kOutput") || instruction.opcode == Opcode::kConvolution)
      costs.cost[id] = kApproximateOutputFusion;
  }
  add_stated_latencies(module, costs, 1);
  return costs;
}

ScheduleCosts simulated_costs(const Module& module, const Simulation& result) {
  ScheduleCosts costs{IdMap<InstructionId, int64_t>(module.instructions.size()),
                      IdMap<InstructionId, int64_t>(module.instructions.size()), 0};
  for (const InstructionRecord& record : result.instructions) {
    const int64_t active = (record.time - std::min(record.time, record.exposed)).count();
    costs.cost[record.id] =
        record.executions > 0 ? active / record.executions : int64_t{result.cost(record).time().count()};
  }
  for (const TransferRecord& transfer : result.transfers)
    costs.latency[transfer.start_instruction] = (transfer.end - transfer.start).count();
  add_stated_latencies(module, costs, 1000);  // nanoseconds
  return costs;
}

ScheduleGraph mirrored(const ScheduleGraph& graph) {
  ScheduleGraph turned = graph;
  std::reverse(turned.nodes.begin(), turned.nodes.end());
  const auto last = static_cast<int32_t>(graph.nodes.size()) - 1;
  for (ScheduleNode& node : turned.nodes) {
    std::swap(node.before, node.after);
    std::swap(node.starts, node.ends);
    for (std::vector<ScheduleNode::Edge>* edges : {&node.before, &node.after})
      for (ScheduleNode::Edge& edge : *edges) edge.node = last - edge.node;
  }
  find_depths(turned);
  return turned;
}

ScheduleGraph make_schedule_graph(const Module& module, const OpTable& table, ComputationId id,
                                  const ScheduleCosts& costs, const ScheduleMemory* memory,
                                  const LatencyScheduleOptions& options) {
  return GraphMaker(module, table, id, costs, options).make(memory);
}

}  // namespace hlosim
