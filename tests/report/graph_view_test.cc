// Graphs: what is in them, and that the written files are what the formats say.
#include "report/graph_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "hlo/graph.h"
#include "ops/op_table.h"
#include "support/estimated.h"
#include "support/written_text.h"

namespace hlosim {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;
using ParsedJson = nlohmann::json;

constexpr std::string_view kChain = R"(HloModule chain, is_scheduled=true
ENTRY main {
  a = f32[256,128]{1,0:T(8,128)} parameter(0)
  b = f32[256,128]{1,0:T(8,128)} negate(a)
  c = f32[256,128]{1,0:T(8,128)S(1)} exponential(b)
  e = f32[256,128]{1,0:T(8,128)} negate(a)
  d = f32[256,128]{1,0:T(8,128)} add(c, b), control-predecessors={e}, metadata={op_name="jit(f)/layer/add \"x\""}
  f = f32[256,128]{1,0:T(8,128)} multiply(d, e)
  ROOT g = (f32[256,128]{1,0:T(8,128)}, f32[256,128]{1,0:T(8,128)S(1)}) tuple(f, c)
}
)";

struct Graphed {
  test::Estimated estimated;
  GraphData data() const { return GraphData(op_table(), estimated.device.config, estimated.estimate); }
};

std::set<std::string> names_of(const GraphData& data, const GraphView& view) {
  std::set<std::string> names;
  for (const InstructionId id : view.nodes) names.insert(std::string(data.module()[id].name));
  return names;
}

TEST(Graph, OfAComputationHasAllItsInstructionsAndEdges) {
  const Graphed g{test::estimated(test::kManyThings, "v5e")};
  const GraphData data = g.data();
  for (const std::string_view name : {"", "main", "%main", "body", "cond", "add"}) {
    const Result<GraphView> view = graph_of(data, name);
    ASSERT_TRUE(view) << name;
    size_t operands = 0;
    for (const InstructionId id : view->nodes) operands += data.module()[id].operands.size();
    EXPECT_EQ(view->edges.size(), operands);
    EXPECT_EQ(view->nodes.size(), data.module()[data.module()[view->nodes[0]].parent].instructions.size());
    EXPECT_EQ(std::count(view->is_cut.begin(), view->is_cut.end(), 1), 0);
  }
  const Result<GraphView> none = graph_of(data, "bodi");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().hint, "did you mean \"body\"?");
}

TEST(Graph, AroundAnInstructionAreThoseThatAreNear) {
  const Graphed g{test::estimated(kChain, "v5e")};
  const GraphData data = g.data();
  const auto near = [&](std::string_view name, int64_t distance) {
    const Result<GraphView> view = graph_around(data, {name, distance});
    EXPECT_TRUE(view);
    return names_of(data, *view);
  };
  EXPECT_THAT(near("c", 0), UnorderedElementsAre("c"));
  EXPECT_THAT(near("%c", 1), UnorderedElementsAre("b", "c", "d", "g"));
  EXPECT_THAT(near("e", 1), UnorderedElementsAre("a", "d", "e", "f"));  // d: a control dependency
  EXPECT_EQ(near("c", 9).size(), 7u);
  const Result<GraphView> view = graph_around(data, {"b", 1});
  for (size_t i = 0; i < view->nodes.size(); ++i) {
    const std::string_view name = data.module()[view->nodes[i]].name;
    EXPECT_EQ(view->is_cut[i], name != "b") << name;
  }
  EXPECT_FALSE(graph_around(data, {"nothing", 1}));
  EXPECT_FALSE(graph_around(data, {"b", 1, "add"}));
}

