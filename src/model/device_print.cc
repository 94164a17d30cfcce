// A device as text: a file that loads to the same device, the tables of `hlosim devices`, the schema.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/value.h"
#include "model/builtin_configs.h"
#include "model/device_files.h"
#include "model/device_reader.h"
#include "model/device_text_form.h"

namespace hlosim {
namespace {

/// `text` as a YAML value: what could be read as something else is quoted.
std::string yaml_value(const DeviceValue& value) {
  return value.has_source ? value.text : yaml_quoted(value.text);
}

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> parts;
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    parts.push_back(path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  parts.push_back(path);
  return parts;
}

std::string padded(std::string_view text, size_t width) { return fmt::format("{:<{}}", text, width); }

/// Left-aligned columns two blanks apart, under their headings; no blanks at line ends.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) line += padded(row[i], widths[i]) + "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

/// A long list by its first items, its last one and how many there are: "[2x2x1, 2x2x2, ... 16x20x28] (96)".
std::string shortened(const std::string& text) {
  constexpr size_t kLongest = 100, kFirst = 60;
  if (text.size() <= kLongest || text.front() != '[') return text;
  const size_t end = text.rfind(", ", kFirst);
  if (end == std::string::npos) return text;
  return fmt::format("{}, ... {} ({})", text.substr(0, end), text.substr(text.rfind(", ") + 2),
                     std::count(text.begin(), text.end(), ',') + 1);
}

std::string rate_or_dash(FlopsPerSecond rate) { return rate.count() > 0 ? to_text(rate) : "-"; }

/// "bf16 and f32 196.6 TFLOP/s, s8 and s4 ...": element types of the arrays, equal rates together.
std::string peaks_text(const DeviceConfig& config) {
  std::vector<std::pair<double, std::string>> groups;
  for (const MxuType& row : config.mxu.types) {
    const double peak = peak_flops(config, row.type).count();
    const auto same =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == peak; });
    if (same == groups.end())
      groups.emplace_back(peak, to_text(row.type));
    else
      same->second += fmt::format(" {}", to_text(row.type));
  }
  std::string out;
  for (const auto& [peak, types] : groups)
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", to_text(FlopsPerSecond(peak)), types);
  return out;
}

std::string sources_text(const Device& device) {
  int counts[kSourceClassCount] = {};
  for (const DeviceValue& value : device.values)
    if (value.has_source) ++counts[static_cast<int>(value.source_class)];
  std::string out;
  for (int i = 0; i < kSourceClassCount; ++i)
    if (counts[i] > 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", counts[i], to_text(static_cast<SourceClass>(i)));
  return out;
}

std::string hbm_text(const DeviceConfig& config) {
  const SpaceRates rates = device_rates(config, config.hbm());
  const BytesPerSecond rate = std::min(rates.total, rates.read + rates.write);
  return fmt::format("{} at {}", to_text(*config.hbm().capacity), to_text(rate));
}

}  // namespace

std::string to_yaml(const Device& device) {
  std::string out;
  std::vector<std::string_view> open;  // sections around the last line
  for (const DeviceValue& value : device.values) {
    const std::vector<std::string_view> parts = split_path(value.path);
    size_t common = 0;
    while (common < open.size() && common + 1 < parts.size() && open[common] == parts[common]) ++common;
    open.assign(parts.begin(), parts.end() - 1);
    for (size_t i = common; i + 1 < parts.size(); ++i) out += fmt::format("{:{}}{}:\n", "", 2 * i, parts[i]);
    out += fmt::format("{:{}}{}: ", "", 2 * (parts.size() - 1), parts.back());
    out += value.has_source
               ? fmt::format("{{value: {}, source: {}}}\n", yaml_value(value), yaml_quoted(value.source))
               : yaml_value(value) + "\n";
  }
  return out;
}

std::string to_text(const Device& device) {
  const DeviceConfig& config = device.config;
  std::string out = fmt::format("{} ({})\n{}\n", config.name, device.file, config.description);
  out += fmt::format("peak      {}\n", peaks_text(config));
  out += fmt::format("vector    {} (32-bit operations)\n", rate_or_dash(peak_vector_flops(config)));
  out += fmt::format("HBM       {}\n", hbm_text(config));
  out += fmt::format("values    {}\n", sources_text(device));
  out += fmt::format("hash      {}\n\n", device.fingerprint());
  std::vector<std::vector<std::string>> rows = {{"key", "value", "meaning", "source"}};
  for (const DeviceValue& value : device.values)
    if (value.has_source)
      rows.push_back({value.path, shortened(value.text), std::string(value.doc), value.source});
  return out + table(rows);
}

std::string builtin_devices_text() {
  std::vector<std::vector<std::string>> rows = {
      {"device", "name", "cores", "clock", "bf16 peak", "HBM", "one device is"}};
  for (const BuiltinConfig& file : builtin_configs()) {
    if (is_abstract(file)) continue;
    DiagnosticList problems;
    const std::optional<Device> device = load_device(builtin_source(file), {}, {}, problems);
    HLOSIM_CHECK(device, "{}", problems.items().empty() ? "" : render(problems.items().front()));
    const DeviceConfig& config = device->config;
    rows.push_back({std::string(file.name), config.name, fmt::format("{}", config.cores),
                    to_text(config.clock), rate_or_dash(peak_flops(config, ElementType::kBF16)),
                    hbm_text(config), config.description});
  }
  return table(rows);
}

namespace {

template <class T>
std::string expectation() {
  if constexpr (OptionalField<T>)
    return TextForm<typename T::value_type>::expects();
  else
    return TextForm<T>::expects();
}

template <class T>
std::string range_text(std::optional<Range> range) {
  if constexpr (NumberForm<T>) {
    const Range limits = range.value_or(TextForm<T>::range);
    return fmt::format("; {} to {}", internal::write_number(limits.low, TextForm<T>::dimension),
                       internal::write_number(limits.high, TextForm<T>::dimension));
  } else {
    return "";
  }
}

/// Heading, meaning and a table of one struct's keys, then its sections.
template <class T>
void document(const std::string& path, std::string& out) {
  std::string deeper;
  out += "| key | value | meaning |\n| --- | --- | --- |\n";
  T object{};
  T::fields(
      object, [&]<class F>(std::string_view key, F&, std::string_view doc, std::optional<Range> range = {}) {
        const std::string full = join_path(path, key);
        if constexpr (HasFields<F>) {
          out += fmt::format("| `{}` | section | {} |\n", key, doc);
          deeper += fmt::format("\n### `{}`: {}\n\n", full, doc);
          document<F>(full, deeper);
        } else if constexpr (OptionalSection<F>) {
          out += fmt::format("| `{}` (may be absent) | section | {} |\n", key, doc);
          deeper += fmt::format("\n### `{}`: {}\n\n", full, doc);
          document<typename F::value_type>(full, deeper);
        } else if constexpr (KeyedList<F>) {
          using Item = typename F::value_type;
          out += fmt::format("| `{}` (may be absent) | section, one key per item | {} |\n", key, doc);
          deeper += fmt::format("\n### `{}.NAME`: {}\n\n", full, doc);
          document<Item>(full + ".NAME", deeper);
        } else {
          out += fmt::format("| `{}`{} | {}{} | {} |\n", key, OptionalField<F> ? " (may be absent)" : "",
                             expectation<F>(), range_text<F>(range), doc);
        }
      });
  out += deeper;
}

}  // namespace

std::string schema_markdown() {
  std::string out;
  document<DeviceConfig>("", out);
  return out;
}

}  // namespace hlosim
