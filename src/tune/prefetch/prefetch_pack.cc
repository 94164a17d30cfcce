#include "prefetch/prefetch_pack.h"

#include <algorithm>

#include "base/rounding.h"
#include "buffers/interval_packing.h"
#include "prefetch/prefetch_simulator.h"

namespace hlosim {
namespace {

struct Item {
  int32_t value = -1;  // -1: there whatever is decided
  size_t stay = 0;
};

class Packer {
 public:
  Packer(const PrefetchModel& model, std::vector<ValuePlan> plans, std::vector<std::vector<int64_t>> offsets,
         const std::function<bool()>& out_of_time)
      : model_(model), given_(std::move(offsets)), out_of_time_(out_of_time) {
    out_.plans = std::move(plans);
  }

  PackedPlans run() {
    while (true) {
      collect();
      const Packing packing = pack_best(pack_, model_.problem.alignment);
      if (packing.size <= model_.problem.capacity) {
        out_.size = packing.size;
        keep_offsets(packing);
        return std::move(out_);
      }
      if (!given_.empty() && out_.dropped == 0 && model_.fixed.empty()) return as_given();
      const int32_t worst = worst_above(packing);
      if (out_.cut) {
        if (keep_below(packing)) return std::move(out_);
        continue;
      }
      if (worst < 0) return std::move(out_);
      give_up(worst);
    }
  }

 private:
  void collect() {
    items_.clear(), pack_.clear();
    out_.offsets.assign(out_.plans.size(), {});
    for (const PrefetchFixed& fixed : model_.fixed) add({}, {fixed.first, fixed.last}, fixed.bytes);
    for (size_t v = 0; v < out_.plans.size(); ++v) {
      const PrefetchValue& value = model_.problem.values[v];
      const std::vector<Stay> all = stays(value, out_.plans[v]);
      out_.offsets[v].resize(all.size());
      for (size_t i = 0; i < all.size(); ++i)
        add({static_cast<int32_t>(v), i}, in_steps(model_.problem, value.region, all[i]), all[i].bytes);
      // Halves lie side by side.
      for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].half != 1) continue;
        PackItem& half = pack_[pack_.size() - all.size() + i];
        --half.group, --half.order;
        half.shift = pack_[pack_.size() - all.size() + i - 1].size;
      }
    }
  }
  void add(Item item, Stay at, int64_t bytes) {
    const auto number = static_cast<int32_t>(items_.size());
    const int64_t alignment = model_.problem.alignment;
    pack_.push_back({round_up(bytes, alignment), at.first, at.last, number, number});
    items_.push_back(item);
  }

  PackedPlans as_given() {
    out_.offsets = std::move(given_);
    for (size_t i = 0; i < items_.size(); ++i)
      out_.size = std::max(
          out_.size, out_.offsets[static_cast<size_t>(items_[i].value)][items_[i].stay] + pack_[i].size);
    return std::move(out_);
  }

  void keep_offsets(const Packing& packing) {
    for (size_t i = 0; i < items_.size(); ++i)
      if (items_[i].value >= 0 && !out_.plans[static_cast<size_t>(items_[i].value)].empty())
        out_.offsets[static_cast<size_t>(items_[i].value)][items_[i].stay] = packing.offset[i];
  }

  bool is_above(const Packing& packing, size_t item) const {
    return packing.offset[item] + pack_[item].size > model_.problem.capacity;
  }

  /// The plan above the edge that gains least per byte, -1: there is none; or time is out.
  int32_t worst_above(const Packing& packing) {
    PrefetchSimulator simulator(model_.problem);
    for (size_t v = 0; v < out_.plans.size() && !is_cut(v); ++v)
      simulator.set(static_cast<int32_t>(v), out_.plans[v]);
    const double now = simulator.time();
    int32_t worst = -1;
    double least = 0;
    for (size_t i = 0; i < items_.size() && !is_cut(i); ++i) {
      if (items_[i].value < 0 || !is_above(packing, i)) continue;
      simulator.set(items_[i].value, {});
      const double density = (simulator.time() - now) / static_cast<double>(pack_[i].size);
      simulator.set(items_[i].value, out_.plans[static_cast<size_t>(items_[i].value)]);
      if (worst < 0 || density < least) worst = items_[i].value, least = density;
    }
    if (worst < 0)  // what is fixed lies above the edge: whatever comes first
      for (size_t v = 0; v < out_.plans.size() && worst < 0; ++v)
        if (!out_.plans[v].empty()) worst = static_cast<int32_t>(v);
    return worst;
  }

  /// Asks for the time now and then.
  bool is_cut(size_t round) {
    constexpr size_t kRounds = 16;
    if (!out_.cut && round % kRounds == 0 && out_of_time_) out_.cut = out_of_time_();
    return out_.cut;
  }

  void give_up(int32_t value) {
    out_.plans[static_cast<size_t>(value)] = {};
    out_.offsets[static_cast<size_t>(value)].clear();
    ++out_.dropped;
  }

  /// Gives up all values above the edge; what is below stays where it is. False: something fixed lies above,
  /// and values have made way for it.
  bool keep_below(const Packing& packing) {
    const int64_t before = out_.dropped;
    bool fits = true;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!is_above(packing, i)) continue;
      const int32_t value = items_[i].value;
      fits = fits && value >= 0;
      if (value >= 0 && !out_.plans[static_cast<size_t>(value)].empty()) give_up(value);
    }
    if (!fits && out_.dropped == before)
      for (size_t v = 0; v < out_.plans.size(); ++v)
        if (!out_.plans[v].empty()) give_up(static_cast<int32_t>(v));
    if (!fits && out_.dropped > before) return false;
    keep_offsets(packing);
    for (size_t i = 0; i < items_.size(); ++i)
      if (!is_above(packing, i)) out_.size = std::max(out_.size, packing.offset[i] + pack_[i].size);
    return true;
  }

  const PrefetchModel& model_;
  std::vector<std::vector<int64_t>> given_;
  const std::function<bool()>& out_of_time_;
  PackedPlans out_;
  std::vector<Item> items_;
  std::vector<PackItem> pack_;
};

}  // namespace

PackedPlans pack_plans(const PrefetchModel& model, std::vector<ValuePlan> plans,
                       std::vector<std::vector<int64_t>> offsets, const std::function<bool()>& out_of_time) {
  return Packer(model, std::move(plans), std::move(offsets), out_of_time).run();
}

}  // namespace hlosim
