#include <fmt/format.h>

#include <unordered_map>

#include "base/saturating.h"
#include "report/figures.h"
#include "text/json_fields.h"

namespace hlosim {
namespace {

class ReportReader {
 public:
  explicit ReportReader(DiagnosticList& problems) : fields_(problems) {}

  std::optional<Metrics> read(const Value& document) {
    if (!is_report(document)) return std::nullopt;
    about(document);
    if (const Value* comparison = document.find("comparison")) {
      compared(document, *comparison);
      if (!fields_.ok()) return std::nullopt;
      return std::move(figures_);
    }
    totals(document);
    peaks(document);
    if (const Value* rows = fields_.list(document, "instructions"))
      for (const Value& row : rows->items) instruction(row);
    if (const Value* rows = fields_.list(document, "copies")) transfers(*rows, "exposed_copies");
    if (const Value* rows = fields_.list(document, "collectives")) transfers(*rows, "exposed_collectives");
    if (document.find("other_transfers"))
      if (const Value* rows = fields_.list(document, "other_transfers")) transfers(*rows, "exposed_others");
    largest();
    if (const Value* rows = fields_.list(document, "padding"))
      for (const Value& row : rows->items) padding(row);
    if (!fields_.ok()) return std::nullopt;
    return std::move(figures_);
  }

 private:
  bool is_report(const Value& document) {
    if (!document.is_map() || !document.find("schema_version") || !document.find("instructions")) {
      fields_.wrong(document, document.is_list() ? "several reports in one file: compare them one by one"
                                                 : "no report: `hlosim report --format=json` writes one");
      return false;
    }
    const Value& version = *document.find("schema_version");
    if (fields_.whole_of(version) == kReportSchemaVersion) return true;
    if (fields_.ok())
      fields_.wrong(version, fmt::format("a report of schema version {}; this program reads version {}",
                                         version.text, kReportSchemaVersion));
    return false;
  }

  void about(const Value& document) {
    if (const Value* module = fields_.object(document, "module")) {
      figures_.module_name = fields_.text(*module, "name");
      figures_.module_file = fields_.text_or_empty(*module, "file");
      figures_.module_fingerprint = fields_.text(*module, "fingerprint");
      figures_.structure = fields_.text_or_empty(*module, "structure");
    }
    if (const Value* device = fields_.object(document, "device")) {
      figures_.device_name = fields_.text(*device, "name");
      figures_.device_file = fields_.text_or_empty(*device, "file");
      figures_.device_fingerprint = fields_.text(*device, "fingerprint");
    }
    if (const Value* tool = document.find("tool"); tool && tool->find("model_version"))
      figures_.model_version = fields_.whole(*tool, "model_version");
  }

  /// Reports since they hold all that is compared.
  void compared(const Value& document, const Value& comparison) {
    figures_.structure = fields_.text(comparison, "structure");
    figures_.line = fields_.whole(comparison, "line");
    if (const Value* metrics = fields_.list(comparison, "metrics"))
      for (const Value& metric : metrics->items) {
        const std::string unit = fields_.text(metric, "unit");
        MetricUnit known = MetricUnit::kCount;
        for (const MetricUnit one : {MetricUnit::kPicoseconds, MetricUnit::kBytes})
          if (unit == to_text(one)) known = one;
        figures_.metrics.push_back({fields_.text(metric, "metric"), known});
        figures_.totals.push_back(fields_.whole(metric, "total"));
      }
    const Value* rows = fields_.list(document, "compared_instructions");
    if (!rows) return;
    for (const Value& row : rows->items) figures_.instructions.push_back(compared_row(row));
  }

  InstructionMetrics compared_row(const Value& json) {
    InstructionMetrics row;
    row.name = fields_.text(json, "name");
    row.opcode = fields_.text(json, "opcode");
    row.computation = fields_.text(json, "computation");
    row.shape = fields_.text(json, "shape");
    row.op_name = fields_.text_or_empty(json, "op_name");
    row.source_file = fields_.text_or_empty(json, "source_file");
    row.source_line = fields_.whole_or_zero(json, "source_line");
    row.line = fields_.whole_or_zero(json, "line");
    row.executions = fields_.whole(json, "executions");
    row.bound_by = fields_.text_or_empty(json, "bound_by");
    row.own = JsonFields::hash_of(fields_.text(json, "own_fingerprint"));
    row.deep = JsonFields::hash_of(fields_.text(json, "fingerprint"));
    if (const Value* amounts = fields_.list(json, "amounts")) {
      for (const Value& amount : amounts->items) row.amounts.push_back(fields_.whole_of(amount));
      if (row.amounts.size() != figures_.metrics.size())
        fields_.wrong(*amounts,
                      fmt::format("{} amounts of {} metrics", row.amounts.size(), figures_.metrics.size()));
    }
    return row;
  }

