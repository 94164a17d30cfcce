#include "model/custom_call_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/quantity_text.h"
#include "base/text.h"
#include "base/value.h"
#include "model/pallas/sequence_lengths.h"
#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

constexpr std::string_view kKeys[] = {
    "time",    "flops", "vector_operations", "transcendentals", "read", "written", "name", "kernel", "target",
    "op_name", "run"};

/// What `key` is in `key="text"`, `"key":"text"`, `key = \"text\"`; empty: it isn't there.
std::string_view text_after(std::string_view text, std::string_view key) {
  constexpr std::string_view kBetween = "\\\"=: ";
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const size_t end = at + key.size();
    const bool is_word = at == 0 || kBetween.find(text[at - 1]) != std::string_view::npos ||
                         text[at - 1] == '{' || text[at - 1] == ',';
    const size_t begin = std::min(text.find_first_not_of(kBetween, end), text.size());
    if (!is_word || begin == end || text[begin - 1] != '"') continue;
    return text.substr(begin, std::min(text.find_first_of("\\\"", begin), text.size()) - begin);
  }
  return {};
}

std::optional<Pattern> read_pattern(const Value& item, DiagnosticList& problems) {
  if (!item.is_scalar() || item.text.empty()) {
    problems.add(
        error_at(item, fmt::format("{} is {}, expected a regular expression", item.key, described(item))));
    return std::nullopt;
  }
  Result<Pattern> pattern = Pattern::parse(item.text);
  if (pattern) return std::move(*pattern);
  problems.add(error_at(item, fmt::format("{}: {}", item.key, pattern.error().message)));
  return std::nullopt;
}

/// A count such as 4.2e9. Without a value there is an error.
std::optional<int64_t> read_count(const Value& item, DiagnosticList& problems) {
  if (item.is_scalar()) {
    const auto number = TextForm<double>::read(item.text);
    if (number && *number >= 0 && *number < 9e18) return static_cast<int64_t>(std::llround(*number));
  }
  problems.add(error_at(
      item, fmt::format("{} is {}, expected a count such as 1000000 or 4.2e9", item.key, described(item))));
  return std::nullopt;
}

template <class T>
std::optional<T> read_quantity(const Value& item, DiagnosticList& problems) {
  if (!item.is_scalar()) {
    problems.add(error_at(
        item, fmt::format("{} is {}, expected {}", item.key, described(item), TextForm<T>::expects())));
    return std::nullopt;
  }
  auto value = TextForm<T>::read(item.text);
  if (!value) {
    problems.add(error_at(item, fmt::format("{}: {}", item.key, value.error().message), value.error().hint));
    return std::nullopt;
  }
  if (TextForm<T>::number(*value) >= 0) return *value;
  problems.add(error_at(item, fmt::format("{} is negative", item.key)));
  return std::nullopt;
}

std::optional<CustomCallRun> read_run(const Value& item, DiagnosticList& problems) {
  constexpr std::pair<std::string_view, CustomCallRun> kRuns[] = {{"identity", CustomCallRun::kIdentity},
                                                                  {"zeros", CustomCallRun::kZeros},
                                                                  {"ignore", CustomCallRun::kIgnore}};
  for (const auto& [word, run] : kRuns)
    if (item.is_scalar() && item.text == word) return run;
  problems.add(error_at(item, fmt::format("run is {}, expected identity, zeros or ignore", described(item))));
  return std::nullopt;
}

void read_item(const Value& item, CustomCallCost& cost, DiagnosticList& problems) {
  for (const auto& [key, pattern] : {std::pair{"name", &cost.name},
                                     {"kernel", &cost.kernel},
                                     {"target", &cost.target},
                                     {"op_name", &cost.op_name}})
    if (item.key == key) {
      *pattern = read_pattern(item, problems);
      cost.by_key = false;
      return;
    }
  if (item.key == "time") {
    cost.time = read_quantity<Picoseconds>(item, problems);
  } else if (item.key == "read") {
    cost.read = read_quantity<Bytes>(item, problems);
  } else if (item.key == "written") {
    cost.written = read_quantity<Bytes>(item, problems);
  } else if (item.key == "flops") {
    cost.flops = Flops(read_count(item, problems).value_or(0));
  } else if (item.key == "vector_operations") {
    cost.vector_operations = read_count(item, problems).value_or(0);
  } else if (item.key == "transcendentals") {
    cost.transcendentals = read_count(item, problems).value_or(0);
  } else if (item.key == "run") {
    cost.run = read_run(item, problems);
  } else {
    problems.add(error_at_key(item,
                              fmt::format("unknown key \"{}\" of a custom call's cost", shown(item.key)),
                              did_you_mean(item.key, kKeys)));
  }
}

}  // namespace

