// Targets that take short texts of command lines and files of any kind: YAML, regular expressions, meshes.
#include <string>
#include <vector>

#include "base/check.h"
#include "base/pattern.h"
#include "base/value.h"
#include "estimate/partition_over_mesh.h"
#include "interconnect/slice.h"
#include "model/custom_call_costs.h"
#include "ops/op_table.h"
#include "read_input.h"
#include "study/accuracy_limits.h"
#include "study/gate_config.h"
#include "study/sweep.h"
#include "targets.h"
#include "tokens.h"
#include "workloads/model_config.h"

namespace hlosim::fuzz {
namespace {

struct Count {
  size_t values = 0, text = 0;
};

/// Every value lies in the text, and has either text or items.
void check_value(const Value& value, size_t size, Count& count) {
  HLOSIM_CHECK(value.offset <= size && value.key_offset <= size, "a value at {} of {}", value.offset, size);
  HLOSIM_CHECK(value.is_scalar() || value.text.empty());
  HLOSIM_CHECK(value.is_list() || value.is_map() || value.items.empty());
  ++count.values;
  count.text += value.text.size() + value.key.size();
  for (const Value& item : value.items) {
    HLOSIM_CHECK(value.is_map() == !item.key.empty(), "a key where none belongs, or none");
    HLOSIM_CHECK(!value.is_map() || value.find(item.key) == &item, "a key is there twice");
    check_value(item, size, count);
  }
}

/// The readers of everything that is YAML, whatever the text was meant for.
bool read_as_any_kind(const SourcePtr& source, Random& choice) {
  DiagnosticList problems;
  switch (choice.below(6)) {
    case 0:
      read_gate_config(source, problems);
      break;
    case 1:
      read_experiment(source, {}, problems);
      break;
    case 2:
      load_device(source, {}, {}, problems);
      break;
    case 3:
      read_custom_call_costs(source, problems);
      break;
    case 4:
      read_accuracy_limits(source, problems);
      break;
    default:
      if (const Result<ModelConfig> model = read_model_config(source); !model) problems.add(model.error());
  }
  return told(problems);
}

constexpr int64_t kMostDevices = 1024;  // that a module is spread over here
constexpr std::string_view kProgram = R"(HloModule m
ENTRY %main {
  %x = f32[64,128]{1,0} parameter(0)
  %params = (f32[128,256]{1,0}, f32[64,16]{1,0}) parameter(1)
  %w1 = f32[128,256]{1,0} parameter(2)
  %b = f32[128,256]{1,0} get-tuple-element(%params), index=0
  %w = f32[128,256]{1,0} add(%b, %w1)
  ROOT %y = f32[64,256]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

}  // namespace

bool read_yaml(const Bench&, const std::string& input, Random& choice) {
  const SourcePtr source = source_of(input);
  DiagnosticList problems;
  const std::optional<Value> root = parse_yaml(source, problems);
  HLOSIM_CHECK(told(problems) == root.has_value());
  if (!root) return false;
  Count count;
  check_value(*root, source->text().size(), count);
  HLOSIM_CHECK(count.values <= 100'000, "{} values", count.values);
  HLOSIM_CHECK(count.text <= 2 * input.size() + (size_t{16} << 20), "{} bytes of text", count.text);
  read_as_any_kind(source, choice);
  return true;
}

bool limit_accuracy(const Bench&, const std::string& input, Random&) {
  DiagnosticList problems;
  const std::optional<AccuracyLimits> limits = read_accuracy_limits(source_of(input), problems);
  HLOSIM_CHECK(told(problems) == limits.has_value());
  if (limits) broken_limits(*limits, {}, {}, {});
  return limits.has_value();
}

/// The first line is the expression, the others are texts.
bool match_pattern(const Bench&, const std::string& input, Random&) {
  const std::vector<std::string_view> lines = lines_of(input);
  if (lines.empty()) return false;
  const std::string expression(lines[0]);
  const Result<Pattern> pattern = Pattern::parse(expression);
  if (!pattern) return told(pattern.error()), false;
  const Result<Pattern> grouped = Pattern::parse("(?:" + expression + ")");
  const Result<Pattern> anywhere = Pattern::parse("(?s:.*)(?:" + expression + ")(?s:.*)");
  for (const std::string_view text : lines) {
    const bool finds = pattern->finds(text), matches = pattern->matches(text);
    HLOSIM_CHECK(finds || !matches, "the whole text matches, and no part does");
    if (grouped)
      HLOSIM_CHECK(grouped->finds(text) == finds && grouped->matches(text) == matches,
                   "a group matches otherwise");
    if (grouped && anywhere)
      HLOSIM_CHECK(anywhere->matches(text) == finds, "with any text around it it matches otherwise");
  }
  if (const Result<KernelDensity> density = parse_kernel_density(expression); !density) told(density.error());
  return true;
}

/// Lines: a mesh; then by their first word what goes with it.
bool spread_over_mesh(const Bench& bench, const std::string& input, Random& choice) {
  std::string mesh, order, written_for, topology;
  std::vector<std::string> statements;
  for (const std::string_view line : lines_of(input)) {
    if (line.starts_with("order "))
      order = line.substr(6);
    else if (line.starts_with("written "))
      written_for = line.substr(8);
    else if (line.starts_with("slice "))
      topology = line.substr(6);
    else if (line.starts_with("shard "))
      statements.emplace_back(line.substr(6));
    else if (mesh.empty())
      mesh = line;
  }
  SimulateOptions options;
  if (!topology.empty()) {
    const Result<SliceRequest> slice = parse_topology(topology);
    if (!slice) return told(slice.error()), false;
    options.slice = *slice;
  }
  // Options of their own, or all in one line.
  const Result<MeshRequest> request = mesh.find(';') == std::string::npos
                                          ? read_mesh_request(mesh, statements, order, written_for)
                                          : parse_mesh_request(mesh);
  if (!request) return told(request.error()), false;
  // A `;` within a part would end it, and an order is only read where there is a slice.
  if (input.find(';') == std::string::npos && order.find_first_of("[ ") == std::string::npos) {
    const Result<MeshRequest> again = parse_mesh_request(request->text());
    HLOSIM_CHECK(again, "a mesh of ours isn't read: {}", again.error().message);
    HLOSIM_CHECK(again->text() == request->text(), "printing a mesh isn't a fixed point: {} {}",
                 request->text(), again->text());
  }
  if (request->devices() > kMostDevices) return true;
  const auto modules = read_right(std::string(kProgram));
  const Device& device = choice.pick(bench.devices);
  const Result<PartitionedProgram> spread =
      partition_over_mesh(modules->front(), op_table(), device, options, *request);
  if (!spread) return told(spread.error()), false;
  return true;
}

}  // namespace hlosim::fuzz
