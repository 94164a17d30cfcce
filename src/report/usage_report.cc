// Reports on a dump alone.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "report/buffer_report.h"
#include "report/text_builder.h"

namespace hlosim {
namespace {

/// Layouts behind dimensions are left out: `f32[8]{0}` becomes `f32[8]`.
std::string without_layout(const std::string& shape) {
  std::string out;
  int depth = 0;
  for (const char c : shape) {
    if (c == '{') ++depth;
    if (depth == 0) out += c;
    if (c == '}') --depth;
  }
  return out;
}

std::string kinds(const DumpAllocation& a) {
  std::string text = fmt::format("allocation {}: size {}", a.number, xla_size_text(a.size));
  if (a.parameter)
    text += fmt::format(", parameter {}, shape |{}| at ShapeIndex {}", a.parameter->number,
                        a.parameter->shape, index_text(a.parameter->index));
  if (a.output_shape) text += fmt::format(", output shape is |{}|", *a.output_shape);
  if (a.is_constant) text += ", constant";
  if (a.is_thread_local) text += ", thread-local";
  if (a.is_output) text += ", maybe-live-out";
  if (a.is_temporary) text += ", preallocated-temp";
  return text + ":";
}

struct OffsetGroup {
  int64_t offset = 0, size = 0, last_id = 0;
  std::vector<const DumpValue*> values;
};

std::vector<OffsetGroup> groups_of(const DumpAllocation& allocation) {
  std::map<int64_t, OffsetGroup> by_offset;
  for (const DumpValue& value : allocation.values) {
    OffsetGroup& group = by_offset[value.offset];
    group.offset = value.offset;
    group.size = std::max(group.size, value.size);
    group.last_id = value.value.id;
    group.values.push_back(&value);
  }
  std::vector<OffsetGroup> groups;
  for (auto& [offset, group] : by_offset) groups.push_back(std::move(group));
  std::sort(groups.begin(), groups.end(), [](const OffsetGroup& a, const OffsetGroup& b) {
    return std::tuple(-a.size, a.last_id) < std::tuple(-b.size, b.last_id);
  });
  return groups;
}

/// `2×f32[8], s32[]`
std::string shapes_of(const OffsetGroup& group) {
  std::vector<std::pair<std::string, int>> counted;
  for (const DumpValue* value : group.values) {
    const std::string shape = without_layout(value->shape);
    const auto known =
        std::find_if(counted.begin(), counted.end(), [&](const auto& c) { return c.first == shape; });
    if (known == counted.end())
      counted.emplace_back(shape, 1);
    else
      ++known->second;
  }
  std::vector<std::string> texts;
  for (const auto& [shape, count] : counted)
    texts.push_back(count > 1 ? fmt::format("{}×{}", count, shape) : shape);
  return fmt::format("{}", fmt::join(texts, ", "));
}

double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

std::string usage_report(const BufferDump& dump) {
  std::map<int64_t, std::vector<const DumpAllocation*>> by_color;
  for (const DumpAllocation& allocation : dump.allocations) by_color[allocation.color].push_back(&allocation);
  std::string out;
  const TextBuilder print{out};
  for (auto& [color, allocations] : by_color) {
    std::stable_sort(allocations.begin(), allocations.end(),
                     [](const DumpAllocation* a, const DumpAllocation* b) { return a->size > b->size; });
    int64_t total = 0, sum = 0;
    for (const DumpAllocation* allocation : allocations) total += allocation->size;
    print("Memory Space: {} (color={})\nTotal bytes: {} ({})\n",
          color == 0 ? "default" : fmt::format("S({})", color), color, total, xla_size_text(total));
    print("\ncumulative_size; total_size - cumulative_size; allocation\n{}\n", std::string(78, '-'));
    for (const DumpAllocation* allocation : allocations) {
      sum += allocation->size;
      print("{:>10}({:3.0f}%); {:>10}; {}\n", xla_size_text(sum), percent(sum, total),
            xla_size_text(total - sum), kinds(*allocation));
    }
    for (const DumpAllocation* allocation : allocations) {
      print("\n{}\n  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n  {}\n",
            kinds(*allocation), std::string(60, '-'));
      int64_t cumulative = 0;
      for (const OffsetGroup& group : groups_of(*allocation)) {
        cumulative += group.size;
        print("  {:>9}({:3.0f}%); {:>10}; {:>12}; {:>16}; {}\n", xla_size_text(cumulative),
              percent(cumulative, allocation->size), xla_size_text(group.size), group.offset,
              group.values.size(), shapes_of(group));
      }
    }
    print("\n");
  }
  return out;
}

std::string dump_summary(const BufferDump& dump) {
  struct Kind {
    int64_t count = 0, bytes = 0;
  };
  std::map<std::string, Kind> kinds_found;
  int64_t total = 0;
  std::vector<const DumpValue*> values;
  for (const DumpAllocation& a : dump.allocations) {
    Kind& kind = kinds_found[a.parameter         ? "parameters"
                             : a.is_constant     ? "constants"
                             : a.is_thread_local ? "thread-local"
                             : a.is_output       ? "outputs"
                                                 : "temporary"];
    ++kind.count;
    kind.bytes += a.size;
    total += a.size;
    for (const DumpValue& value : a.values) values.push_back(&value);
  }
  std::stable_sort(values.begin(), values.end(),
                   [](const DumpValue* a, const DumpValue* b) { return a->size > b->size; });
  std::string out;
  const TextBuilder print{out};
  print("Dump of {}: {} allocations, {} ({} bytes), {} values\n", dump.era == Era::k2022 ? "2022" : "today",
        dump.allocations.size(), xla_size_text(total), total, values.size());
  for (const auto& [name, kind] : kinds_found)
    print("  {:<12} {:>5} allocations {:>12} bytes\n", name, kind.count, kind.bytes);
  if (dump.has(DumpPart::kLiveRange))
    print("  {} steps, peak at step {}, {} values live then\n", dump.live_range.end,
          dump.live_range.peak_step, dump.live_range.peak.size());
  print("Largest values:\n");
  for (size_t i = 0; i < values.size() && i < 15; ++i)
    print("  {:>10}  {}{}  {}\n", xla_size_text(values[i]->size), values[i]->value.name,
          values[i]->value.index ? index_text(*values[i]->value.index) : "", values[i]->shape);
  return out;
}

}  // namespace hlosim
