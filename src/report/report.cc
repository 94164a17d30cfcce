#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/saturating.h"
#include "hlo/frontend.h"
#include "hlo/printer.h"
#include "model/memory_system.h"
#include "model/pallas/custom_call_cost_source.h"
#include "report/limiting_key.h"
#include "report/source_place.h"
#include "report/structure.h"

namespace hlosim {
namespace {

int64_t times(int64_t amount, int64_t count) {
  int64_t product = 0;
  return __builtin_mul_overflow(amount, count, &product) ? std::numeric_limits<int64_t>::max() : product;
}
Bytes times(Bytes amount, int64_t count) { return Bytes(times(amount.count(), count)); }

// Line numbers of many places in one text.
class Lines {
 public:
  explicit Lines(const SourceFile* source) {
    if (!source || !has_lines(*source)) return;
    const std::string_view text = source->text();
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      ends_.push_back(static_cast<uint32_t>(at));
    known_ = true;
  }
  /// 0: it has none.
  int64_t of(uint32_t offset) const {
    return known_ && offset > 0 ? 1 + (std::lower_bound(ends_.begin(), ends_.end(), offset) - ends_.begin())
                                : 0;
  }

 private:
  std::vector<uint32_t> ends_;
  bool known_ = false;
};

std::string space_name(const DeviceConfig& device, int64_t number) {
  const MemorySpace* space = device.memory_space(number);
  return space ? space->name : fmt::format("S({})", number);
}

class ReportMaker {
 public:
  ReportMaker(const Module& module, const OpTable& table, const Device& device, const Estimate& estimate)
      : given_(estimate.is_lowered ? module : *estimate.module),
        module_(*estimate.module),
        table_(table),
        device_(device),
        estimate_(estimate),
        lines_(module.source.get()),
        places_(module_),
        classes_(memory_classes(module_, table, estimate.occupancy, &module)) {}

  Report make() {
    about_device();
    about_module();
    report_.simulation = estimate_.simulation;
    make_spaces();
    make_roofline();
    make_energy();
    make_instructions();
    make_limit();
    make_range();
    make_transfers();
    make_loops();
    make_padding();
    if (estimate_.spread) report_.spread = make_spread_report(given_, table_, estimate_);
    if (const auto missing = frontend_attribute(*report_.module, kMissingOfText))
      report_.assumptions.push_back({fmt::format("the HLO text was truncated: {}", *missing), 1, {}});
    for (const Assumption& item : estimate_.simulation->assumptions.items())
      report_.assumptions.push_back({item.text, item.count, name_of(item.example)});
    return std::move(report_);
  }

 private:
  std::string_view name_of(InstructionId id) const {
    return id.valid() ? module_[id].name : std::string_view();
  }

  /// Of custom calls that are costed by their bytes alone nobody knows how far off that is; no device runs a
  /// sharded program as a whole.
  void make_range() {
    if (estimate_.unpartitioned_devices > 0) return;
    constexpr int64_t kMostUnknown = 20;  // one part in so many
    if (report_.custom_calls_by_bytes > report_.totals().makespan / kMostUnknown) return;
    report_.time_range = time_range(device_.config.errors, *estimate_.simulation);
  }

  void about_device() {
    const DeviceConfig& config = device_.config;
    report_.device_name = config.name;
    report_.device_file = device_.file;
    report_.device_fingerprint = device_.fingerprint();
    report_.clock = config.clock;
    report_.slice = estimate_.simulation->slice.text();
    report_.slice_devices = estimate_.simulation->slice.devices();
    const FlopsPerSecond peak = peak_flops(config, ElementType::kBF16);
    if (peak.count() > 0) report_.peak_flops = peak;
    const BytesPerSecond rate = device_rates(config, config.hbm()).total;
    if (std::isfinite(rate.count())) report_.peak_hbm_bandwidth = rate;
    for (size_t unit = 0; unit <= index_of(Unit::kNone); ++unit)
      report_.unit_names.push_back(hlosim::unit_name(config, static_cast<Unit>(unit)));
    report_.traffic_names.resize(kMaxMemorySpaces + 1);
    for (size_t i = 0; i < config.memory.size() && i < kMaxMemorySpaces; ++i)
      report_.traffic_names[i] = config.memory[i].name;
    report_.traffic_names[kUnknownSpace] = "unknown";
  }

