// The parts of a page's data, each as JSON. docs/html_report.md has their members.
//
//   ColumnWriter columns(2);
//   columns.whole_numbers("first", std::vector<int64_t>{5, 6});
//   columns.take()                                 // {"rows":2,"columns":{"first":{"d":[5,1]}}}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"
#include "report/trace/trace.h"

namespace hlosim {

/// Columns of equal length, written one after the other:
///   {"d":[5,1,1]} whole numbers, each less the one before; {"n":[1,null]} JSON values;
///   {"s":["a","b"],"i":[0,1,-1]} texts by their number, -1: none; {"c":0} the same value in all rows.
class ColumnWriter {
 public:
  explicit ColumnWriter(size_t rows);
  void whole_numbers(std::string_view key, std::span<const int64_t> values);
  /// Views without data are null.
  void texts(std::string_view key, std::span<const std::string_view> values);
  /// Each a JSON value.
  void values(std::string_view key, std::span<const std::string> json);
  /// {"rows":3,"columns":{…}}
  std::string take();

 private:
  void open(std::string_view key);
  size_t rows_;
  std::string out_;
};

/// `report_json` with its arrays of objects as columns; lists per memory space become columns of their own:
/// "traffic" of `[{"space":"hbm","read_bytes":1}]` the column "traffic/hbm/read_bytes", 0 where there is
/// none. `page`: JSON of one more member of that name; empty: none.
std::string columns_of(std::string_view report_json, std::string_view page = {});

/// "module on device" of a report in JSON.
std::string title_of(std::string_view report_json);

struct ModuleText {
  std::string text;
  int64_t first_line = 1;      // of the text, in the module's file
  bool is_lowered = false;     // of what ran instead: no file has it
  std::vector<int64_t> lines;  // by instruction of the report: its line, from first_line on; 0: none
};
/// The text of the module that ran.
ModuleText module_text(const OpTable& table, const Report& report);

std::string timeline_data(const Trace& trace);
/// Where each buffer lies, and when: src/sim/memory's analysis of the module that ran.
std::string memory_data(const OpTable& table, const Device& device, const Estimate& estimate,
                        const Report& report);

}  // namespace hlosim