  void totals(const Value& document) {
    figures_.metrics = common_metrics();
    figures_.totals.assign(figures_.metrics.size(), 0);
    const auto set = [&](std::string_view metric, std::string_view section, std::string_view key) {
      if (const Value* object = fields_.object(document, section))
        total(metric) = fields_.whole(*object, key);
    };
    set("time", "time", "total_ps");
    set("exposed_copies", "time", "exposed_copies_ps");
    set("exposed_collectives", "time", "exposed_collectives_ps");
    set("exposed_others", "time", "exposed_others_ps");
    set("hbm_bytes", "traffic", "hbm_bytes");
    set("sent_bytes", "traffic", "sent_bytes");
    set("padding_bytes", "padding_total", "extra_bytes");
    set("flops", "work", "flops");
    set("vector_operations", "work", "vector_operations");
    set("transcendentals", "work", "transcendentals");
  }

  // Before the rows: they get as many amounts as there are metrics.
  void peaks(const Value& document) {
    const Value* memory = fields_.object(document, "memory");
    const Value* spaces = memory ? fields_.list(*memory, "spaces") : nullptr;
    if (!spaces) return;
    for (const Value& space : spaces->items) {
      std::string name = "peak." + fields_.text(space, "name");
      const Value* step = space.find("peak_step");
      if (!step || step->is_null()) continue;
      if (figures_.index_of(name) >= 0) name += fmt::format(".S({})", fields_.whole_or_zero(space, "number"));
      figures_.metrics.push_back({std::move(name), MetricUnit::kBytes});
      figures_.totals.push_back(fields_.whole(space, "peak_bytes"));
      largest_.push_back(space.find("largest"));
    }
  }

  void largest() {
    for (size_t i = 0; i < largest_.size(); ++i) {
      if (!largest_[i] || !largest_[i]->is_list()) continue;
      const size_t metric = figures_.metrics.size() - largest_.size() + i;
      for (const Value& buffer : largest_[i]->items) {
        InstructionMetrics& row = row_of(fields_.text(buffer, "name"));
        if (row.shape.empty()) row.shape = fields_.text_or_empty(buffer, "shape");
        row.amounts[metric] += fields_.whole(buffer, "bytes");
      }
    }
  }

  int64_t& total(std::string_view metric) {
    return figures_.totals[static_cast<size_t>(figures_.index_of(metric))];
  }
  int64_t& amount(InstructionMetrics& row, std::string_view metric) {
    return row.amounts[static_cast<size_t>(figures_.index_of(metric))];
  }

  InstructionMetrics& row_of(const std::string& name) {
    const auto [found, is_new] = row_by_name_.try_emplace(name, figures_.instructions.size());
    if (is_new) {
      InstructionMetrics row;
      row.name = name;
      row.amounts.assign(figures_.metrics.size(), 0);
      figures_.instructions.push_back(std::move(row));
    }
    return figures_.instructions[found->second];
  }

  void instruction(const Value& json) {
    const std::string name = fields_.text(json, "name");
    row_by_name_.erase(name);  // it may be that of an instruction in another computation
    InstructionMetrics& row = row_of(name);
    row.opcode = fields_.text(json, "opcode");
    row.computation = fields_.text(json, "computation");
    row.op_name = fields_.text_or_empty(json, "op_name");
    if (json.find("shape")) row.shape = fields_.text_or_empty(json, "shape");
    row.own = JsonFields::hash_of(fields_.text_or_empty(json, "own_fingerprint"));
    row.deep = JsonFields::hash_of(fields_.text_or_empty(json, "fingerprint"));
    row.bound_by = fields_.text_or_empty(json, "bound_by");
    row.line = fields_.whole_or_zero(json, "line");
    row.executions = fields_.whole(json, "executions");
    amount(row, "time") = fields_.whole(json, "self_time_ps");
    if (const Value* traffic = fields_.list(json, "traffic"))
      for (const Value& space : traffic->items)
        if (fields_.text(space, "space") == "hbm")
          amount(row, "hbm_bytes") +=
              fields_.whole(space, "read_bytes") + fields_.whole(space, "written_bytes");
    amount(row, "flops") = fields_.whole_or_zero(json, "flops");
    amount(row, "vector_operations") = fields_.whole_or_zero(json, "vector_operations");
    amount(row, "transcendentals") = fields_.whole_or_zero(json, "transcendentals");
  }

  void transfers(const Value& rows, std::string_view metric) {
    for (const Value& json : rows.items) {
      const std::string start = fields_.text(json, "start"), done = fields_.text_or_empty(json, "done");
      const int64_t executions = fields_.whole(json, "executions");
      amount(row_of(done.empty() ? start : done), metric) +=
          saturating_multiply(fields_.whole(json, "exposed_ps"), executions);
      if (json.find("group_size"))  // a collective
        amount(row_of(start), "sent_bytes") +=
            saturating_multiply(fields_.whole_or_zero(json, "sent_bytes"), executions);
    }
  }

  void padding(const Value& json) {
    InstructionMetrics& row = row_of(fields_.text(json, "name"));
    if (row.opcode.empty()) row.opcode = fields_.text(json, "opcode");
    if (row.shape.empty()) row.shape = fields_.text(json, "shape");
    amount(row, "padding_bytes") += fields_.whole(json, "extra_bytes");
  }

  JsonFields fields_;
  Metrics figures_;
  std::unordered_map<std::string, size_t> row_by_name_;
  std::vector<const Value*> largest_;  // of each space with a peak
};

}  // namespace

std::optional<Metrics> read_report_figures(const Value& document, DiagnosticList& problems) {
  return ReportReader(problems).read(document);
}

}  // namespace hlosim