  void about_module() {
    report_.module = estimate_.module;
    report_.is_lowered = estimate_.is_lowered;
    report_.module_name = std::string(given_.name);
    report_.module_file = given_.source ? given_.source->name() : "";
    report_.module_fingerprint = module_fingerprint(given_, table_);
    report_.instruction_count = static_cast<int64_t>(given_.instructions.size());
    report_.computation_count = static_cast<int64_t>(given_.computations.size());
    report_.replicas = estimate_.simulation->grid.replicas;
    report_.partitions = estimate_.simulation->grid.partitions;
    report_.scheduled = estimate_.simulation->schedule.given;
  }

  void make_energy() {
    for (EnergyPart& part : energy_of(device_.config, estimate_.simulation->totals)) {
      const DeviceValue* figure = device_.value(part.path);
      report_.energy.push_back({std::move(part), figure ? figure->source : ""});
    }
  }

  void make_roofline() {
    if (!report_.peak_flops) return;
    const MemorySystem memory(device_.config);
    const Totals& totals = estimate_.simulation->totals;
    for (size_t i = 0; i < device_.config.memory.size(); ++i) {
      const double picoseconds = memory.busy_exactly(i, totals.traffic[i]);
      if (!(picoseconds > 0)) continue;
      ReportRoofline row;
      row.space = device_.config.memory[i].name;
      row.bytes = totals.traffic[i].total();
      const auto bytes = static_cast<double>(row.bytes.count());
      row.rate = BytesPerSecond(bytes * 1e12 / picoseconds);
      row.intensity = static_cast<double>(totals.flops.count()) / bytes;
      row.ridge = report_.peak_flops->count() / row.rate.count();
      row.attainable =
          FlopsPerSecond(std::min(report_.peak_flops->count(), row.intensity * row.rate.count()));
      report_.roofline.push_back(row);
    }
  }

  // Spaces in the order of the device file, then those that it doesn't know.
  void make_spaces() {
    IdMap<InstructionId, Picoseconds> times(module_.instructions.size());
    for (const InstructionRecord& record : estimate_.simulation->instructions)
      times[record.id] = record.self_time;
    for (const InstructionId step : estimate_.occupancy.steps) step_times_.push_back(times[step]);
    const DeviceConfig& config = device_.config;
    const SpaceTraffic& traffic = estimate_.simulation->totals.traffic;
    for (size_t i = 0; i < config.memory.size(); ++i) {
      const MemorySpace& space = config.memory[i];
      if (&space == &config.hbm()) report_.hbm = i;
      ReportSpace row;
      row.name = space.name;
      row.number = space.numbers.empty() ? -1 : *std::min_element(space.numbers.begin(), space.numbers.end());
      row.read = traffic[i].read;
      row.written = traffic[i].written;
      row.capacity = device_capacity(config, space);
      row.runtime = runtime_bytes(config, space);
      bool first = true;
      for (const SpaceOccupancy& use : estimate_.occupancy.spaces) {
        if (use.space != &space) continue;
        if (!first)
          report_.spaces.push_back(std::move(row)),
              row = ReportSpace{.name = space.name, .runtime = runtime_bytes(config, space)};
        row.number = use.number;
        fill_occupancy(row, use);
        first = false;
      }
      if (row.is_used || row.read.count() > 0 || row.written.count() > 0)
        report_.spaces.push_back(std::move(row));
    }
    for (const SpaceOccupancy& use : estimate_.occupancy.spaces) {
      if (use.space) continue;
      ReportSpace row{.number = use.number, .name = space_name(config, use.number)};
      fill_occupancy(row, use);
      report_.spaces.push_back(std::move(row));
    }
  }

