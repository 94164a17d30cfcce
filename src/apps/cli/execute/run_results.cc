#include "cli/execute/run_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "array/byte_packing.h"
#include "array/statistics.h"
#include "base/units.h"
#include "hlo/literal.h"
#include "text/table.h"

namespace hlosim {
namespace {

std::string number(double value) { return fmt::format("{:.6g}", value); }

/// Type and runtime sizes, without the layout.
std::string shape_text(const Array& array) {
  if (!array.shape->is_array()) return to_text(array.shape);
  return fmt::format("{}[{}]", to_text(array.type()), fmt::join(runtime_sizes(array), ","));
}

/// The text of element `index`, counted within the runtime sizes.
std::string element_text(const Array& array, int64_t index) {
  ShapePool shapes;
  const int64_t width = byte_width(array.type());
  const std::vector<std::byte> packed = array.sizes ? pack(array) : std::vector<std::byte>();
  const std::byte* const data = array.sizes ? packed.data() : array.bytes();
  Literal literal;
  literal.shape = shapes.scalar(array.type());
  literal.data = {data + index * width, static_cast<size_t>(width)};
  return to_text(literal);
}

std::string index_text(const Array& array, int64_t index) {
  const std::vector<int64_t> sizes = runtime_sizes(array);
  const std::vector<int64_t> strides = dense_strides(sizes);
  std::vector<int64_t> indices;
  for (size_t d = 0; d < sizes.size(); ++d) indices.push_back(index / strides[d] % sizes[d]);
  return fmt::format("[{}]", fmt::join(indices, ","));
}

}  // namespace

std::string literal_text(const Array& array, ShapePool& shapes) {
  if (!array.shape->is_array()) return to_text(array.shape);
  const std::vector<std::byte> packed = array.sizes ? pack(array) : std::vector<std::byte>();
  Literal literal;
  literal.shape = shapes.array(array.type(), runtime_sizes(array));
  literal.data =
      array.sizes ? std::span<const std::byte>(packed)
                  : std::span<const std::byte>(array.bytes(), static_cast<size_t>(data_bytes(array.shape)));
  return fmt::format("{} {}", shape_text(array), to_text(literal));
}

std::string statistics_text(const Array& array) {
  if (!array.shape->is_array()) return shape_text(array);
  // What a start gives besides its data: nothing computes with it.
  if (!array.data && array.shape->element_count() > 0) return shape_text(array) + "  no value";
  const Statistics s = statistics(array);
  return fmt::format("{}  min {}  max {}  mean {}  NaN {}  inf {}  crc32c {:08x}", shape_text(array),
                     number(s.min), number(s.max), number(s.mean), s.nans, s.infinities, s.checksum);
}

std::string outputs_text(std::span<const Array> outputs) {
  Table table({{"output", Align::kLeft},
               {"shape", Align::kLeft, 40},
               {"min"},
               {"max"},
               {"mean"},
               {"NaN"},
               {"inf"},
               {"crc32c"}});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].shape->is_array()) {
      table.add({fmt::format("{}", i), shape_text(outputs[i]), "-", "-", "-", "-", "-", "-"});
      continue;
    }
    const Statistics s = statistics(outputs[i]);
    table.add({fmt::format("{}", i), shape_text(outputs[i]), number(s.min), number(s.max), number(s.mean),
               grouped(s.nans), grouped(s.infinities), fmt::format("{:08x}", s.checksum)});
  }
  return table.text("");
}

std::string comparison_text(std::span<const ComparedOutput> outputs) {
  Table table({{"output", Align::kLeft},
               {"shape", Align::kLeft, 40},
               {"different"},
               {"outside"},
               {"NaN/inf"},
               {"max abs"},
               {"max rel"},
               {"max ulps"},
               {"first different", Align::kLeft}});
  size_t outside = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ComparedOutput& output = outputs[i];
    const Comparison& c = output.comparison;
    outside += !c.within();
    if (!output.expected) {
      table.add({fmt::format("{}", i), shape_text(*output.actual), "-", "-", "-", "-", "-", "-", "-"});
      continue;
    }
    std::string first = "-";
    if (c.sizes_differ)
      first = fmt::format("expected {}", shape_text(*output.expected));
    else if (const int64_t at = c.first_outside >= 0 ? c.first_outside : c.first_different; at >= 0)
      first = fmt::format("{}: {}, expected {}", index_text(*output.actual, at),
                          element_text(*output.actual, at), element_text(*output.expected, at));
    table.add({fmt::format("{}", i), shape_text(*output.actual), grouped(c.different), grouped(c.outside),
               grouped(c.misplaced), number(c.max_abs), number(c.max_rel), fmt::format("{}", c.max_ulps),
               first});
  }
  return fmt::format("{}{} of {} outputs outside the tolerance\n", table.text(""), outside, outputs.size());
}

}  // namespace hlosim
