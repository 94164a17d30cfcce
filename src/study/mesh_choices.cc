#include "study/mesh_choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "ops/work.h"
#include "shrink/dimension_classes.h"
#include "study/product_work.h"

namespace hlosim {
namespace {

/// A set of groups of dimensions, one bit each.
using GroupSet = uint64_t;
constexpr size_t kMostGroups = 64;

/// layer_12.w → layer_#.w
std::string without_numbers(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c < '0' || c > '9')
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

/// The text as a regular expression that matches it alone.
std::string quoted_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (std::string_view("\\^$.|?*+()[]{}").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// A leaf of an entry parameter that could be cut.
struct Argument {
  std::string name;
  std::vector<int64_t> sizes;
  std::vector<int32_t> groups;  // of its dimensions; -1: never cut
};

/// Groups of dimensions that are cut alike, and what the program does along them.
class Structure {
 public:
  Structure(const Module& module, const OpTable& table, int64_t trip_count)
      : module_(module), table_(table), classes_(module, table), up_(classes_.size()) {
    std::iota(up_.begin(), up_.end(), 0);
    exclude_sliced();
    find_arguments();
    tie_like_names();
    number_groups();
    count_products(trip_count);
  }

  const std::vector<Argument>& arguments() const { return arguments_; }
  size_t groups() const { return group_of_.size(); }
  /// Groups that share an argument with each.
  const std::vector<GroupSet>& neighbours() const { return neighbours_; }
  /// What all sizes of a group's dimensions are multiples of.
  int64_t divisor(size_t group) const { return divisors_[group]; }
  /// Two dimensions of one argument belong to it: an axis would cut both.
  bool is_twice(size_t group) const { return (neighbours_[group] >> group & 1) != 0; }

  /// What no axis of these sizes cuts, or not all of them: a line for each argument that has two dimensions
  /// of one group, and one for each group that some sizes don't divide.
  std::vector<std::string> left_out(const std::set<int64_t>& axis_sizes) const {
    std::vector<std::string> lines;
    std::set<int32_t> told;
    for (const Argument& argument : arguments_)
      for (size_t d = 0; d < argument.groups.size(); ++d) {
        const int32_t group = argument.groups[d];
        if (group < 0) continue;
        std::vector<int64_t> uneven;
        for (const int64_t size : axis_sizes)
          if (divisors_[static_cast<size_t>(group)] % size != 0) uneven.push_back(size);
        if (!uneven.empty() && told.insert(group).second)
          lines.push_back(
              fmt::format("dimension {} of {}, of size {}, by axes of {}: parts would not be equal", d,
                          argument.name, argument.sizes[d], fmt::join(uneven, ", ")));
        const bool again = std::find(argument.groups.begin() + static_cast<int64_t>(d) + 1,
                                     argument.groups.end(), group) != argument.groups.end();
        if (!again || uneven.size() == axis_sizes.size()) continue;
        lines.push_back(fmt::format(
            "dimensions of size {} of {}: they are sharded alike, and a sharding names an axis once",
            argument.sizes[d], argument.name));
        break;
      }
    return lines;
  }

  /// Of all FLOPs, what a device does where groups are cut into so many parts each, by axis.
  double flop_share(const std::vector<GroupSet>& by_axis, const std::vector<int64_t>& sizes) const {
    double sum = 0;
    for (const auto& [groups, flops] : products_) {
      double parts = 1;
      for (size_t axis = 0; axis < by_axis.size(); ++axis)
        if ((by_axis[axis] & groups) != 0) parts *= static_cast<double>(sizes[axis]);
      sum += flops / parts;
    }
    return total_ > 0 ? sum / total_ : 1;
  }

 private:
  int32_t find(int32_t c) {
    while (up_[static_cast<size_t>(c)] != c) c = up_[static_cast<size_t>(c)];
    return c;
  }
  int32_t class_of(InstructionId id, int64_t leaf, size_t dimension) {
    return find(classes_.of(id, leaf, static_cast<int64_t>(dimension)));
  }

  /// Dimensions that loops take slices from, one after the other.
  void exclude_sliced() {
    for (const Computation& computation : module_.computations)
      for (const InstructionId id : computation.instructions) {
        const Instruction& one = module_[id];
        const DimensionRule rule = table_[one.opcode].rules.dimensions;
        const bool updates = rule == DimensionRule::kDynamicUpdate;
        if (rule != DimensionRule::kDynamicSlice && !updates) continue;
        const ShapeRef whole = module_[one.operands[0]].shape;
        const ShapeRef part = updates ? module_[one.operands[1]].shape : one.shape;
        if (!whole->is_array() || !part->is_array() || whole->rank() != part->rank()) continue;
        for (size_t d = 0; d < whole->dimensions.size(); ++d)
          if (whole->dimensions[d] != part->dimensions[d]) sliced_.insert(class_of(one.operands[0], 0, d));
      }
  }

  void find_arguments() {
    for (const InstructionId id : module_.entry_computation().parameters) {
      const Instruction& parameter = module_[id];
      int64_t leaf = 0;
      for_each_leaf_place(parameter.shape, std::string(parameter.name),
                          [&](ShapeRef shape, std::string name) {
                            Argument argument{std::move(name), {}, {}};
                            if (shape->is_array())
                              for (size_t d = 0; d < shape->dimensions.size(); ++d) {
                                argument.sizes.push_back(shape->dimensions[d]);
                                argument.groups.push_back(class_of(id, leaf, d));
                              }
                            arguments_.push_back(std::move(argument));
                            ++leaf;
                          });
    }
  }

  /// Leaves with their names: `state.0.1`.
  template <class F>
  static void for_each_leaf_place(ShapeRef shape, const std::string& name, F&& f) {
    if (!shape->is_tuple()) {
      f(shape, name);
      return;
    }
    for (size_t i = 0; i < shape->elements.size(); ++i)
      for_each_leaf_place(shape->elements[i], fmt::format("{}.{}", name, i), f);
  }

  void tie_like_names() {
    std::map<std::pair<std::string, std::vector<int64_t>>, const Argument*> first;
    for (const Argument& argument : arguments_) {
      const auto [found, is_new] =
          first.try_emplace({without_numbers(argument.name), argument.sizes}, &argument);
      if (is_new) continue;
      for (size_t d = 0; d < argument.groups.size(); ++d)
        up_[static_cast<size_t>(find(argument.groups[d]))] = find(found->second->groups[d]);
    }
  }

  /// By first appearance; arguments get numbers in place of classes.
  void number_groups() {
    std::set<int32_t> sliced;
    for (const int32_t c : sliced_) sliced.insert(find(c));
    for (Argument& argument : arguments_)
      for (size_t d = 0; d < argument.groups.size(); ++d) {
        const int32_t root = find(argument.groups[d]);
        argument.groups[d] = -1;
        if (argument.sizes[d] <= 1 || sliced.contains(root)) continue;
        const auto [found, is_new] = group_of_.try_emplace(root, static_cast<int32_t>(group_of_.size()));
        if (is_new) divisors_.push_back(0);
        argument.groups[d] = found->second;
        int64_t& divisor = divisors_[static_cast<size_t>(found->second)];
        divisor = std::gcd(divisor, argument.sizes[d]);
      }
    neighbours_.resize(group_of_.size());
    if (group_of_.size() > kMostGroups) return;
    for (const Argument& argument : arguments_)
      for (size_t a = 0; a < argument.groups.size(); ++a)
        for (size_t b = 0; b < argument.groups.size(); ++b)
          if (a != b && argument.groups[a] >= 0 && argument.groups[b] >= 0)
            neighbours_[static_cast<size_t>(argument.groups[a])] |= GroupSet{1} << argument.groups[b];
  }

  /// The groups that cut a dimension, those that it is merged of or into among them.
  GroupSet groups_of(int32_t c) const {
    const auto found = reach_.find(c);
    return found != reach_.end() ? found->second : 0;
  }

  void count_products(int64_t trip_count) {
    if (group_of_.size() > kMostGroups) return;
    for (const auto& [root, group] : group_of_) reach_[root] |= GroupSet{1} << group;
    for (bool grown = true; grown;) {
      grown = false;
      const auto give = [&](int32_t from, int32_t to) {
        const GroupSet more = groups_of(find(from));
        GroupSet& has = reach_[find(to)];
        grown |= (has | more) != has;
        has |= more;
      };
      for (const MergedDimension& merged : classes_.merged())
        for (const DimensionClass part : merged.parts) give(part, merged.whole), give(merged.whole, part);
    }
    ShapePool shapes = module_.shapes().copy();
    std::map<GroupSet, double> flops;
    for_each_run(module_, table_, trip_count, [&](const Instruction& one, double times) {
      if (table_[one.opcode].has(kFusion) || table_[one.opcode].has(kCallsInline)) return;
      const OpContext op(module_, shapes, one, table_, nullptr);
      double work = 0;
      for (const MatmulWork& product : work_of(op).matmuls)
        work += times * static_cast<double>(product.batch) * static_cast<double>(product.m) *
                static_cast<double>(product.n) * static_cast<double>(product.k);
      if (work <= 0) return;
      GroupSet groups = 0;
      for (const InstructionId operand : one.operands)
        classes_.for_each(operand, [&](DimensionClass c) { groups |= groups_of(find(c)); });
      flops[groups] += work;
      total_ += work;
    });
    products_.assign(flops.begin(), flops.end());
  }

  const Module& module_;
  const OpTable& table_;
  DimensionClasses classes_;
  std::vector<int32_t> up_;   // classes of like names are one
  std::set<int32_t> sliced_;  // classes
  std::vector<Argument> arguments_;
  std::map<int32_t, int32_t> group_of_;  // by class
  std::vector<int64_t> divisors_;
  std::vector<GroupSet> neighbours_;
  std::unordered_map<int32_t, GroupSet> reach_;        // by class
  std::vector<std::pair<GroupSet, double>> products_;  // FLOPs by the groups that their dimensions belong to
  double total_ = 0;
};

/// The sets of groups that one axis of `size` can cut: parts are equal, no argument is cut twice.
std::vector<GroupSet> cuts_of_axis(const Structure& structure, int64_t size) {
  std::vector<GroupSet> sets{0};
  if (size == 1) return sets;
  for (size_t group = 0; group < structure.groups(); ++group) {
    if (structure.divisor(group) % size != 0 || structure.is_twice(group)) continue;
    const size_t before = sets.size();
    for (size_t i = 0; i < before && sets.size() <= kMostMeshChoices; ++i)
      if ((sets[i] & structure.neighbours()[group]) == 0) sets.push_back(sets[i] | GroupSet{1} << group);
  }
  return sets;
}

class Chooser {
 public:
  Chooser(const Structure* structure, const MeshQuestion& question)
      : structure_(structure), question_(question) {}

  Result<MeshChoices> choose() {
    std::set<int64_t> axis_sizes;
    for (const std::vector<int64_t>& sizes : factorizations(question_.devices, question_.axes.size())) {
      for (const int64_t size : sizes)
        if (size > 1) axis_sizes.insert(size);
      if (!structure_)
        choices_.push_back({text(sizes, {}), 1});
      else
        add_cuts(sizes);
      if (choices_.size() > static_cast<size_t>(kMostMeshChoices))
        return failure(fmt::format("there are more than {} ways to shard the parameters", kMostMeshChoices),
                       "--shard specifies how");
    }
    std::stable_sort(choices_.begin(), choices_.end(),
                     [](const MeshChoice& a, const MeshChoice& b) { return a.flop_share < b.flop_share; });
    return MeshChoices{std::move(choices_),
                       structure_ ? structure_->left_out(axis_sizes) : std::vector<std::string>()};
  }

 private:
  void add_cuts(const std::vector<int64_t>& sizes) {
    std::vector<std::vector<GroupSet>> options;
    for (const int64_t size : sizes) options.push_back(cuts_of_axis(*structure_, size));
    std::vector<size_t> at(options.size());
    while (choices_.size() <= static_cast<size_t>(kMostMeshChoices)) {
      std::vector<GroupSet> cuts;
      for (size_t axis = 0; axis < options.size(); ++axis) cuts.push_back(options[axis][at[axis]]);
      if (is_even(cuts, sizes)) choices_.push_back({text(sizes, cuts), structure_->flop_share(cuts, sizes)});
      size_t axis = options.size();
      while (axis > 0 && ++at[axis - 1] == options[axis - 1].size()) at[--axis] = 0;
      if (axis == 0) return;
    }
  }

  /// Dimensions that several axes cut have equal parts too, and every axis cuts something.
  bool is_even(const std::vector<GroupSet>& cuts, const std::vector<int64_t>& sizes) const {
    for (size_t axis = 0; axis < cuts.size(); ++axis)
      if (sizes[axis] > 1 && cuts[axis] == 0) return false;
    for (size_t group = 0; group < structure_->groups(); ++group) {
      int64_t parts = 1;
      for (size_t axis = 0; axis < cuts.size(); ++axis)
        if ((cuts[axis] >> group & 1) != 0) parts *= sizes[axis];
      if (structure_->divisor(group) % parts != 0) return false;
    }
    return true;
  }

  std::string text(const std::vector<int64_t>& sizes, const std::vector<GroupSet>& cuts) const {
    std::vector<std::string> axes;
    for (size_t i = 0; i < sizes.size(); ++i)
      axes.push_back(fmt::format("{}={}", question_.axes[i], sizes[i]));
    std::string text = fmt::format("{}", fmt::join(axes, ","));
    for (const std::string& statement : question_.statements) text += "; " + statement;
    for (const auto& [how, names] : statements(cuts))
      text += fmt::format("; {}={}", fmt::join(names, "|"), how);
    if (!question_.order.empty()) text += "; order=" + question_.order;
    if (!question_.written_for.empty()) text += "; from " + question_.written_for;
    return text;
  }

  /// Arguments by how they are cut: "[data,_]".
  std::map<std::string, std::vector<std::string>> statements(const std::vector<GroupSet>& cuts) const {
    std::map<std::string, std::vector<std::string>> said;
    if (!structure_) return said;
    for (const Argument& argument : structure_->arguments()) {
      std::vector<std::string> dimensions;
      bool is_cut = false;
      for (const int32_t group : argument.groups) {
        std::vector<std::string> axes;
        for (size_t axis = 0; axis < cuts.size(); ++axis)
          if (group >= 0 && (cuts[axis] >> group & 1) != 0) axes.push_back(question_.axes[axis]);
        is_cut |= !axes.empty();
        dimensions.push_back(axes.empty()       ? "_"
                             : axes.size() == 1 ? axes[0]
                                                : fmt::format("{{{}}}", fmt::join(axes, ",")));
      }
      if (is_cut) said[fmt::format("[{}]", fmt::join(dimensions, ","))].push_back(quoted_name(argument.name));
    }
    return said;
  }

  const Structure* structure_;
  const MeshQuestion& question_;
  std::vector<MeshChoice> choices_;
};

bool has_shardings(const Module& module) {
  return std::any_of(module.instructions.begin(), module.instructions.end(),
                     [](const Instruction& one) { return one.find(AttrKey::kSharding) != nullptr; });
}

}  // namespace

std::vector<std::vector<int64_t>> factorizations(int64_t n, size_t parts) {
  if (parts == 0) return n == 1 ? std::vector<std::vector<int64_t>>{{}} : std::vector<std::vector<int64_t>>{};
  std::vector<std::vector<int64_t>> all;
  for (int64_t first = 1; first <= n; ++first) {
    if (n % first != 0) continue;
    for (std::vector<int64_t>& rest : factorizations(n / first, parts - 1)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

Result<MeshChoices> mesh_choices(const Module& module, const OpTable& table, const MeshQuestion& question,
                                 int64_t trip_count) {
  if (!question.statements.empty() || !question.written_for.empty())
    return Chooser(nullptr, question).choose();
  if (has_shardings(module))
    return failure(
        fmt::format("module {} states shardings of its own, which hold for every mesh", module.name),
        "--written-for gives the mesh that they were written for; --shard gives others, by axes");
  const Structure structure(module, table, trip_count);
  if (structure.groups() > kMostGroups)
    return failure(fmt::format("module {} has {} kinds of dimensions, more than {} are too many to try",
                               module.name, structure.groups(), kMostGroups),
                   "--shard specifies how parameters are sharded");
  return Chooser(&structure, question).choose();
}

}  // namespace hlosim
