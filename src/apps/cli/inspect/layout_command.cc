#include <fmt/format.h>

#include <memory>
#include <optional>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "console/device_input.h"
#include "console/input.h"
#include "console/verbosity.h"
#include "layout/describe.h"
#include "layout/native_tiling.h"
#include "layout/shape_text.h"
#include "report/layout_json.h"

namespace hlosim {
namespace {

struct LayoutArguments {
  std::vector<std::string> shapes;
  std::optional<std::string> index;
  std::optional<int64_t> offset;
  std::string device;
  DeviceChoices choices;
  std::string format = "text";
  std::string output = "-";
};

/// `device`: the one that shapes without tiles are stored on; null: as they are written.
Result<LayoutDescription> describe(ShapePool& pool, const std::string& text, const Device* device,
                                   const LayoutQuery& query) {
  Result<ShapeRef> shape = parse_shape(pool, text);
  if (!shape) return tl::unexpected(shape.error());
  if (device && !carries_tiles(*shape))
    shape = with_native_tiling(pool, *shape, tiling_policy(device->config));
  return describe_layout(pool, *shape, query);
}

int layout(const LayoutArguments& options, Streams streams) {
  LayoutQuery query;
  query.offset = options.offset;
  if (options.index) {
    const Result<std::vector<int64_t>> index = parse_index(*options.index);
    if (!index) {
      tell(index.error(), streams);
      return kExitInput;
    }
    query.index = *index;
  }
  std::optional<Device> device;
  if (!options.device.empty()) {
    device = read_device(options.device, options.choices, streams);
    if (!device) return kExitInput;
  }
  std::vector<std::string> texts;
  bool ok = true;
  ShapePool pool;
  for (const std::string& shape : options.shapes) {
    const Result<LayoutDescription> description = describe(pool, shape, device ? &*device : nullptr, query);
    if (!description) {
      tell(description.error(), streams);
      ok = false;
      continue;
    }
    texts.push_back(options.format == "json" ? to_json(*description) : to_text(*description));
  }
  const std::string text =
      options.format == "json" ? json_documents(texts) : fmt::format("{}", fmt::join(texts, "\n"));
  if (!write_output(options.output, text, streams)) return kExitInput;
  return ok ? kExitSuccess : kExitInput;
}

}  // namespace

std::function<int()> declare_layout(CommandLine& line, Streams streams) {
  const auto options = std::make_shared<LayoutArguments>();
  line.add_option("SHAPE", options->shapes,
                  "Array shapes with their layouts: 'bf16[256,256]{1,0:T(8,128)(2,1)}'")
      .required();
  line.add_option("-d,--device", options->device,
                  "Device: shapes without tiles get its native tiling, as its compiler stores them");
  declare_device_choices(line, options->choices);
  line.add_option("--index", options->index, "Print the offset of the element with these indices: 9,130");
  line.add_option("--offset", options->offset,
                  "Print the indices of the element at this offset (in elements)");
  line.add_option("--format", options->format, "text or json").one_of({"text", "json"}).show_default();
  line.add_option("-o,--output", options->output, "Output file; - is standard output")
      .writes_file(streams.files)
      .show_default();
  line.format_by_suffix(options->format, options->output);
  return [options, streams] { return layout(*options, streams); };
}

}  // namespace hlosim