/// Against distances found by walking all paths.
TEST(Graph, NeighbourhoodsOfEveryInstruction) {
  const Graphed g{test::estimated(test::kManyThings, "v5e")};
  const GraphData data = g.data();
  const Module& module = data.module();
  const std::vector<InstructionId>& all = module[module.entry].instructions;
  for (const InstructionId centre : all) {
    std::map<InstructionId, int64_t> distance;
    const std::function<void(InstructionId, int64_t)> walk = [&](InstructionId id, int64_t steps) {
      const auto known = distance.find(id);
      if (known != distance.end() && known->second <= steps) return;
      distance[id] = steps;
      for (const InstructionId operand : module[id].operands) walk(operand, steps + 1);
      if (id != centre && module[id].operands.empty()) return;
      for (const InstructionId user : all)
        for (const InstructionId operand : module[user].operands)
          if (operand == id) walk(user, steps + 1);
    };
    walk(centre, 0);
    for (int64_t most = 0; most < 4; ++most) {
      std::set<std::string> expected;
      for (const auto& [id, steps] : distance)
        if (steps <= most) expected.insert(std::string(module[id].name));
      const Result<GraphView> view = graph_around(data, {module[centre].name, most, "main"});
      ASSERT_TRUE(view);
      EXPECT_EQ(names_of(data, *view), expected) << module[centre].name << " " << most;
    }
  }
}

TEST(Graph, DotIsWellFormedAndTellsTimes) {
  const Graphed g{test::estimated(kChain, "v5e")};
  const GraphData data = g.data();
  const Result<GraphView> view = graph_of(data, "");
  for (const GraphColour colour : {GraphColour::kTime, GraphColour::kSpace, GraphColour::kCategory}) {
    const std::string dot = to_dot(data, *view, colour);
    EXPECT_TRUE(dot.starts_with("digraph G {"));
    EXPECT_TRUE(dot.ends_with("}\n"));
    EXPECT_EQ(std::count(dot.begin(), dot.end(), '['), std::count(dot.begin(), dot.end(), ']'));
    size_t nodes = 0, edges = 0, control = 0;
    for (size_t at = 0; at < dot.size(); at = dot.find('\n', at) + 1) {
      const std::string_view line = std::string_view(dot).substr(at, dot.find('\n', at) - at);
      const bool is_edge = line.find("->") != std::string_view::npos && line.find("label") != 0;
      edges += is_edge;
      control += is_edge && line.find("style=dashed") != std::string_view::npos;
      nodes += !is_edge && !line.empty() && line[0] >= '0' && line[0] <= '9';
    }
    EXPECT_EQ(nodes, 7u);
    EXPECT_EQ(edges, 9u + 1u);
    EXPECT_EQ(control, 1u);
    EXPECT_THAT(dot, HasSubstr("label=\"c\\nexponential\\nf32[256,128]{1,0:T(8,128)S(1)}\\n"));
    EXPECT_THAT(dot, HasSubstr(to_text(data.longest())));
  }
}

TEST(Graph, StringsOfDotAreEscaped) {
  const Graphed g{test::estimated(kChain, "v5e")};
  const GraphData data = g.data();
  GraphView view = *graph_of(data, "");
  view.title = "a \"b\" \\ c\nd\x01";
  EXPECT_THAT(to_dot(data, view, GraphColour::kTime),
              HasSubstr("label=\"a \\\"b\\\" \\\\ c\\nd\xEF\xBF\xBD\";"));
}

TEST(Graph, ColoursDiffer) {
  const Graphed g{test::estimated(kChain, "v5e")};
  const GraphData data = g.data();
  const auto fill = [&](std::string_view name, GraphColour colour) {
    return colours_of(data, graph_around(data, {name, 0})->nodes[0], colour).fill;
  };
  EXPECT_EQ(fill("b", GraphColour::kSpace), fill("d", GraphColour::kSpace));
  EXPECT_NE(fill("b", GraphColour::kSpace), fill("c", GraphColour::kSpace));
  EXPECT_EQ(fill("g", GraphColour::kSpace), fill("c", GraphColour::kSpace));  // a tuple with a part in VMEM
  EXPECT_EQ(fill("b", GraphColour::kTime), fill("e", GraphColour::kTime));
  EXPECT_NE(fill("b", GraphColour::kTime), fill("a", GraphColour::kTime));
  EXPECT_NE(fill("b", GraphColour::kCategory), fill("a", GraphColour::kCategory));
}

