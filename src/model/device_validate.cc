// Rules between the values of a device.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "model/device_reader.h"
#include "model/device_text_form.h"

namespace hlosim {
namespace {

class Validator {
 public:
  Validator(const DeviceReading& reading, DiagnosticList& problems)
      : reading_(reading), config_(reading.config), problems_(problems) {}

  void run() {
    cores();
    mxu();
    memory();
    vmem();
    ici();
  }

 private:
  template <class... Args>
  void error(std::string_view path, fmt::format_string<Args...> format, Args&&... args) {
    Diagnostic diagnostic;
    diagnostic.message = fmt::format("{}: {}", path, fmt::format(format, std::forward<Args>(args)...));
    place(path, diagnostic);
    problems_.add(std::move(diagnostic));
  }

  /// The value or section at `path`, else the nearest section around it.
  void place(std::string_view path, Diagnostic& diagnostic) const {
    if (const DeviceValue* value = reading_.value(path)) {
      diagnostic.source = value->file;
      diagnostic.offset = value->offset;
      return;
    }
    for (;; path = path.substr(0, path.rfind('.') == std::string_view::npos ? 0 : path.rfind('.'))) {
      for (const DeviceReading::Section& section : reading_.sections) {
        if (section.path != path) continue;
        diagnostic.source = section.file;
        diagnostic.offset = section.offset;
        return;
      }
    }
  }

  void cores() {
    if (config_.cores_per_chip % config_.cores != 0)
      error("cores", "{} cores per device don't divide the chip's {}", config_.cores, config_.cores_per_chip);
  }

  void mxu() {
    const MxuConfig& mxu = config_.mxu;
    if (mxu.types.empty()) error("mxu.types", "the arrays multiply no element type");
    for (const MxuType& type : mxu.types) {
      const std::string path = fmt::format("mxu.types.{}", to_text(type.type));
      if (type.latch_rows > mxu.rows)
        error(path + ".latch_rows", "{} weight rows per step, but the array has {}", type.latch_rows,
              mxu.rows);
      if (type.passes > type.passes_high || type.passes_high > type.passes_highest)
        error(path + ".passes", "more precision takes no fewer passes, but there are {}, {} and {}",
              type.passes, type.passes_high, type.passes_highest);
    }
    for (const MxuEmulation& emulation : mxu.emulated) {
      const auto is = [](ElementType wanted) {
        return [wanted](const auto& row) { return row.type == wanted; };
      };
      const std::string path = fmt::format("mxu.emulated.{}", to_text(emulation.type));
      if (std::any_of(mxu.types.begin(), mxu.types.end(), is(emulation.type)))
        error(path + ".as", "{} is among mxu.types already", to_text(emulation.type));
      if (std::none_of(mxu.types.begin(), mxu.types.end(), is(emulation.as)))
        error(path + ".as", "{} is not among mxu.types", to_text(emulation.as));
    }
  }

  void memory() {
    const MemorySpace* owner[256] = {};
    for (const MemorySpace& space : config_.memory) {
      const std::string path = "memory." + space.name;
      for (const int64_t number : space.numbers) {
        const MemorySpace*& slot = owner[static_cast<size_t>(number)];
        if (slot) error(path + ".numbers", "S({}) is memory.{} already", number, slot->name);
        slot = &space;
      }
      if (space.read.has_value() != space.write.has_value() && !space.bandwidth)
        error(path, "{} has a rate, {} has none", space.read ? "read" : "write",
              space.read ? "write" : "read");
    }
    for (const int64_t number : {0, 1}) {
      const std::string_view what = number == 0 ? "HBM" : "VMEM";
      const MemorySpace* space = owner[number];
      if (!space) {
        error("memory", "no space is S({}), {}", number, what);
        continue;
      }
      const std::string path = "memory." + space->name;
      if (!space->capacity) error(path, "{} needs a capacity", what);
      if (!space->bandwidth && !space->read) error(path, "{} needs a bandwidth, or read and write", what);
      if (space->scope == MemoryScope::kHost) error(path + ".scope", "{} is not a host memory", what);
    }
  }

  void vmem() {
    const MemorySpace* space = config_.memory_space(int64_t{1});
    const VmemConfig& vmem = config_.vmem;
    if (space && space->capacity && vmem.scoped_limit > *space->capacity)
      error("vmem.scoped_limit", "{} are more than the {} of memory.{}", to_text(vmem.scoped_limit),
            to_text(*space->capacity), space->name);
    if (vmem.internal_scratch >= vmem.scoped_limit)
      error("vmem.internal_scratch", "{} leave nothing of the scoped limit {}",
            to_text(vmem.internal_scratch), to_text(vmem.scoped_limit));
  }

  void ici() {
    const std::vector<int64_t>& pod = config_.ici.pod.sides;
    const std::vector<int64_t>& slice = config_.ici.default_slice.sides;
    bool fits = pod.size() == slice.size();
    for (size_t i = 0; fits && i < pod.size(); ++i) fits = slice[i] <= pod[i];
    if (!fits)
      error("ici.default_slice", "{} is not a part of the pod {}",
            TextForm<Topology>::write(config_.ici.default_slice), TextForm<Topology>::write(config_.ici.pod));
    int64_t before = 0;
    for (const Topology& one : config_.ici.slices) {
      if (one.sides.size() != pod.size())
        error("ici.slices", "{} has {} sides, but the pod {} has {}", TextForm<Topology>::write(one),
              one.sides.size(), TextForm<Topology>::write(config_.ici.pod), pod.size());
      if (one.chips() <= before)
        error("ici.slices", "{} is not larger than the slice before it", TextForm<Topology>::write(one));
      before = one.chips();
    }
    if (2 * static_cast<int64_t>(pod.size()) < config_.ici.links)
      error("ici.links", "{} links per chip, but the pod has {} dimensions", config_.ici.links, pod.size());
  }

  const DeviceReading& reading_;
  const DeviceConfig& config_;
  DiagnosticList& problems_;
};

}  // namespace

void validate_device(const DeviceReading& reading, DiagnosticList& problems) {
  Validator(reading, problems).run();
}

}  // namespace hlosim