  void fill_occupancy(ReportSpace& row, const SpaceOccupancy& use) {
    row.is_used = true;
    row.capacity = use.capacity;
    row.peak = use.peak;
    row.mean = mean_over_time(use, step_times_);
    row.peak_step = use.peak_step;
    row.reserved = use.reserved;
    row.by_class = bytes_at_peak(estimate_.occupancy, classes_, use);
    const std::vector<InstructionId>& steps = estimate_.occupancy.steps;
    if (static_cast<size_t>(use.peak_step) < steps.size())
      row.peak_instruction = name_of(steps[static_cast<size_t>(use.peak_step)]);
    std::vector<const LiveBuffer*> live;
    for (const LiveBuffer& buffer : estimate_.occupancy.buffers)
      if (buffer.space == use.number && buffer.counts_at(use.peak_step)) live.push_back(&buffer);
    const auto shown = live.begin() + static_cast<std::ptrdiff_t>(std::min(live.size(), kLargestBuffers));
    std::partial_sort(live.begin(), shown, live.end(), [](const LiveBuffer* a, const LiveBuffer* b) {
      return a->size != b->size ? a->size > b->size : a < b;
    });
    for (auto buffer = live.begin(); buffer != shown; ++buffer) {
      const ShapeRef shape = subshape(module_[(*buffer)->instruction].shape, (*buffer)->index);
      const auto number = static_cast<size_t>(*buffer - estimate_.occupancy.buffers.data());
      row.largest.push_back({name_of((*buffer)->instruction), shape ? to_text(shape) : std::string(),
                             (*buffer)->size, classes_[number]});
    }
  }

  const InstructionCost& cost(const InstructionRecord& record) const {
    return estimate_.simulation->cost(record);
  }

  void make_instructions() {
    const Simulation& simulation = *estimate_.simulation;
    report_.instructions.reserve(simulation.instructions.size());
    for (const InstructionRecord& record : simulation.instructions) {
      report_.instructions.push_back(instruction_row(record));
      add_custom_call(record);
      Picoseconds& bound = report_.bound_time[index_of(record.bound_by)];
      bound = later(bound, record.self_time - record.exposed);
      Picoseconds& waited = report_.bound_time[index_of(Unit::kWait)];
      waited = later(waited, record.exposed);
    }
  }

  /// What limits the memory space that bounds most of the time, over the instructions that it bounds.
  void make_limit() {
    const Unit unit = report_.totals().bound_by;
    if (index_of(unit) < index_of(Unit::kMemory) || index_of(unit) >= kUnitCount) return;
    const size_t space = index_of(unit) - index_of(Unit::kMemory);
    PortLimits limits(device_.config, space);
    for (const InstructionRecord& record : estimate_.simulation->instructions)
      if (record.bound_by == unit)
        limits.add(cost(record).traffic[space], cost(record).busy[index_of(unit)], record.executions);
    const DeviceValue* value = device_.value(limits.key());
    if (!value) return;
    report_.limiting_key = value->path;
    report_.limiting_rate = value->text;
    // Each core has DMA engines of its own; HBM's rates are those of the device.
    if (value->path.starts_with("dma.") && device_.config.cores > 1)
      report_.limiting_rate += fmt::format(" on each of {} cores", device_.config.cores);
  }

  void add_custom_call(const InstructionRecord& record) {
    const Picoseconds time = record.self_time - record.exposed;
    if (cost(record).category != CostCategory::kCustomCall) return;
    if (cost(record).provenance == Provenance::kDefault) report_.custom_calls_by_bytes += time;
    if (cost(record).provenance != Provenance::kCalibrated) return;
    const CustomCallCostSource known = custom_call_cost_source(module_, module_[record.id], device_.config);
    if (known.kernel) report_.custom_calls_by_blocks += time;
    if (known.estimate) report_.custom_calls_by_estimate += time;
  }

  ReportInstruction instruction_row(const InstructionRecord& record) {
    const Instruction& instruction = module_[record.id];
    ReportInstruction row{{&record}};
    row.name = instruction.name;
    row.opcode = to_text(instruction.opcode);
    row.computation_name = module_[record.computation].name;
    row.op_name = op_name_of(instruction);
    const SourcePlace place = places_.of(instruction);
    row.source_file = place.file;
    row.source_line = place.line;
    row.line = lines_.of(instruction.offset);
    if (record.waited_for >= 0)
      row.waited_for_name =
          name_of(estimate_.simulation->transfers[static_cast<size_t>(record.waited_for)].start_instruction);
    if (cost(record).provenance == Provenance::kDefault && record.executions > 0) ++report_.unknown_work;
    return row;
  }

