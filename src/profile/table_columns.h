// One row of XProf's hlo_stats, whatever it was written as.
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
  /// What is missing; empty: nothing.
  std::string_view missing() const;
  /// Adds the operation of one row. What is wrong with it; empty: nothing.
  std::string add(const std::vector<std::string>& cells, ProfileBuilder& builder) const;

 private:
  std::string cell(const std::vector<std::string>& cells, size_t what) const;
  std::vector<int> at_;  // by what
};

}  // namespace hlosim
