#include "bench.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "buffers/buffer_analysis.h"
#include "estimate/estimate.h"
#include "hlo/printer.h"
#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "input/proto_text.h"
#include "mlir_bytecode/read_bytecode.h"
#include "mutate_module.h"
#include "mutate_proto.h"
#include "mutate_text.h"
#include "ops/op_table.h"
#include "profile_seeds.h"
#include "report/figures.h"
#include "report/report_json.h"
#include "report/trace/trace.h"
#include "study/gate.h"
#include "study/sweep_journal.h"
#include "xla_dump/dump_of.h"

namespace hlosim::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLargestSeed = 4096;
constexpr size_t kMadeSeeds = 60;  // of every form that is made of modules

constexpr std::string_view kFormNames[kInputForms] = {
    "module",       "pair",   "proto", "gate",   "baseline", "experiment", "journal",  "device",
    "dump",         "report", "costs", "knobs",  "measured", "mlir",       "artifact", "profile",
    "profile_text", "model",  "yaml",  "limits", "config",   "pattern",    "mesh"};

constexpr std::string_view kGateConfig = R"(modules: [a.hlo, b*.hlo]
devices: [v5e]
baseline: hlosim-baseline.json
metrics: [time, "peak\\..*", hbm_bytes]
set: [memory.hbm.bandwidth=800 GB/s]
topology: 2x2
slices: 1
while_trip_count: 3
lower: true
limits:
  - {metric: time, relative: 1 %, absolute: 10 us}
  - {module: "train", device: "v.*", metric: "peak\\..*", absolute: 1 MiB, most: 14 GiB}
on_new: warn
on_incomparable: fail
)";
constexpr std::string_view kExperiment = R"(modules: [a.hlo]
devices: [v5e, v4]
set:
  memory.vmem.capacity: {from: 40 MiB, to: 48 MiB, step: 8 MiB}
  clock: [1 GHz, 1.5 GHz]
knobs:
  prefetch: [false, xla]
objectives: [time, memory.vmem.capacity]
columns: [time, exposed, hbm_bytes]
plot: {x: clock, y: time}
)";
constexpr std::string_view kCosts = R"(my_kernel:
  time: 12 us
other:
  flops: 1000000
  vector_operations: 20
  read: 1 MiB
  written: 2 KiB
)";
constexpr std::string_view kKnobs = R"(max_size_in_bytes: 1048576
max_outstanding_prefetches: 4
preferred_overlap_to_async_copy_ratio: 1.5
scale_memory_boundedness: true
preferred_prefetch_overrides {
  overrides {
    hlo_operand_filter { instruction_name_regex: "fusion\\.1" operand_number: 1 tuple_index { index: [2] } }
    override_options: < prefetch_eagerness: 0.5 >
  }
  overrides { hlo_operand_filter { size_gte: 100 size_lte: 200 }
              override_options { after_instruction { instruction_name_regex: 'add' } } }
}
overrides { hlo_position_matcher { instruction_regex: ".*dot.*" hlo_use_filter { operand_number: 0 } }
            override_options { assign_value: -7 } }
)";

constexpr std::string_view kLimits = R"(rows:
  all core single native: {median: 4 %, p90: 25 %}
steps:
  maxtext_v5p v5p: {error: 10 %, sum: 0.05}
)";
constexpr std::string_view kRunConfig = R"(# hlosim configuration
command: report
options:
  FILE: ["-"]   # command line
  # devices: not set
  topology: 2x2
  slices: 1
  while-trip-count: 1
  no-lower: true
  format: json
  top: 10
  color: auto
---
)";
constexpr std::string_view kYamls[] = {
    "a: &a [x, y, \"z\", 1.5]\nb: &b {k: *a, l: [*a, *a]}\nc: [*b, *b, *b]\n",
    "? key\n: &v value\nlist:\n  - *v\n  - {a: 1, 'b c': ~}\n  - |\n    text\n    more\n  - >-\n    folded\n",
    "&root\na: &a\n  b: &b\n    c: &c {d: e}\n  f: *c\ng: *a\nh: [*b, *c]\n# end\n"};
constexpr std::string_view kPatterns[] = {
    "fusion\\.[0-9]+\nfusion.12\na.fusion.x\n", ".*b\naaaaaaaaaaaaaaaaaaaaaaaaaa\nab\n\n",
    "(a+)+$\naaaaaaaaaaab\naaa\n",
    "^(?i:Layer)_([a-z]|[^x-z]{2,3})*?\\b|\\d{1,4}\nlayer_12\n\xC3\xA4\n\xff\n",
    "splash_(mha|mqa)_fwd.*=0.5\nsplash_mha_fwd_1\n"};