  void make_transfers() {
    const DeviceConfig& config = device_.config;
    for (const TransferRecord& record : estimate_.simulation->transfers) {
      ReportTransfer row{{&record}};
      row.start_name = name_of(record.start_instruction);
      row.done_name = name_of(record.done_instruction);
      if (record.ahead >= 0)
        row.ahead_name =
            name_of(estimate_.simulation->transfers[static_cast<size_t>(record.ahead)].start_instruction);
      row.line = record.start_instruction.valid() ? lines_.of(module_[record.start_instruction].offset) : 0;
      if (record.kind == TransferKind::kCopy) {
        row.from_space_name = space_name(config, record.from_space);
        row.to_space_name = space_name(config, record.to_space);
      }
      report_.transfers.push_back(std::move(row));
    }
  }

  void make_loops() {
    for (const LoopRecord& loop : estimate_.simulation->loops)
      report_.loops.push_back({{&loop}, module_[loop.id].name, lines_.of(module_[loop.id].offset)});
  }

  // Every array that needs memory of its own; those that share it count once.
  void make_padding() {
    struct Row {
      const LiveBuffer* buffer;
      ShapeRef shape;
      Padding padding;
    };
    std::vector<Row> rows;
    std::unordered_map<ShapeRef, Padding> known;
    Padding& total = report_.padding_total;
    for (const LiveBuffer& buffer : estimate_.occupancy.buffers) {
      const ShapeRef shape = subshape(module_[buffer.instruction].shape, buffer.index);
      if (!shape || !shape->is_array() || shape->is_unbounded()) continue;
      const auto [found, is_new] = known.try_emplace(shape);
      if (is_new) found->second = padding_of(shape);
      const Padding& padding = found->second;
      const auto add = [](Bytes& sum, Bytes part) { sum = Bytes(saturating_add(sum.count(), part.count())); };
      add(total.unpadded, padding.unpadded);
      add(total.padded, padding.padded);
      add(total.extra, padding.extra);
      if (padding.extra.count() > 0) rows.push_back({&buffer, shape, padding});
    }
    if (total.unpadded.count() > 0) total.expansion = total.padded / total.unpadded;
    if (total.padded.count() > 0) total.waste = total.extra / total.padded;
    report_.padded_arrays = static_cast<int64_t>(rows.size());
    const auto shown = rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kMaxPaddingRows));
    std::partial_sort(rows.begin(), shown, rows.end(), [](const Row& a, const Row& b) {
      if (a.padding.extra != b.padding.extra) return a.padding.extra > b.padding.extra;
      if (a.buffer->first != b.buffer->first) return a.buffer->first < b.buffer->first;
      return a.buffer->instruction != b.buffer->instruction ? a.buffer->instruction < b.buffer->instruction
                                                            : a.buffer->index < b.buffer->index;
    });
    for (auto row = rows.begin(); row != shown; ++row) {
      const Instruction& instruction = module_[row->buffer->instruction];
      const LiveBuffer& buffer = *row->buffer;
      report_.padding.push_back({instruction.name, to_text(instruction.opcode), op_name_of(instruction),
                                 to_text(row->shape),
                                 buffer.is_parameter  ? "parameter"
                                 : buffer.is_output   ? "output"
                                 : buffer.is_constant ? "constant"
                                                      : "HLO temp",
                                 space_name(device_.config, buffer.space), row->padding});
    }
  }

  const Module& given_;
  const Module& module_;  // that ran
  const OpTable& table_;
  const Device& device_;
  const Estimate& estimate_;
  Lines lines_;
  SourcePlaces places_;
  std::vector<MemoryClass> classes_;     // by buffer of the occupancy
  std::vector<Picoseconds> step_times_;  // of the flattened schedule
  Report report_;
};

}  // namespace

