#include "cli/study/run_reader.h"

#include <fmt/format.h>

#include "cli/report/saved_reports.h"
#include "console/input.h"
#include "console/module_files.h"
#include "console/verbosity.h"
#include "estimate/estimate.h"
#include "input/dump_folder.h"
#include "ops/op_table.h"
#include "report/report.h"
#include "text/read_json.h"

namespace hlosim {
namespace {

void add_report(const Value& report, DiagnosticList& problems, Runs& runs) {
  if (std::optional<Metrics> one = read_report_figures(report, problems))
    runs.figures.push_back(std::move(*one));
}

}  // namespace

bool RunReader::read(const std::string& file, Runs& runs) {
  if (is_folder(file)) return simulate(file, runs);
  const Result<SourcePtr> source = read_input(file, streams_);
  if (!source) return tell(source.error(), streams_), false;
  if (!is_saved_report(**source)) return simulate(file, runs);
  DiagnosticList problems;
  const std::optional<Value> document = parse_json(*source, problems);
  if (document && document->is_list() && !takes_pages_) {
    for (const Value& report : document->items) add_report(report, problems, runs);
  } else if (document) {
    add_report(*document, problems, runs);
    if (takes_pages_) runs.pages.push_back(html_module((*source)->text()));
  }
  tell(problems, streams_);
  return document && !problems.has_errors();
}

bool RunReader::simulate(const std::string& file, Runs& runs) {
  if (!setting_) setting_ = read_simulation(options_, streams_);  // reports a missing --device
  if (!setting_) return false;
  SimulationOptions one = options_;
  one.files = {file};
  setting_->estimate.simulate.keep_timeline = takes_pages_;
  return for_each_chosen(one, *setting_, streams_, [&](const Module& module) {
    const Step step(fmt::format("simulated {} of {}", module.name, file), streams_);
    const Result<Estimate> estimate =
        hlosim::estimate(module, op_table(), setting_->device, setting_->estimate);
    if (!estimate) return tell(estimate.error(), streams_), false;
    const Report report = make_report(module, op_table(), setting_->device, *estimate);
    runs.figures.push_back(make_figures(report, module, op_table(), *estimate));
    if (takes_pages_)
      runs.pages.push_back(html_module(op_table(), setting_->device, *estimate, report, HLOSIM_VERSION));
    return true;
  });
}

}  // namespace hlosim
