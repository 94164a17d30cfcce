#include "in_browser/page_of_bytes.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "estimate/named_slice.h"
#include "flags/compiler_choices.h"
#include "flags/xla_flags.h"
#include "hlo/module.h"
#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "model/device.h"
#include "model/device_overrides.h"
#include "ops/op_table.h"
#include "report/estimated_report.h"
#include "report/html/html.h"
#include "text/json.h"

namespace hlosim {
namespace {

struct PageSetting {
  Device device;
  EstimateOptions estimate;
};

/// Null with errors in `findings`.
std::optional<PageSetting> read_setting(const PageRequest& request, DiagnosticList& findings) {
  const size_t before = findings.error_count();
  PageSetting setting;
  std::optional<Device> device = load_device(request.device, {}, {}, findings);
  if (!device) return std::nullopt;
  const auto text = std::make_shared<const SourceFile>("XLA flags", request.xla_flags);
  const std::vector<XlaFlag> flags = read_xla_flags(text, findings);
  setting.estimate.compiler = compiler_choices(flags, device->config, findings);
  const std::vector<DeviceOverride> overrides = xla_flag_overrides(flags, device->config, findings);
  if (!overrides.empty()) device = with_overrides(*device, overrides, findings);
  if (!device || findings.error_count() > before) return std::nullopt;
  const Result<SliceRequest> slice = on_named_slice({}, request.device, *device);
  if (!slice) return findings.add(slice.error()), std::nullopt;
  setting.estimate.simulate.slice = *slice;
  setting.estimate.simulate.keep_timeline = true;
  setting.device = std::move(*device);
  return setting;
}

Result<HtmlModule> page_module(const Module& module, const PageSetting& setting) {
  Result<EstimatedReport> made = estimated_report(module, op_table(), setting.device, setting.estimate);
  if (!made) return tl::unexpected(std::move(made.error()));
  return html_module(op_table(), setting.device, made->estimate, made->report, HLOSIM_VERSION);
}

}  // namespace

PageOfBytes page_of_bytes(const SourcePtr& source, const PageRequest& request) {
  PageOfBytes made;
  const std::optional<PageSetting> setting = read_setting(request, made.findings);
  if (!setting) return made;
  const Result<SourcePtr> text = as_text(source);
  if (!text) return made.findings.add(text.error()), std::move(made);
  const std::vector<Module> modules = load_modules(*text, op_table(), made.findings);
  if (made.findings.has_errors()) return made;
  std::vector<HtmlModule> parts;
  for (const Module& module : modules) {
    Result<HtmlModule> part = page_module(module, *setting);
    if (!part) return made.findings.add(part.error()), std::move(made);
    parts.push_back(std::move(*part));
  }
  made.page = html_page(parts);
  return made;
}

std::string devices_json() {
  std::string out;
  for (const std::string& name : builtin_devices()) {
    DiagnosticList ignored;
    const std::optional<Device> device = load_device(name, {}, {}, ignored);
    if (!device || device->config.generation == "unit") continue;
    out += fmt::format("{}{{\"name\": {}, \"title\": {}}}", out.empty() ? "" : ", ", json_text(name),
                       json_text(device->config.name));
  }
  return "[" + out + "]\n";
}

}  // namespace hlosim