constexpr std::string_view kMeshes[] = {"data=4,model=2\nshard x=[data,_]\nshard params.0=[_,model]\n",
                                        "a=2,b=2,c=2\nshard x=[{a,b},c]\nslice 2x2x2\norder auto\n",
                                        "fsdp=8\nshard x=[fsdp:(2)4,fsdp:(1)2]\nshard w.*=[_,fsdp]\n",
                                        "data=2,model=4\nshard x=[data,_]\norder model=y,data=x\nslice 2x4\n",
                                        "fsdp=4,tensor=2\nshard .*=[fsdp,tensor]\nwritten fsdp=2,tensor=2\n",
                                        "fsdp=4,tensor=2; x=[fsdp,tensor]; order=auto; windowed=auto\n"};

SourcePtr source_of(std::string name, std::string text) {
  return std::make_shared<const SourceFile>(std::move(name), std::move(text));
}

/// The files below a folder, in order.
std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error)) files.push_back(at->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

/// What other seeds are made of.
struct Estimated {
  Module module;
  Estimate estimate;
  Report report;
};

class Seeds {
 public:
  explicit Seeds(Bench& bench) : bench_(bench) {}

  void add_file(const std::string& path) {
    const Result<SourcePtr> source = read_source(path);
    if (!source) return;
    const std::string file = fs::path(path).filename().string(), text((*source)->text());
    if (file.ends_with(".mlir")) return add_pieces(file, text);
    if (text.size() > kLargestSeed) return;
    if (mlir::is_bytecode(text)) return add(InputForm::kArtifact, file, text);
    const bool is_yaml = file.ends_with(".yaml");
    if (is_yaml) add(InputForm::kYaml, file, text);
    const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
    if (is_yaml && has("devices:"))
      add(has("objectives:") ? InputForm::kExperiment : InputForm::kGate, file, text);
    else if (is_yaml && has("custom_calls"))
      add(InputForm::kCosts, file, text);
    else if (is_yaml && has("median"))
      add(InputForm::kLimits, file, text);
    else if (is_yaml && has("vocab"))
      add(InputForm::kModel, file, text);
    else if (is_yaml)
      add(InputForm::kDevice, file, text);
    else if (file.ends_with(".json"))
      add(has("time_us") ? InputForm::kMeasured : InputForm::kReport, file, text);
    else if (text.starts_with("BufferAssignment:"))
      add(InputForm::kDump, file, text);
    else if (file.ends_with(".hlo") || has("HloModule") || has("ENTRY"))
      add_modules(file, text);
  }

  void add_others() {
    add(InputForm::kGate, "gate.yaml", std::string(kGateConfig));
    add(InputForm::kExperiment, "experiment.yaml", std::string(kExperiment));
    add(InputForm::kCosts, "costs.yaml", std::string(kCosts));
    add(InputForm::kKnobs, "knobs.txt", std::string(kKnobs));
    add(InputForm::kLimits, "limits.yaml", std::string(kLimits));
    add(InputForm::kRunConfig, "run.yaml", std::string(kRunConfig) + to_yaml(bench_.device("v5e")));
    for (const std::string_view text : kYamls) add(InputForm::kYaml, "text.yaml", std::string(text));
    for (const std::string_view text : kPatterns) add(InputForm::kPattern, "pattern", std::string(text));
    for (const std::string_view text : kMeshes) add(InputForm::kMesh, "mesh", std::string(text));
    for (const ProfileSeed& seed : profile_texts())
      add(InputForm::kProfileText, std::string(seed.name), std::string(seed.text));
    for (const std::string_view name : {"v4", "v5e"})
      add(InputForm::kDevice, std::string(name), to_yaml(bench_.device(name)));
    std::string journal;
    for (const double value : {1.0, 2.5e9, -0.0})
      journal += journal_line(std::string(32, value > 1 ? 'a' : '0'),
                              {std::vector<double>(sweep_metrics().size(), value), {}}) +
                 "\n";
    journal += journal_line(std::string(32, 'f'), {{}, "module.hlo:1:1: error: expects opcode"}) + "\n";
    add(InputForm::kJournal, "journal", journal);
    for (size_t form = 0; form < kInputForms; ++form) bench_.pools[form] = makers_[form].finish();
  }

 private:
  void add(InputForm form, const std::string& name, std::string text) {
    makers_[static_cast<size_t>(form)].add(name, std::move(text));
  }

  /// The pieces of an MLIR text that aren't too large.
  void add_pieces(const std::string& name, const std::string& text) {
    constexpr std::string_view kSeparator = "\n// -----";
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(kSeparator, at), text.size());
      if (end - at <= kLargestSeed) add(InputForm::kMlir, name, text.substr(at, end - at));
      at = end + 1;
    }
  }

  /// Each module as it is printed; a text that doesn't read as it stands.
  void add_modules(const std::string& name, const std::string& text) {
    DiagnosticList findings;
    const std::vector<Module> modules = load_modules(source_of(name, text), op_table(), findings);
    if (findings.has_errors() || modules.empty()) {
      add(InputForm::kModule, name, text);
      return;
    }
    for (const Module& module : modules) {
      PrintOptions print;
      print.signature = false;
      print.metadata = right_ % 4 == 0;
      add(InputForm::kModule, name, to_text(module, op_table(), print));
      ++right_;
      if (right_ % 8 == 0 && made_ < kMadeSeeds) make_others(name, module);
    }
  }

  void make_others(const std::string& name, const Module& module) {
    ++made_;
    if (const Result<std::string> proto = proto_of(module)) {
      add(InputForm::kProto, name, *proto);
      if (made_ % 8 == 0) add(InputForm::kProto, name + ".gz", gzip(*proto));
    }
    if (std::string profile = profile_bytes(module, bench_.device("v5e")); !profile.empty())
      add(InputForm::kProfile, name, std::move(profile));
    if (const auto analysis = analyse_buffers(module, op_table(), {}))
      for (const Era era : {Era::k2026, Era::k2022})
        add(InputForm::kDump, name, to_text(dump_of(**analysis, op_table(), era)));
    const Device& device = bench_.device("v5e");
    const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, EstimateOptions{});
    if (!estimate) return;
    const Report report = make_report(module, op_table(), device, *estimate);
    GateRun run;
    run.file = run.path = "a.hlo";
    run.device = "v5e";
    run.figures = make_figures(report, module, op_table(), *estimate);
    add(InputForm::kReport, name, to_json(report, run.figures, "1"));
    Baseline baseline;
    baseline.runs.push_back(std::move(run));
    add(InputForm::kBaseline, name, to_json(baseline, "1"));
  }

  Bench& bench_;
  std::array<PoolMaker, kInputForms> makers_;
  size_t right_ = 0, made_ = 0;
};

}  // namespace