std::string_view op_name_of(const Instruction& instruction) {
  const Attr* metadata = instruction.find(AttrKey::kMetadata);
  if (!metadata) return {};
  constexpr std::string_view kKey = "op_name=\"";
  const std::string_view text = metadata->text();
  const size_t key = text.find(kKey);
  if (key == std::string_view::npos) return {};
  const size_t begin = key + kKey.size();
  size_t end = begin;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return text.substr(begin, std::min(end, text.size()) - begin);
}

Report make_report(const Module& module, const OpTable& table, const Device& device,
                   const Estimate& estimate) {
  return ReportMaker(module, table, device, estimate).make();
}

std::string module_fingerprint(const Module& module, const OpTable& table) {
  return fmt::format("{:016x}", structure_of(module, table).named);
}

std::vector<const ReportSpace*> Report::overflows() const {
  std::vector<const ReportSpace*> found;
  for (const ReportSpace& space : spaces)
    if (space.overflows()) found.push_back(&space);
  std::stable_sort(found.begin(), found.end(), [](const ReportSpace* a, const ReportSpace* b) {
    return a->peak / *a->capacity > b->peak / *b->capacity;
  });
  return found;
}

Picojoules Report::total_energy() const {
  Picojoules sum{};
  for (const ReportEnergy& row : energy) sum += row.part.energy;
  return sum;
}

std::optional<double> Report::flops_utilisation() const {
  if (!peak_flops || totals().makespan.count() <= 0) return std::nullopt;
  return static_cast<double>(totals().flops.count()) * 1e12 / static_cast<double>(totals().makespan.count()) /
         peak_flops->count();
}

std::optional<double> Report::hbm_utilisation() const {
  if (!peak_hbm_bandwidth || totals().makespan.count() <= 0) return std::nullopt;
  return static_cast<double>(hbm_traffic().total().count()) * 1e12 /
         static_cast<double>(totals().makespan.count()) / peak_hbm_bandwidth->count();
}

const std::string& Report::unit_name(Unit unit) const { return unit_names[index_of(unit)]; }

InstructionWork Report::work(const ReportInstruction& row) const {
  const InstructionCost& once = cost(row);
  InstructionWork all;
  if (once.provenance != Provenance::kDefault) {
    all.flops = times(once.flops.count(), row->executions);
    all.vector_operations = times(once.vector_operations, row->executions);
    all.transcendentals = times(once.transcendentals, row->executions);
  }
  for (size_t i = 0; i < all.traffic.size(); ++i)
    all.traffic[i] = {times(once.traffic[i].read, row->executions),
                      times(once.traffic[i].written, row->executions)};
  all.logical_bytes = times(once.logical_bytes, row->executions);
  all.padded_bytes = times(once.padded_bytes, row->executions);
  return all;
}

std::string oom_size(Bytes bytes) {
  if (bytes < Bytes(1024)) return fmt::format("{}B", bytes.count());
  constexpr std::string_view kPrefix = "KMGTPE";
  double value = static_cast<double>(bytes.count()) / 1024;
  size_t step = 0;
  for (; value >= 1024 && step + 1 < kPrefix.size(); ++step) value /= 1024;
  return fmt::format("{:.2f}{}", value, kPrefix[step]);
}

std::string classes_text(const BytesByClass& bytes) {
  std::vector<size_t> order;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i].count() > 0) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes[a] > bytes[b]; });
  std::string text;
  for (const size_t i : order)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_text(static_cast<MemoryClass>(i)),
                        to_text(bytes[i]));
  return text;
}

std::string misfit_text(const ReportSpace& space) {
  HLOSIM_CHECK(space.overflows());
  return fmt::format("does not fit: {} too much; {}", to_text(space.peak - *space.capacity),
                     classes_text(space.by_class));
}

std::string overflow_message(const ReportSpace& space) {
  HLOSIM_CHECK(space.overflows());
  return fmt::format(
      "Ran out of memory in memory space {0}. Used {1} of {2} {0}. Exceeded {0} capacity by {3}.", space.name,
      oom_size(space.peak), oom_size(*space.capacity), oom_size(space.peak - *space.capacity));
}

}  // namespace hlosim
