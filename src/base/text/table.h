// Aligned columns of text.
//
//   Table table({{"name", Align::kLeft, 12}, {"time", Align::kRight}});
//   table.add({"a_very_long_name", "1.5 us"});        name             time
//   table.text("  ")                                  a_ver…name     1.5 us
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hlosim {

enum class Align : uint8_t { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kRight;
  size_t width = 0;  // at most; longer cells are shortened in the middle. 0: no limit
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// What has no picture of its own in a cell, colours and ends of lines as well, becomes its escape.
  /// Requires: one cell per column.
  void add(std::vector<std::string> cells);
  /// Cells that may have colours of ours (base/paint.h) and nothing else that add() would escape.
  void add_painted(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// Title line and rows, each after `indent` and ending in '\n' without trailing blanks.
  std::string text(std::string_view indent) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// At most `width` characters of `name`, escaped as a cell is, the middle replaced by "..". Cuts between
/// UTF-8 characters.
std::string shortened(std::string_view name, size_t width);

}  // namespace hlosim
