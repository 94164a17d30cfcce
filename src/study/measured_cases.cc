#include "study/measured_cases.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "model/device_text_form.h"
#include "study/measured_kernels.h"
#include "text/entry_fields.h"
#include "text/read_json.h"

namespace hlosim {
namespace {

constexpr std::string_view kCoresFlag = "cores";
constexpr std::string_view kDispatchFlag = "time_includes_dispatch_us";

/// Reads the keys of one object.
class CaseReader {
 public:
  CaseReader(const Value& object, DiagnosticList& problems)
      : fields_(object, "a case", problems), object_(object), problems_(problems) {}

  MeasuredCase read() {
    MeasuredCase result;
    if (!object_.is_map()) {
      problems_.add(error_at(object_, fmt::format("a case is an object, not {}", json_kind(object_))));
      return result;
    }
    fields_.text("id", result.id, EntryFields::kNeeded);
    if (object_.find("input_len")) return served(std::move(result));
    if (object_.find("model")) return published(std::move(result));
    fields_.text("device", result.device, EntryFields::kNeeded);
    if (fields_.find("kernel")) {
      kernel(result);
    } else {
      fields_.text("kind", result.kind, EntryFields::kNeeded);
      fields_.text("hlo", result.hlo, EntryFields::kNeeded);
    }
    fields_.positive("time_us", result.time_us, EntryFields::kNeeded);
    fields_.text("scope", result.scope);
    fields_.text("dtype_class", result.dtype_class);
    fields_.text("family", result.family);
    fields_.flag("core", result.core);
    fields_.text("time_of", result.time_of);
    fields_.positive("occurrences", result.occurrences);
    fields_.text("tier", result.tier);
    fields_.whole("num_devices", result.num_devices, 1);
    topology(result);
    bool optimized = false;
    if (fields_.flag("optimized", optimized)) result.optimized = optimized;
    if (const Value* all = fields_.object("flags")) flags(*all, result);
    return result;
  }

 private:
  /// Warnings are the file's; the first error is why the case has no prediction.
  void take_problems(const DiagnosticList& own, MeasuredCase& result) {
    for (const Diagnostic& problem : own.items()) {
      if (problem.severity != Severity::kError) {
        problems_.add(problem);
      } else if (result.unreadable.empty()) {
        const LineColumn place = problem.source ? problem.source->locate(problem.offset) : LineColumn{};
        result.unreadable = fmt::format("{}:{}: {}", place.line, place.column, problem.message);
      }
    }
  }

  /// Steps of models are a scope of their own; their kinds are the families of models.
  MeasuredCase published(MeasuredCase result) {
    DiagnosticList own;
    auto run = std::make_shared<PublishedRun>(read_published_run(object_, own));
    take_problems(own, result);
    result.device = run->device;
    result.kind = run->family;
    result.scope = "step";
    result.dtype_class = "native";
    result.time_us = run->step_seconds * 1e6;
    if (result.unreadable.empty()) result.run = std::move(run);
    return result;
  }

  /// Servers are a scope of their own; their kinds are the times that are compared: between tokens, or where
  /// only throughput is known, that of one token of all requests.
  MeasuredCase served(MeasuredCase result) {
    DiagnosticList own;
    auto server = std::make_shared<MeasuredServer>(read_measured_server(object_, own));
    take_problems(own, result);
    result.device = server->device;
    result.kind = kind_of(server->time);
    result.scope = "serving";
    result.dtype_class = "native";
    result.time_us = server->ms > 0 ? server->ms * 1e3 : server->rate > 0 ? 1e6 / server->rate : 0;
    if (result.unreadable.empty()) result.server = std::move(server);
    return result;
  }

  void topology(MeasuredCase& result) {
    std::string text;
    if (fields_.text("topology", text)) {
      Result<Topology> read = TextForm<Topology>::read(text);
      if (read)
        result.topology = std::move(*read);
      else
        fields_.wrong("topology", read.error().message, read.error().hint);
    }
    if (!fields_.text("topology_unit", text)) return;
    result.topology_in_cores = text == "cores";
    if (!result.topology_in_cores && text != "chips")
      fields_.wrong("topology_unit",
                    fmt::format("\"topology_unit\" is \"chips\" or \"cores\", not \"{}\"", shown(text)));
  }
  /// Kernels are a scope of their own, and their kinds are their names, unless the case says otherwise.
  void kernel(MeasuredCase& result) {
    fields_.text("kernel", result.kind);
    result.scope = "kernel";
    fields_.text("kind", result.kind);
    const Value* args = fields_.object("args");
    const Value* blocks = fields_.object("blocks");
    if (object_.find("hlo")) fields_.wrong("hlo", "a case has a \"kernel\" or \"hlo\", not both");
    result.kernel = read_measured_kernel(*object_.find("kernel"), args, blocks);
  }

  /// Of the compiler's: of the type that the flag has.
  void xla_flag(EntryFields& flags, const Value& flag, XlaFlagEffect effect, MeasuredCase& result) {
    int64_t number = 0;
    bool on = false;
    const size_t before = problems_.error_count();
    if (!flag.is_scalar())
      wrong_flag(flag);
    else if (effect == XlaFlagEffect::kVmemLimit)
      flags.whole(flag.key, number, 1);
    else if (effect == XlaFlagEffect::kPState)
      flags.whole(flag.key, number, 0);
    else if (effect == XlaFlagEffect::kLargeTiles)
      flags.flag(flag.key, on);
    if (problems_.error_count() == before)
      result.xla_flags.push_back({flag.key, flag.text, flag.source, flag.key_offset, flag.offset});
  }
  void wrong_flag(const Value& flag) {
    problems_.add(error_at(
        flag, fmt::format("\"{}\" is a number, text, or true or false, not {}", flag.key, json_kind(flag))));
  }

  void flags(const Value& all, MeasuredCase& result) {
    EntryFields fields(all, "\"flags\"", problems_);
    int64_t cores = 0;
    if (fields.whole(kCoresFlag, cores, 1)) result.cores = cores;
    fields.not_negative(kDispatchFlag, result.dispatch_us);
    for (const Value& flag : all.items) {
      if (flag.is_null() || flag.key == kCoresFlag || flag.key == kDispatchFlag) continue;
      const KnownXlaFlag* known = find_xla_flag(flag.key);
      if (known && known->effect != XlaFlagEffect::kCompiler && why_without_effect(known->effect).empty()) {
        xla_flag(fields, flag, known->effect, result);
      } else {
        if (known && !flag.is_scalar()) wrong_flag(flag);
        result.other_flags.push_back(flag.key);
      }
    }
  }

  EntryFields fields_;
  const Value& object_;
  DiagnosticList& problems_;
};

}  // namespace

std::vector<MeasuredCase> read_measured_cases(const SourcePtr& source, DiagnosticList& problems) {
  std::vector<MeasuredCase> cases;
  const std::optional<Value> root = parse_json(source, problems);
  if (!root) return cases;
  if (!root->is_list()) {
    problems.add(
        error_at(*root, fmt::format("measured cases are an array of objects, not {}", json_kind(*root))));
    return cases;
  }
  std::set<std::string_view> ids;
  cases.reserve(root->items.size());
  for (const Value& item : root->items) {
    cases.push_back(CaseReader(item, problems).read());
    const std::string& id = cases.back().id;
    if (!id.empty() && !ids.insert(id).second)
      problems.add(error_at(*item.find("id"), fmt::format("id \"{}\" is given twice", shown(id))));
  }
  return cases;
}

}  // namespace hlosim