CustomCallCosts read_custom_call_costs(const SourcePtr& source, DiagnosticList& problems) {
  CustomCallCosts result;
  const std::optional<Value> root = parse_yaml(source, problems);
  if (!root || root->is_null()) return result;
  if (!root->is_map()) {
    problems.add(error_at(
        *root, fmt::format("expected custom-call targets with their costs, found {}", described(*root))));
    return result;
  }
  for (const Value& entry : root->items) {
    CustomCallCost cost;
    cost.key = entry.key;
    cost.source = entry.source;
    cost.offset = entry.key_offset;
    if (!entry.is_map() || entry.items.empty()) {
      problems.add(error_at(entry, fmt::format("the cost of \"{}\" is {}, expected a time or work, as in "
                                               "{{time: 12 us}} or {{flops: 4.2e9, read: 3 MiB}}",
                                               shown(entry.key), described(entry))));
      continue;
    }
    for (const Value& item : entry.items) read_item(item, cost, problems);
    cost.has_cost = std::any_of(entry.items.begin(), entry.items.end(), [](const Value& item) {
      return item.key != "name" && item.key != "kernel" && item.key != "target" && item.key != "op_name" &&
             item.key != "run";
    });
    if (!cost.has_cost && !entry.find("run"))
      problems.add(error_at_key(entry, fmt::format("\"{}\" names calls, but neither their cost nor "
                                                   "what they do to data",
                                                   shown(entry.key))));
    const bool has_work =
        entry.find("flops") || entry.find("vector_operations") || entry.find("transcendentals");
    if (entry.find("time") && has_work)
      problems.add(error_at_key(
          entry, fmt::format("\"{}\" has both a time and work, expected one of them", shown(entry.key))));
    result.costs.push_back(std::move(cost));
  }
  return result;
}

std::string_view kernel_name(const Instruction& custom_call) {
  for (const AttrKey key : {AttrKey::kFrontendAttributes, AttrKey::kBackendConfig})
    if (const Attr* attr = custom_call.find(key))
      if (const std::string_view name = text_after(attr->text(), "kernel_name"); !name.empty()) return name;
  if (custom_call_target(custom_call).find("triton") != std::string_view::npos)
    if (const Attr* config = custom_call.find(AttrKey::kBackendConfig))
      if (const std::string_view name = text_after(config->text(), "name"); !name.empty()) return name;
  std::string_view name = custom_call.name;
  while (true) {
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return name;
    const std::string_view last = name.substr(dot + 1);
    if (last != "clone" && last != "remat" && last.find_first_not_of("0123456789") != std::string_view::npos)
      return name;
    name = name.substr(0, dot);
  }
}

bool CustomCallCost::fits(const Instruction& custom_call) const {
  if (by_key) return custom_call_target(custom_call) == key;
  const Attr* metadata = custom_call.find(AttrKey::kMetadata);
  return (!name || name->matches(custom_call.name)) &&
         (!kernel || kernel->matches(kernel_name(custom_call))) &&
         (!target || target->matches(custom_call_target(custom_call))) &&
         (!op_name || op_name->finds(text_after(metadata ? metadata->text() : "", "op_name")));
}

std::string CustomCallCost::place() const {
  return source ? fmt::format("{}:{}", source->name(), source->locate(offset).line) : key;
}

const CustomCallCost* CustomCallCosts::find(const Instruction& instruction) const {
  if (costs.empty() || !instruction.find(AttrKey::kCustomCallTarget)) return nullptr;
  for (const CustomCallCost& cost : costs)
    if (cost.has_cost && cost.fits(instruction)) return &cost;
  return nullptr;
}

const CustomCallCost* CustomCallCosts::find_run(const Instruction& instruction) const {
  if (costs.empty() || !instruction.find(AttrKey::kCustomCallTarget)) return nullptr;
  for (const CustomCallCost& cost : costs)
    if (cost.run && cost.fits(instruction)) return &cost;
  return nullptr;
}

const KernelDensity* CustomCallCosts::find_density(const Instruction& custom_call) const {
  if (densities.empty() || !custom_call.find(AttrKey::kCustomCallTarget)) return nullptr;
  for (const KernelDensity& one : densities)
    if (one.kernel.matches(kernel_name(custom_call))) return &one;
  return nullptr;
}

