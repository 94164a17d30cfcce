#include "relayout/layout_search.h"

#include <algorithm>
#include <map>
#include <set>

#include "layout/sizes.h"
#include "ops/dataflow.h"

namespace hlosim {

LayoutSearch::LayoutSearch(LayoutProblem& problem, LayoutCosts& costs, LayoutEvaluation evaluate,
                           bool additive)
    : problem_(problem), costs_(costs), evaluate_(std::move(evaluate)), additive_(additive) {
  find_links();
}

LayoutSearchResult LayoutSearch::run(LayoutScore given, const LayoutSearchOptions& options) {
  options_ = options;
  random_.seed(options.seed);
  best_ = {};
  best_.choice = now_ = problem_.as_given();
  best_.score = given;
  kept_at_.assign(static_cast<size_t>(problem_.groups().size()), -1);
  wanted_.assign(2 * links_.size(), {});
  part_scores_.clear();
  for (size_t part = 0; part < costs_.parts(); ++part) part_scores_.push_back(costs_.cost(part, now_));
  additive_ ? search_by_estimate() : search_by_evaluation();
  simplify();

  order_ = problem_.free_groups();
  std::stable_sort(order_.begin(), order_.end(), [&](int32_t a, int32_t b) {
    return array_size(problem_.groups()[a].array) > array_size(problem_.groups()[b].array);
  });
  std::vector<uint8_t> decided(static_cast<size_t>(problem_.groups().size()), 1);
  for (const int32_t group : order_) decided[static_cast<size_t>(group)] = 0;
  LayoutChoice choice = problem_.as_given();
  std::vector<LayoutScore> bounds;
  LayoutScore total = additive_ ? costs_.constant() : LayoutScore{};
  for (size_t part = 0; part < costs_.parts(); ++part) {
    bounds.push_back(bound_of(part, choice, decided));
    total += bounds.back();
  }
  best_.bound = std::min(total, best_.score);
  complete_ = options_.steps > 0 && !out_of_time();
  if (complete_) branch(0, decided, choice, bounds, total);
  best_.exact = complete_;
  if (complete_) best_.bound = best_.score;
  simplify();
  return best_;
}

bool LayoutSearch::stop() { return best_.moves >= options_.moves || out_of_time(); }
bool LayoutSearch::out_of_time() const { return options_.out_of_time && options_.out_of_time(); }

// ── what goes together ──────────────────────────────────────────

void LayoutSearch::find_links() {
  const Module& module = problem_.module();
  const LayoutGroups& groups = problem_.groups();
  links_of_.resize(static_cast<size_t>(groups.size()));
  const auto add = [&](Link link) {
    if (link.from < 0 || link.to < 0 || link.from == link.to) return;
    links_of_[static_cast<size_t>(link.from)].push_back(links_.size());
    links_of_[static_cast<size_t>(link.to)].push_back(links_.size());
    links_.push_back(link);
  };
  for (const ComputationId computation : groups.computations()) {
    for (const InstructionId id : module[computation].instructions) {
      const Instruction& instruction = module[id];
      const LayoutRule& rule = problem_.relations().rule(id);
      for (size_t k = 0; k < instruction.operands.size(); ++k) {
        const InstructionId operand = instruction.operands[k];
        if (!module[operand].shape->is_array()) continue;
        if (!dataflow(instruction.opcode).is_fusion) {
          if (!rule.operands[k].dimensions.empty() && instruction.shape->is_array())
            add({id, k, groups.of(operand), groups.of(id), false});
          continue;
        }
        for_each_leaf_number(instruction.shape, [&](int32_t leaf, ShapeRef array) {
          if (array->is_array() && std::ranges::equal(array->dimensions, module[operand].shape->dimensions))
            add({id, k, groups.of(operand), groups.of(id, leaf), true});
        });
      }
    }
  }
}

const Layout* LayoutSearch::candidate_like(int32_t group, ShapeRef array) {
  for (const Layout* layout : problem_.candidates(group))
    if (same_places(problem_.module().shapes(), problem_.array_with(group, layout), array)) return layout;
  return nullptr;
}

/// The layout at the other end; null: none.
ShapeRef LayoutSearch::across(const Link& link, bool forward, const Layout* layout) {
  const ShapeRef here = problem_.array_with(forward ? link.from : link.to, layout);
  const ShapeRef there = problem_.groups()[forward ? link.to : link.from].array;
  if (!link.alike)
    return forward ? problem_.relations().follow(link.id, link.operand, here)
                   : problem_.relations().lead(link.id, link.operand, here);
  if (element_storage_bits(here) == element_storage_bits(there))
    return laid_out_as(problem_.module().shapes(), there, layout);
  return problem_.relations().ordered(there, here->layout->minor_to_major);
}

const Layout* LayoutSearch::wanted(size_t link, bool forward, const Layout* layout) {
  auto& known = wanted_[2 * link + (forward ? 1 : 0)];
  for (const auto& [here, there] : known)
    if (here == layout) return there;
  const int32_t other = forward ? links_[link].to : links_[link].from;
  const ShapeRef array = across(links_[link], forward, layout);
  known.emplace_back(layout, array ? candidate_like(other, array) : nullptr);
  return known.back().second;
}

/// A layout for a group, and what its neighbours, their neighbours, … want then.
LayoutSearch::Moves LayoutSearch::spread(int32_t group, const Layout* layout) {
  Moves moves = {{group, layout}};
  std::set<int32_t> seen = {group};
  for (size_t i = 0; i < moves.size(); ++i) {
    const auto [at, laid] = moves[i];
    for (const size_t index : links_of_[static_cast<size_t>(at)]) {
      const Link& link = links_[index];
      const bool forward = link.from == at;
      const int32_t other = forward ? link.to : link.from;
      if (seen.contains(other) || problem_.candidates(other).size() < 2) continue;
      const Layout* there = wanted(index, forward, laid);
      if (!there) continue;
      seen.insert(other);
      moves.push_back({other, there});
    }
  }
  return moves;
}

// ── by estimate ─────────────────────────────────────────────────

LayoutScore LayoutSearch::difference(const Moves& moves) {
  ++best_.moves;
  Moves back;
  std::vector<int32_t> parts;
  for (const auto& [group, layout] : moves) {
    back.push_back({group, now_[static_cast<size_t>(group)]});
    now_[static_cast<size_t>(group)] = layout;
    const std::vector<int32_t>& more = costs_.parts_of(group);
    parts.insert(parts.end(), more.begin(), more.end());
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  LayoutScore change;
  for (const int32_t part : parts) {
    change += costs_.cost(static_cast<size_t>(part), now_);
    change -= part_scores_[static_cast<size_t>(part)];
  }
  for (const auto& [group, layout] : back) now_[static_cast<size_t>(group)] = layout;
  return change;
}

void LayoutSearch::make(const Moves& moves) {
  for (const auto& [group, layout] : moves) now_[static_cast<size_t>(group)] = layout;
  for (const auto& [group, layout] : moves)
    for (const int32_t part : costs_.parts_of(group))
      part_scores_[static_cast<size_t>(part)] = costs_.cost(static_cast<size_t>(part), now_);
}

/// The best single change of a group, alone or with what goes along.
bool LayoutSearch::improve(int32_t group) {
  Moves best;
  LayoutScore least;
  for (const Layout* layout : problem_.candidates(group)) {
    if (layout == now_[static_cast<size_t>(group)] || stop()) continue;
    for (Moves moves : {Moves{{group, layout}}, spread(group, layout)}) {
      const LayoutScore change = difference(moves);
      if (change < least) least = change, best = std::move(moves);
    }
  }
  if (best.empty()) return false;
  make(best);
  return true;
}

void LayoutSearch::descend(std::vector<int32_t> groups) {
  bool improved = true;
  while (improved && !stop()) {
    improved = false;
    for (const int32_t group : groups) improved |= improve(group);
  }
}

void LayoutSearch::search_by_estimate() {
  const std::vector<int32_t>& groups = problem_.free_groups();
  if (groups.empty()) return;
  std::vector<int32_t> order = groups;
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return array_size(problem_.groups()[a].array) > array_size(problem_.groups()[b].array);
  });
  descend(order);
  LayoutChoice best = now_;
  LayoutScore least = score_of_now();
  const int64_t kicks = 30 + 4 * static_cast<int64_t>(groups.size());
  for (int64_t i = 0; i < kicks && !stop(); ++i) {
    Moves kick;
    std::set<int32_t> touched;
    for (int j = 0; j < 3; ++j) {
      const int32_t group = groups[random_() % groups.size()];
      const auto& list = problem_.candidates(group);
      for (const auto& move : spread(group, list[random_() % list.size()]))
        if (touched.insert(move.first).second) kick.push_back(move);
    }
    make(kick);
    descend(order);
    const LayoutScore score = score_of_now();
    if (score < least) {
      least = score, best = now_;
    } else {
      Moves back;
      for (const int32_t group : groups) back.push_back({group, best[static_cast<size_t>(group)]});
      make(back);
    }
  }
  offer(best);
}

