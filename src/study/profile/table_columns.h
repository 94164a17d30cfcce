// One row of XProf's tables of operations - hlo_stats, framework_op_stats, roofline_model - whatever it was
// written as.
//
//   const TableColumns columns(ids);
//   if (columns.missing().empty()) wrong = columns.add(cells, builder);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile_builder.h"

namespace hlosim {

/// Which column says what.
class TableColumns {
 public:
  /// By id or title; ids count where both are known.
  explicit TableColumns(const std::vector<std::string>& names);
  /// "hlo_stats"; "framework_op_stats", which has what runs on hosts too; "roofline_model", which has all
  /// operations step by step too.
  std::string_view form() const;
  /// What is missing; empty: nothing.
  std::string_view missing() const;
  /// Adds the operation of one row, unless it is what is between operations, on a host, or of a single step.
  /// What is wrong with it; empty: nothing.
  std::string add(const std::vector<std::string>& cells, ProfileBuilder& builder);

 private:
  std::string cell(const std::vector<std::string>& cells, size_t what) const;
  bool is_left_out(const std::vector<std::string>& cells) const;
  std::string name_of(const std::vector<std::string>& cells) const;
  std::string add_times(const std::vector<std::string>& cells, ProfiledOperation& row) const;
  void add_amounts(const std::vector<std::string>& cells, ProfiledOperation& row);

  std::vector<int> at_;  // by what
  double rate_unit_ = 1e9;
};

}  // namespace hlosim
