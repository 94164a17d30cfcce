#include <fmt/format.h>

#include <functional>
#include <string>
#include <unordered_map>

#include "study/diff.h"

namespace hlosim {
namespace {

/// "bf16[8,128]" of "bf16[8,128]{1,0:T(8,128)S(1)}": a shape whatever its layout.
std::string without_layouts(const std::string& shape) {
  std::string result;
  int depth = 0;
  for (const char c : shape) {
    if (c == '{') ++depth;
    if (depth == 0) result += c;
    if (c == '}') --depth;
  }
  return result;
}

/// Enough work to recognise an instruction by.
bool has_work(const InstructionMetrics& row, int flops) {
  return flops >= 0 && row.amounts[static_cast<size_t>(flops)] > 0;
}

class Matcher {
 public:
  Matcher(const Metrics& before, const Metrics& after)
      : before_(before),
        after_(after),
        match_(before.instructions.size(), -1),
        taken_(after.instructions.size()) {}

  // From what can't be wrong to what is likely. Equal keys are paired in their order.
  std::vector<int> run() {
    using Row = InstructionMetrics;
    const auto place = [](const Row& r) { return r.computation + '\n' + r.name; };
    stage([&](const Row& r) { return r.deep ? fmt::format("{}\n{:x}", place(r), r.deep) : ""; });
    stage([&](const Row& r) { return r.deep ? fmt::format("{}\n{:x}", r.name, r.deep) : ""; });
    stage([&](const Row& r) {
      return r.deep && !r.op_name.empty() ? fmt::format("{:x}\n{}", r.deep, r.op_name) : "";
    });
    stage([&](const Row& r) { return r.deep ? fmt::format("{:x}", r.deep) : ""; });
    stage([&](const Row& r) { return r.own ? fmt::format("{}\n{:x}\n{}", place(r), r.own, r.op_name) : ""; });
    stage([&](const Row& r) {
      return r.own && !r.op_name.empty() ? fmt::format("{:x}\n{}", r.own, r.op_name) : "";
    });
    stage([&](const Row& r) { return place(r) + '\n' + r.opcode + '\n' + r.op_name; });
    stage(
        [&](const Row& r) { return r.op_name.empty() ? "" : r.op_name + '\n' + r.opcode + '\n' + r.shape; });
    stage([&](const Row& r) { return r.op_name.empty() ? "" : r.op_name + '\n' + r.opcode; });
    stage([&](const Row& r) { return place(r) + '\n' + r.opcode; });
    stage([&](const Row& r) { return r.name + '\n' + r.opcode; });
    stage([&](const Row& r) { return r.own ? fmt::format("{:x}", r.own) : ""; });
    // The same product in another layout or fused otherwise.
    const int old_flops = before_.index_of("flops"), new_flops = after_.index_of("flops");
    stage([&](const Row& r) {
      const int flops = is_old(r) ? old_flops : new_flops;
      return has_work(r, flops) ? fmt::format("{}\n{}\n{}", r.opcode, without_layouts(r.shape),
                                              r.amounts[static_cast<size_t>(flops)])
                                : "";
    });
    stage([&](const Row& r) { return place(r); });
    stage([&](const Row& r) {
      return r.opcode.empty() ? r.name : "";
    });  // of a report: known by its memory alone
    return std::move(match_);
  }

 private:
  /// Pairs what is left by `key`; an empty one matches nothing.
  template <class Key>
  void stage(const Key& key) {
    struct Waiting {
      std::vector<size_t> rows;
      size_t next = 0;
    };
    std::unordered_map<std::string, Waiting> waiting;
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i]) continue;
      std::string text = key(after_.instructions[i]);
      if (!text.empty()) waiting[std::move(text)].rows.push_back(i);
    }
    if (waiting.empty()) return;
    for (size_t i = 0; i < match_.size(); ++i) {
      if (match_[i] >= 0) continue;
      const auto found = waiting.find(key(before_.instructions[i]));
      if (found == waiting.end() || found->second.next >= found->second.rows.size()) continue;
      const size_t other = found->second.rows[found->second.next++];
      match_[i] = static_cast<int>(other);
      taken_[other] = true;
    }
  }

  bool is_old(const InstructionMetrics& row) const {
    const std::vector<InstructionMetrics>& rows = before_.instructions;
    return !rows.empty() && !std::less<>()(&row, rows.data()) &&
           std::less<>()(&row, rows.data() + rows.size());
  }

  const Metrics& before_;
  const Metrics& after_;
  std::vector<int> match_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<int> match_instructions(const Metrics& before, const Metrics& after) {
  return Matcher(before, after).run();
}

}  // namespace hlosim
