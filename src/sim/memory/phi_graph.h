// Phis and what flows into them, and which of them turn out to be another value.
//
//   PhiGraph phis;
//   phis.set(7, {3, 7});                      // a loop that hands value 3 on
//   phis.simplify();                          // phis.replacement(7) is 3
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace hlosim {

class PhiGraph {
 public:
  void set(int32_t phi, std::vector<int32_t> inputs);
  /// Requires: a phi.
  const std::vector<int32_t>& inputs(int32_t phi) const { return inputs_[position_.at(phi)]; }

  /// Finds the phis that only one other value flows into, alone or through phis that flow into each other.
  void simplify();
  /// The value that `value` is after simplify(): itself or what replaces it.
  int32_t replacement(int32_t value) const;

 private:
  int32_t only_source(std::size_t phi) const;
  bool replace_closed_group(std::size_t phi);

  std::vector<int32_t> phis_;
  std::vector<std::vector<int32_t>> inputs_;           // by position in phis_
  std::unordered_map<int32_t, std::size_t> position_;  // of a phi
  std::unordered_map<int32_t, int32_t> replaced_;
};

}  // namespace hlosim
