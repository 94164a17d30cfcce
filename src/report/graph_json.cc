// Model Explorer's formats: the graph collection of src/ui/src/components/visualizer/common/input_graph.ts
// and the node data of src/server/package/src/model_explorer/node_data_builder.py in
// google-ai-edge/model-explorer (2024).
#include <fmt/format.h>

#include <algorithm>

#include "hlo/graph.h"
#include "report/graph_view.h"
#include "report/report.h"
#include "text/json.h"

namespace hlosim {
namespace {

Json text(std::string_view value) { return std::string(value); }

/// "jit(f)/layer_0/attention" of the op_name "jit(f)/layer_0/attention/dot_general".
std::string_view scope_of(const Instruction& instruction) {
  const std::string_view name = op_name_of(instruction);
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

class GraphJson {
 public:
  explicit GraphJson(const GraphData& data) : data_(data), module_(data.module()) {
    order_ = callees_first(module_);
    std::reverse(order_.begin(), order_.end());  // the entry is the first
    const auto entry = std::find(order_.begin(), order_.end(), module_.entry);
    std::rotate(order_.begin(), entry, entry + 1);
  }

  void write_collection(const TextSink& out) const {
    out("{\"label\":" + json_text(module_.name) + ",\"graphs\":[");
    for (const ComputationId id : order_) {
      out(fmt::format("{}{{\"id\":{},\"nodes\":[", id == order_.front() ? "" : ",",
                      json_text(module_[id].name)));
      const std::vector<InstructionId>& instructions = module_[id].instructions;
      for (const InstructionId instruction : instructions)
        out((instruction == instructions.front() ? "" : ",") + node(instruction).dump());
      out("]}");
    }
    out("]}\n");
  }

  /// Computations and instructions without any value are left out.
  void write_node_data(GraphColour colour, const TextSink& out) const {
    out("{");
    std::string_view graph_comma;
    for (const ComputationId id : order_) {
      std::string_view comma;
      for (const InstructionId instruction : module_[id].instructions) {
        const Json result = value(instruction, colour);
        if (result.is_null()) continue;
        if (comma.empty())
          out(fmt::format("{}{}:{{\"results\":{{", graph_comma, json_text(module_[id].name)));
        out(fmt::format("{}{}:{}", comma, json_text(module_[instruction].name), result.dump()));
        comma = ",";
      }
      if (comma.empty()) continue;
      out(colour == GraphColour::kTime ? "},\"gradient\":" + gradient().dump() + "}" : "}}");
      graph_comma = ",";
    }
    out("}\n");
  }

 private:
  static Json gradient() {
    return {{{"stop", 0}, {"bgColor", "#fff6e5"}},
            {{"stop", 0.25}, {"bgColor", "#f28e2b"}},
            {{"stop", 1}, {"bgColor", "#b31b1b"}, {"textColor", "#ffffff"}}};
  }

  Json value(InstructionId id, GraphColour colour) const {
    if (colour != GraphColour::kTime) {
      if (colour == GraphColour::kCategory && !data_.record(id)) return nullptr;
      const std::string word =
          colour == GraphColour::kSpace ? data_.space(id) : std::string(to_text(data_.cost(id).category));
      if (word.empty()) return nullptr;
      const NodeColours colours = colours_of(data_, id, colour);
      return {{"value", word}, {"bgColor", colours.fill}, {"textColor", colours.text}};
    }
    if (!data_.record(id)) return nullptr;
    return {{"value", static_cast<double>(data_.time(id).count()) / 1e6}};
  }

  Json node(InstructionId id) const {
    const Instruction& instruction = module_[id];
    Json json = {{"id", text(instruction.name)},
                 {"label", text(to_text(instruction.opcode))},
                 {"namespace", text(scope_of(instruction))}};
    Json called = Json::array();
    for_each_called(instruction,
                    [&](ComputationId computation) { called.push_back(text(module_[computation].name)); });
    if (!called.empty()) json["subgraphIds"] = std::move(called);
    json["attrs"] = attributes(id);
    json["incomingEdges"] = edges(instruction);
    json["outputsMetadata"] =
        Json::array({{{"id", "0"},
                      {"attrs", Json::array({pair("tensor_name", instruction.name),
                                             pair("tensor_shape", to_text(instruction.shape)),
                                             pair("memory_space", data_.space(id))})}}});
    return json;
  }

  static Json pair(std::string_view key, std::string_view value) {
    return {{"key", text(key)}, {"value", text(value)}};
  }

  Json attributes(InstructionId id) const {
    Json list = Json::array();
    list.push_back(pair("name", module_[id].name));
    if (const std::string_view name = op_name_of(module_[id]); !name.empty())
      list.push_back(pair("op_name", name));
    const InstructionRecord* record = data_.record(id);
    if (!record) return list;
    list.push_back(pair("time", to_text(record->self_time)));
    list.push_back(pair("time_ps", std::to_string(record->self_time.count())));
    if (record->exposed.count() > 0)
      list.push_back(pair("exposed_ps", std::to_string(record->exposed.count())));
    list.push_back(pair("bound_by", unit_name(data_.device(), record->bound_by)));
    list.push_back(pair("category", to_text(data_.cost(id).category)));
    list.push_back(pair("executions", std::to_string(record->executions)));
    return list;
  }

  Json edges(const Instruction& instruction) const {
    Json list = Json::array();
    int32_t number = 0;
    for (const InstructionId operand : instruction.operands)
      list.push_back({{"sourceNodeId", text(module_[operand].name)},
                      {"sourceNodeOutputId", "0"},
                      {"targetNodeInputId", std::to_string(number++)}});
    return list;
  }

  const GraphData& data_;
  const Module& module_;
  std::vector<ComputationId> order_;
};

}  // namespace

void write_model_explorer_json(const GraphData& data, const TextSink& out) {
  GraphJson(data).write_collection(out);
}

void write_node_data_json(const GraphData& data, GraphColour colour, const TextSink& out) {
  GraphJson(data).write_node_data(colour, out);
}

}  // namespace hlosim
