#include "study/measured_cases.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>

#include "base/text.h"
#include "model/device_text_form.h"
#include "study/measured_kernels.h"
#include "text/read_json.h"

namespace hlosim {
namespace {

constexpr std::string_view kCoresFlag = "cores";
constexpr std::string_view kDispatchFlag = "time_includes_dispatch_us";

/// Reads the keys of one object.
class CaseReader {
 public:
  CaseReader(const Value& object, DiagnosticList& problems) : object_(object), problems_(problems) {}

  MeasuredCase read() {
    MeasuredCase result;
    if (!object_.is_map()) {
      wrong(object_, "a case is an object");
      return result;
    }
    need("id", [&](const Value& value) { text(value, result.id); });
    if (object_.find("input_len")) return served(std::move(result));
    if (object_.find("model")) return published(std::move(result));
    need("device", [&](const Value& value) { text(value, result.device); });
    const Value* kernel_name = object_.find("kernel");
    if (kernel_name && !kernel_name->is_null()) {
      kernel(*kernel_name, result);
    } else {
      need("kind", [&](const Value& value) { text(value, result.kind); });
      need("hlo", [&](const Value& value) { text(value, result.hlo); });
    }
    need("time_us", [&](const Value& value) { positive(value, result.time_us); });
    may("scope", [&](const Value& value) { text(value, result.scope); });
    may("dtype_class", [&](const Value& value) { text(value, result.dtype_class); });
    may("family", [&](const Value& value) { text(value, result.family); });
    may("core", [&](const Value& value) { boolean(value, result.core); });
    may("time_of", [&](const Value& value) { text(value, result.time_of); });
    may("occurrences", [&](const Value& value) { positive(value, result.occurrences); });
    may("tier", [&](const Value& value) { text(value, result.tier); });
    may("num_devices", [&](const Value& value) { whole(value, 1, result.num_devices); });
    may("topology", [&](const Value& value) { topology(value, result.topology); });
    may("topology_unit", [&](const Value& value) { unit(value, result.topology_in_cores); });
    may("optimized", [&](const Value& value) {
      bool optimized = false;
      boolean(value, optimized);
      result.optimized = optimized;
    });
    may("flags", [&](const Value& value) { flags(value, result); });
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

  template <class F>
  void need(std::string_view key, F&& read) {
    if (const Value* value = object_.find(key))
      read(*value);
    else
      problems_.add(error_at(object_, fmt::format("a case without \"{}\"", key)));
  }
  template <class F>
  void may(std::string_view key, F&& read) {
    const Value* value = object_.find(key);
    if (value && !value->is_null()) read(*value);
  }

  void wrong(const Value& value, std::string_view expected) {
    problems_.add(error_at(value, value.key.empty() ? fmt::format("{}, not {}", expected, json_kind(value))
                                                    : fmt::format("\"{}\" is {}, not {}", value.key, expected,
                                                                  json_kind(value))));
  }
  bool is(const Value& value, std::string_view kind, std::string_view expected) {
    if (value.is_scalar() && value.annotation == kind) return true;
    wrong(value, expected);
    return false;
  }

  void text(const Value& value, std::string& into) {
    if (!is(value, kJsonString, "text")) return;
    into = value.text;
    if (into.empty()) problems_.add(error_at(value, fmt::format("\"{}\" is empty", value.key)));
  }
  void boolean(const Value& value, bool& into) {
    if (is(value, kJsonBoolean, "true or false")) into = value.text == "true";
  }
  std::optional<double> number(const Value& value) {
    if (!is(value, kJsonNumber, "a number")) return std::nullopt;
    double result = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [at, error] = std::from_chars(value.text.data(), end, result);
    if (error == std::errc() && at == end) return result;
    problems_.add(error_at(value, fmt::format("\"{}\": {} is out of range", value.key, shown(value.text))));
    return std::nullopt;
  }
  void positive(const Value& value, double& into) {
    const std::optional<double> read = number(value);
    if (!read) return;
    into = *read;
    if (!(into > 0)) problems_.add(error_at(value, fmt::format("\"{}\" is not above 0", value.key)));
  }
  void not_negative(const Value& value, double& into) {
    const std::optional<double> read = number(value);
    if (!read) return;
    into = *read;
    if (into < 0) problems_.add(error_at(value, fmt::format("\"{}\" is negative", value.key)));
  }
  void whole(const Value& value, int64_t low, int64_t& into) {
    const std::optional<double> read = number(value);
    if (!read) return;
    if (*read != std::floor(*read) || *read < static_cast<double>(low) || *read > 1e15) {
      problems_.add(error_at(value, fmt::format("\"{}\" is a whole number from {} on, not {}", value.key, low,
                                                shown(value.text))));
      return;
    }
    into = static_cast<int64_t>(*read);
  }
  void topology(const Value& value, std::optional<Topology>& into) {
    if (!is(value, kJsonString, "a slice such as \"2x2x1\"")) return;
    Result<Topology> read = TextForm<Topology>::read(value.text);
    if (read)
      into = std::move(*read);
    else
      problems_.add(error_at(value, read.error().message, read.error().hint));
  }
  /// Kernels are a scope of their own, and their kinds are their names, unless the case says otherwise.
  void kernel(const Value& value, MeasuredCase& result) {
    text(value, result.kind);
    result.scope = "kernel";
    may("kind", [&](const Value& kind) { text(kind, result.kind); });
    const Value* parts[] = {object_.find("args"), object_.find("blocks")};
    for (const Value*& part : parts) {
      if (!part || part->is_null())
        part = nullptr;
      else if (!part->is_map())
        return wrong(*part, "an object");
    }
    if (object_.find("hlo"))
      problems_.add(error_at(*object_.find("hlo"), "a case has a \"kernel\" or \"hlo\", not both"));
    result.kernel = read_measured_kernel(value, parts[0], parts[1]);
  }
  void unit(const Value& value, bool& cores) {
    if (!is(value, kJsonString, "\"chips\" or \"cores\"")) return;
    cores = value.text == "cores";
    if (!cores && value.text != "chips")
      problems_.add(error_at(
          value, fmt::format("\"topology_unit\" is \"chips\" or \"cores\", not \"{}\"", shown(value.text))));
  }

  /// Of the compiler's: of the type that the flag has.
  void xla_flag(const Value& flag, XlaFlagEffect effect, MeasuredCase& result) {
    int64_t number = 0;
    if (!flag.is_scalar()) return wrong(flag, "a number, text, or true or false");
    const size_t before = problems_.error_count();
    if (effect == XlaFlagEffect::kVmemLimit)
      whole(flag, 1, number);
    else if (effect == XlaFlagEffect::kPState)
      whole(flag, 0, number);
    else if (effect == XlaFlagEffect::kLargeTiles)
      is(flag, kJsonBoolean, "true or false");
    if (problems_.error_count() == before)
      result.xla_flags.push_back({flag.key, flag.text, flag.source, flag.key_offset, flag.offset});
  }

  void flags(const Value& value, MeasuredCase& result) {
    if (!value.is_map()) return wrong(value, "an object");
    for (const Value& flag : value.items) {
      if (flag.is_null()) continue;
      const KnownXlaFlag* known = find_xla_flag(flag.key);
      if (known && known->effect != XlaFlagEffect::kCompiler && why_without_effect(known->effect).empty()) {
        xla_flag(flag, known->effect, result);
      } else if (flag.key == kCoresFlag) {
        int64_t count = 0;
        whole(flag, 1, count);
        result.cores = count;
      } else if (flag.key == kDispatchFlag) {
        not_negative(flag, result.dispatch_us);
      } else {
        if (known && !flag.is_scalar()) wrong(flag, "a number, text, or true or false");
        result.other_flags.push_back(flag.key);
      }
    }
  }

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