ParsedJson explorer_graphs(const GraphData& data) {
  return ParsedJson::parse(test::written([&](const TextSink& out) { write_model_explorer_json(data, out); }));
}

ParsedJson node_data(const GraphData& data, GraphColour colour) {
  return ParsedJson::parse(
      test::written([&](const TextSink& out) { write_node_data_json(data, colour, out); }));
}

/// What input_graph.ts of Model Explorer asks for.
TEST(Graph, ModelExplorerJson) {
  const Graphed g{test::estimated(test::kManyThings, "v5e")};
  const GraphData data = g.data();
  const ParsedJson json = explorer_graphs(data);
  EXPECT_EQ(json["label"], "many");
  ASSERT_EQ(json["graphs"].size(), data.module().computations.size());
  EXPECT_EQ(json["graphs"][0]["id"], "main");
  std::set<std::string> graphs;
  for (const ParsedJson& graph : json["graphs"]) graphs.insert(graph["id"].get<std::string>());
  EXPECT_EQ(graphs.size(), json["graphs"].size());
  size_t links = 0;
  for (const ParsedJson& graph : json["graphs"]) {
    std::set<std::string> ids;
    for (const ParsedJson& node : graph["nodes"])
      EXPECT_TRUE(ids.insert(node["id"].get<std::string>()).second);
    for (const ParsedJson& node : graph["nodes"]) {
      EXPECT_TRUE(node["label"].is_string());
      EXPECT_TRUE(node["namespace"].is_string());
      for (const ParsedJson& edge : node["incomingEdges"]) {
        EXPECT_TRUE(ids.count(edge["sourceNodeId"].get<std::string>()));
        EXPECT_TRUE(edge["targetNodeInputId"].is_string());
      }
      for (const ParsedJson& attr : node["attrs"]) {
        EXPECT_TRUE(attr["key"].is_string());
        EXPECT_TRUE(attr["value"].is_string());
      }
      if (!node.contains("subgraphIds")) continue;
      for (const ParsedJson& called : node["subgraphIds"]) {
        EXPECT_TRUE(graphs.count(called.get<std::string>()));
        ++links;
      }
    }
  }
  EXPECT_EQ(links, 3u);  // while: condition and body; all-reduce
}

TEST(Graph, NamespacesAreScopesOfOpNames) {
  const Graphed g{test::estimated(kChain, "v5e")};
  const ParsedJson json = explorer_graphs(g.data());
  for (const ParsedJson& node : json["graphs"][0]["nodes"])
    EXPECT_EQ(node["namespace"], node["id"] == "d" ? "jit(f)/layer" : "") << node["id"];
}

TEST(Graph, NodeDataIsThatOfTheRun) {
  const Graphed g{test::estimated(test::kManyThings, "v5e")};
  const GraphData data = g.data();
  const ParsedJson times = node_data(data, GraphColour::kTime);
  double sum = 0;
  for (const auto& [graph, values] : times.items()) {
    EXPECT_EQ(values["gradient"].size(), 3u);
    for (const auto& [node, result] : values["results"].items()) sum += result["value"].get<double>();
  }
  EXPECT_NEAR(sum, static_cast<double>(data.makespan().count()) / 1e6, 1e-6);
  const ParsedJson spaces = node_data(data, GraphColour::kSpace);
  EXPECT_EQ(spaces["main"]["results"]["done"]["value"], "vmem");
  EXPECT_EQ(spaces["main"]["results"]["b"]["value"], "hbm");
  EXPECT_EQ(node_data(data, GraphColour::kCategory)["main"]["results"]["m"]["value"], "matmul");
}

}  // namespace
}  // namespace hlosim