Result<KernelDensity> parse_kernel_density(const std::string& text) {
  const size_t equals = text.rfind('=');
  const auto share = TextForm<double>::read(equals == std::string::npos ? "" : text.substr(equals + 1));
  if (equals == 0 || !share || !(*share >= 0 && *share <= 1))
    return failure(fmt::format("'{}' is not a kernel with a share from 0 to 1", shown(text)),
                   "as in splash_mha_fwd=0.5, or a regular expression for the names of several");
  Result<Pattern> kernel = Pattern::parse(text.substr(0, equals));
  if (kernel) return KernelDensity{text, std::move(*kernel), *share};
  return tl::unexpected(std::move(kernel.error()));
}

bool KernelValues::names(size_t index, std::string_view name) const {
  return operand == name || operand == fmt::format("{}", index);
}

const KernelValues* CustomCallCosts::find_values(const Instruction& custom_call, size_t index,
                                                 std::string_view name) const {
  if (values.empty() || !custom_call.find(AttrKey::kCustomCallTarget)) return nullptr;
  for (const KernelValues& one : values)
    if (one.names(index, name) && one.kernel.matches(kernel_name(custom_call))) return &one;
  return nullptr;
}

Result<KernelValues> parse_kernel_values(const std::string& text) {
  const size_t equals = text.rfind('=');
  const size_t colon = equals == std::string::npos ? equals : text.rfind(':', equals);
  if (colon == std::string::npos || colon == 0 || colon + 1 == equals)
    return failure(fmt::format("'{}' is not KERNEL:OPERAND=VALUES", shown(text)),
                   "as in RPAd.*:0=64x1500, the kernel a regular expression for the names of several");
  Result<std::vector<int64_t>> values = parse_counted_numbers(std::string_view(text).substr(equals + 1));
  if (!values) return tl::unexpected(std::move(values.error()));
  Result<Pattern> kernel = Pattern::parse(text.substr(0, colon));
  if (!kernel) return tl::unexpected(std::move(kernel.error()));
  return KernelValues{text, std::move(*kernel), text.substr(colon + 1, equals - colon - 1),
                      std::move(*values)};
}

void UnusedCustomCallCosts::add(const Module& module) {
  if (costs_.costs.empty() && costs_.densities.empty() && costs_.values.empty()) return;
  for (const Instruction& instruction : module.instructions) {
    if (!instruction.find(AttrKey::kCustomCallTarget)) continue;
    if (const CustomCallCost* cost = costs_.find(instruction))
      used_[static_cast<size_t>(cost - costs_.costs.data())] = true;
    if (const KernelDensity* density = costs_.find_density(instruction))
      used_densities_[static_cast<size_t>(density - costs_.densities.data())] = true;
    for (size_t i = 0; i < instruction.operands.size() && !costs_.values.empty(); ++i)
      if (const KernelValues* values =
              costs_.find_values(instruction, i, module[instruction.operands[i]].name))
        used_values_[static_cast<size_t>(values - costs_.values.data())] = true;
    for (const std::string_view name : {custom_call_target(instruction), kernel_name(instruction)})
      if (std::find(names_.begin(), names_.end(), name) == names_.end()) names_.emplace_back(name);
  }
}

std::vector<Diagnostic> UnusedCustomCallCosts::warnings() const {
  std::vector<Diagnostic> warnings;
  const std::vector<std::string_view> names(names_.begin(), names_.end());
  for (size_t i = 0; i < used_.size(); ++i) {
    if (used_[i] || !costs_.costs[i].has_cost) continue;
    const CustomCallCost& cost = costs_.costs[i];
    Diagnostic warning =
        error_at(cost.source, cost.offset, fmt::format("no custom call is costed by \"{}\"", shown(cost.key)),
                 names.empty() ? "no module has custom calls" : did_you_mean(cost.key, names));
    warning.severity = Severity::kWarning;
    warnings.push_back(std::move(warning));
  }
  for (size_t i = 0; i < used_densities_.size(); ++i) {
    if (used_densities_[i]) continue;
    const std::string_view text = costs_.densities[i].text, kernel = text.substr(0, text.rfind('='));
    Diagnostic& warning = warnings.emplace_back();
    warning.severity = Severity::kWarning;
    warning.message = fmt::format("--kernel-density: no kernel is called '{}'", shown(kernel));
    warning.hint = did_you_mean(kernel, names);
  }
  for (size_t i = 0; i < used_values_.size(); ++i) {
    if (used_values_[i]) continue;
    const std::string_view text = costs_.values[i].text,
                           kernel = text.substr(0, text.rfind(':', text.rfind('=')));
    Diagnostic& warning = warnings.emplace_back();
    warning.severity = Severity::kWarning;
    warning.message = fmt::format("--kernel-values: no kernel that is called '{}' has an operand {}",
                                  shown(kernel), shown(costs_.values[i].operand));
    warning.hint = did_you_mean(kernel, names);
  }
  return warnings;
}

}  // namespace hlosim