LayoutScore LayoutSearch::score_of_now() const {
  LayoutScore sum = costs_.constant();
  for (const LayoutScore& score : part_scores_) sum += score;
  return sum;
}

// ── by evaluation ───────────────────────────────────────────────

std::optional<LayoutScore> LayoutSearch::evaluate(const LayoutChoice& choice) {
  ++best_.evaluations;
  return evaluate_(choice);
}

void LayoutSearch::offer(const LayoutChoice& choice) {
  if (choice == best_.choice) return;
  const std::optional<LayoutScore> score = evaluate(choice);
  if (!score || *score >= best_.score) return;
  best_.score = *score, best_.choice = choice;
  ++changes_;
}

void LayoutSearch::search_by_evaluation() {
  bool improved = true;
  while (improved && !stop()) {
    const LayoutScore before = best_.score;
    for (const int32_t group : problem_.free_groups()) {
      for (const Layout* layout : problem_.candidates(group)) {
        if (stop()) return;
        for (const Moves& moves : {Moves{{group, layout}}, spread(group, layout)}) {
          ++best_.moves;
          LayoutChoice choice = best_.choice;
          for (const auto& [at, laid] : moves) choice[static_cast<size_t>(at)] = laid;
          offer(choice);
        }
      }
    }
    improved = best_.score < before;
  }
}

