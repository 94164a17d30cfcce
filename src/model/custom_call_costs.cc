#include "model/custom_call_costs.h"

#include <fmt/format.h>

#include <cmath>

#include "base/quantity_text.h"
#include "base/text.h"
#include "base/value.h"

namespace hlosim {
namespace {

constexpr std::string_view kKeys[] = {"time", "flops",  "vector_operations", "transcendentals",
                                      "read", "written"};

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

void read_item(const Value& item, CustomCallCost& cost, DiagnosticList& problems) {
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
    cost.target = entry.key;
    if (!entry.is_map() || entry.items.empty()) {
      problems.add(error_at(entry, fmt::format("the cost of \"{}\" is {}, expected a time or work, as in "
                                               "{{time: 12 us}} or {{flops: 4.2e9, read: 3 MiB}}",
                                               shown(entry.key), described(entry))));
      continue;
    }
    for (const Value& item : entry.items) read_item(item, cost, problems);
    const bool has_work =
        entry.find("flops") || entry.find("vector_operations") || entry.find("transcendentals");
    if (entry.find("time") && has_work)
      problems.add(error_at_key(
          entry, fmt::format("\"{}\" has both a time and work, expected one of them", shown(entry.key))));
    result.costs.push_back(std::move(cost));
  }
  return result;
}

}  // namespace hlosim
