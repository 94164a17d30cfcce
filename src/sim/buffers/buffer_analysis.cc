#include "buffers/buffer_analysis.h"

#include <fmt/format.h>

#include "buffers/assignment_order.h"
#include "buffers/memory_schedule.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

int64_t bytes_of(ShapeRef shape, bool padded) {
  const ShapeRef array = shape->is_buffer() ? shape->elements[0] : shape;
  return (padded ? array_size(array) : dense_bytes(array)).count();
}

int64_t space_of(ShapeRef shape) {
  const ShapeRef array = shape->is_buffer() ? shape->elements[0] : shape;
  return array->is_array() ? array->memory_space() : kDefaultMemorySpace;
}

/// By value. Errors: a sum that 63 bits don't hold.
Result<std::vector<int64_t>> sizes_of(const Places& places, const Values& values, const Module& module,
                                      bool padded) {
  double total = 0;
  std::unordered_map<ShapeRef, int64_t> known;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < values.size(); ++i) {
    const ShapeRef shape = places.shape(values[static_cast<ValueIndex>(i)].defined);
    const auto [entry, is_new] = known.try_emplace(shape, 0);
    if (is_new) entry->second = bytes_of(shape, padded);
    sizes.push_back(entry->second);
    total += static_cast<double>(entry->second);
  }
  if (total > 4e18)
    return failure(
        fmt::format("the values of module {} take {:.3g} bytes together: more than 2^62 can't be placed",
                    module.name, total));
  return sizes;
}

}  // namespace

Result<FlatSchedule> find_schedule(const Module& module, const BufferOptions& options) {
  const ModuleGraph graph(module, options.orders);
  const Places places(module);
  const Result<Values> values = Values::find(graph, places, options.era);
  if (!values) return tl::unexpected(values.error());
  const Result<std::vector<int64_t>> sizes = sizes_of(places, *values, module, options.padded);
  if (!sizes) return tl::unexpected(sizes.error());
  // An order in which nothing can be placed is none.
  if (const auto order = assignment_order(graph); !order) return tl::unexpected(order.error());
  const AliasedBuffers buffers(graph, places, *values, options.era);
  const Schedulers schedulers(graph, places, *values, buffers, *sizes);
  return flatten(graph, schedulers.choose(options.schedule).order);
}

Result<std::unique_ptr<BufferAnalysis>> analyse_buffers(const Module& module, const OpTable& table,
                                                        const BufferOptions& options) {
  auto out = std::make_unique<BufferAnalysis>(module, options.orders);
  Result<Values> values = Values::find(out->graph, out->places, options.era);
  if (!values) return tl::unexpected(values.error());
  out->values = std::move(*values);
  Result<std::vector<int64_t>> sizes = sizes_of(out->places, out->values, module, options.padded);
  if (!sizes) return tl::unexpected(sizes.error());
  out->sizes = std::move(*sizes);
  for (size_t i = 0; i < out->values.size(); ++i)
    out->spaces.push_back(space_of(out->shape(static_cast<ValueIndex>(i))));
  out->buffers.emplace(out->graph, out->places, out->values, options.era);
  Schedulers schedulers(out->graph, out->places, out->values, *out->buffers, out->sizes);
  const ScheduleChoice choice = schedulers.choose(options.schedule);
  out->scheduled_by = choice.source;
  out->schedule = flatten(out->graph, choice.order);
  out->ranges = live_ranges(out->graph, out->places, out->values, *out->buffers, out->schedule);
  const Overwrites overwrites(module, table, out->users,
                              options.era == Era::k2022 ? SharingRules::kGpu2022 : SharingRules::kDefault);
  const Interference interference(out->graph, out->places, out->values, out->ranges, overwrites, options.era);
  Result<Assignment> assignment =
      assign_buffers(interference, *out->buffers, out->sizes, out->spaces, options.alignment);
  if (!assignment) return tl::unexpected(assignment.error());
  out->assignment = std::move(*assignment);
  out->least_bytes = least_bytes(interference, *out->buffers, out->sizes);
  out->peak = peak_step(out->places, out->values, module, out->ranges);
  return out;
}

}  // namespace hlosim