/// Changes that bring nothing are taken back.
void LayoutSearch::simplify() {
  constexpr size_t kMost = 200;  // evaluations
  const LayoutChoice given = problem_.as_given();
  size_t tried = 0;
  for (const int32_t group : problem_.free_groups()) {
    const auto i = static_cast<size_t>(group);
    if (best_.choice[i] == given[i] || tried++ >= kMost) continue;
    if (kept_at_[i] == changes_) continue;  // of the same choice
    if (out_of_time()) return;
    LayoutChoice choice = best_.choice;
    choice[i] = given[i];
    const std::optional<LayoutScore> score = evaluate(choice);
    if (score && *score <= best_.score) {
      best_.score = *score, best_.choice = std::move(choice);
      ++changes_;
    } else {
      kept_at_[i] = changes_;
    }
  }
}

// ── branch and bound ────────────────────────────────────────────

LayoutScore LayoutSearch::bound_of(size_t part, const LayoutChoice& choice,
                                   const std::vector<uint8_t>& decided) {
  return additive_ ? costs_.bound(part, choice, decided) : LayoutScore{};
}

void LayoutSearch::branch(size_t depth, std::vector<uint8_t>& decided, LayoutChoice& choice,
                          std::vector<LayoutScore>& bounds, LayoutScore total) {
  if (!complete_ || total >= best_.score) return;
  if (depth == order_.size()) {
    // It takes about as long as so many steps, which look at few parts, whatever the module's size.
    constexpr int64_t kStepsOfSmall = 10, kSmall = 1000;  // parts
    best_.steps += kStepsOfSmall * std::max<int64_t>(1, static_cast<int64_t>(costs_.parts()) / kSmall);
    return offer(choice);
  }
  const int32_t group = order_[depth];
  const auto i = static_cast<size_t>(group);
  struct Way {
    const Layout* layout;
    LayoutScore total;
  };
  std::vector<Way> ways;
  const Layout* before = choice[i];
  decided[i] = 1;
  const auto set = [&](const Layout* layout) {
    choice[i] = layout;
    LayoutScore sum = total;
    for (const int32_t part : costs_.parts_of(group)) {
      const auto at = static_cast<size_t>(part);
      sum -= bounds[at];
      sum += bound_of(at, choice, decided);
    }
    return sum;
  };
  for (const Layout* layout : problem_.candidates(group)) {
    complete_ = complete_ && !out_of_time();
    if (!complete_) break;
    ways.push_back({layout, set(layout)});
  }
  std::stable_sort(ways.begin(), ways.end(), [](const Way& a, const Way& b) { return a.total < b.total; });
  for (const Way& way : ways) {
    if (++best_.steps > options_.steps || out_of_time()) complete_ = false;
    if (!complete_ || way.total >= best_.score) break;
    choice[i] = way.layout;
    std::vector<std::pair<size_t, LayoutScore>> saved;
    for (const int32_t part : costs_.parts_of(group)) {
      const auto at = static_cast<size_t>(part);
      saved.push_back({at, bounds[at]});
      bounds[at] = bound_of(at, choice, decided);
    }
    branch(depth + 1, decided, choice, bounds, way.total);
    for (const auto& [at, bound] : saved) bounds[at] = bound;
  }
  choice[i] = before;
  decided[i] = 0;
}

}  // namespace hlosim