std::string_view name(InputForm form) { return kFormNames[static_cast<size_t>(form)]; }

const Device& Bench::device(std::string_view device_name) const {
  const auto found = std::find(device_names.begin(), device_names.end(), device_name);
  HLOSIM_CHECK(found != device_names.end(), "{}", device_name);
  return devices[static_cast<size_t>(found - device_names.begin())];
}

Bench make_bench(std::string folder, const std::vector<std::string>& folders) {
  Bench bench;
  bench.folder = std::move(folder);
  bench.device_names = {"v4", "v5e", "v6e", "v7x"};
  for (const std::string& device : bench.device_names) {
    DiagnosticList problems;
    bench.devices.push_back(*load_device(device, {}, {}, problems));
  }
  Seeds seeds(bench);
  for (const std::string& one : folders)
    for (const std::string& file : files_below(one)) seeds.add_file(file);
  seeds.add_others();
  return bench;
}

std::string make_input(const Bench& bench, InputForm form, Random& random) {
  const Pool& modules = bench.pool(InputForm::kModule);
  if (form == InputForm::kModule) return mutated_module(random.pick(modules.seeds), modules, random);
  if (form == InputForm::kPair) {
    const Seed& seed = random.pick(modules.seeds);
    const std::string old = random.one_in(2) ? seed.text : mutated_module(seed, modules, random);
    return old + "\n// -----\n\n" + mutated_module(seed, modules, random);
  }
  const Pool& pool = bench.pool(form);
  if (pool.seeds.empty()) return {};
  const Seed& seed = random.pick(pool.seeds);
  const bool is_binary =
      form == InputForm::kProto || form == InputForm::kArtifact || form == InputForm::kProfile;
  return is_binary ? mutated_proto(seed.text, pool, random) : mutated_text(seed.text, pool, random);
}

}  // namespace hlosim::fuzz
