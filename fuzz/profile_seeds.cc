#include "profile_seeds.h"

#include "estimate/estimate.h"
#include "ops/op_table.h"
#include "profile/xspace_writer.h"
#include "report/trace/trace.h"

namespace hlosim::fuzz {
namespace {

constexpr std::string_view kTrace = R"json({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:0"}},
{"ph":"M","pid":3,"tid":1,"name":"thread_name","args":{"name":"Steps"}},
{"ph":"M","pid":3,"tid":2,"name":"thread_name","args":{"name":"XLA Modules"}},
{"ph":"M","pid":3,"tid":3,"name":"thread_name","args":{"name":"XLA Ops"}},
{"ph":"M","pid":3,"tid":4,"name":"thread_name","args":{"name":"Async XLA Ops"}},
{"ph":"X","pid":3,"tid":1,"ts":100,"dur":50.5,"name":"7"},
{"ph":"X","pid":3,"tid":2,"ts":100,"dur":50,"name":"jit_f(42)","args":{"run_id":"1"}},
{"ph":"X","pid":3,"tid":3,"ts":101,"dur":10.000001,"name":"fusion.2",
 "args":{"long_name":"%fusion.2 = f32[8]{0} fusion(f32[8]{0} %p)","hlo_category":"loop fusion","flops":"16",
         "bytes_accessed":"64","device_offset_ps":"1000","device_duration_ps":"10000001"}},
{"ph":"X","pid":3,"tid":4,"ts":102,"dur":30,"name":"async-copy",
 "args":{"long_name":"%copy-start = (f32[8]{0}, f32[8]{0}) copy-start(f32[8]{0} %p)"}}]})json";
constexpr std::string_view kStats =
    R"json([{"cols":[{"id":"program_id"},{"id":"category"},{"id":"hlo_op_name"},{"id":"hlo_op_expression"},
{"id":"occurrences"},{"id":"total_time"},{"id":"total_self_time"},{"id":"model_flop_rate"},{"id":"bound_by"}],
"rows":[{"c":[{"v":"42"},{"v":"loop fusion"},{"v":"fusion.3"},{"v":"%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p)"},
{"v":4},{"v":40.5},{"v":40.25},{"v":2},{"v":"HBM"}]},
{"c":[{"v":"7"},{"v":"while"},{"v":"while.1"},null,{"v":1},{"v":9},{"v":1.5},null,null]}]}])json";
constexpr std::string_view kCsv =
    "Program id,HLO op category,HLO op name,HLO op text,#Occurrences,Total self time (us)\r\n"
    "42,loop fusion,fusion.3,\"%fusion.3 = (f32[8]{0}, f32[8]{0}) fusion(f32[8]{0} %p)\",4,40.5\r\n"
    "42,\"a \"\"copy\"\"\",copy.1,,1,1e-3\r\n";
constexpr std::string_view kTree =
    R"json({"byProgram":{"name":"by_program","children":[{"name":"jit_f(42)","children":[{"name":"fusion.3",
"metrics":{"rawTime":40500000.0,"rawFlops":64,"occurrences":4,"rawBytesAccessedArray":[400,0]},
"xla":{"expression":"%fusion.3 = f32[8]{0} fusion(f32[8]{0} %p)","category":"loop fusion"}}]}]},
"deviceType":"TPU v4"})json";

constexpr ProfileSeed kTexts[] = {{"t.trace.json", kTrace},
                                  {"hlo_stats.json", kStats},
                                  {"hlo_stats.csv", kCsv},
                                  {"op_profile.json", kTree}};

}  // namespace

std::span<const ProfileSeed> profile_texts() { return kTexts; }

std::string profile_bytes(const Module& module, const Device& device) {
  EstimateOptions options;
  options.simulate.keep_timeline = true;
  const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, options);
  if (!estimate) return {};
  const Trace trace = make_trace(op_table(), device, *estimate, {.max_events = 100});
  const PredictedRun run{&*estimate, &trace};
  const Result<std::string> bytes = xspace_of({&run, 1}, op_table(), device);
  return bytes ? *bytes : std::string();
}

}  // namespace hlosim::fuzz
