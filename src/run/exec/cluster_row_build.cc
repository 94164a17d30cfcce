#include <algorithm>

#include "exec/cluster_build.h"
#include "exec/cluster_rows.h"
#include "exec/cluster_softmax.h"

namespace hlosim {
namespace {

class RowPassMaker {
 public:
  RowPassMaker(const ClusterContext& context, const Group& group, const std::vector<ValueId>& outputs)
      : context_(context), group_(group) {
    pass_.rows = group.rows;
    pass_.row = group.row;
    node_.instruction = node(group.nodes.back()).instruction;
    node_.results = outputs;
    node_.keep = true;
  }

  GraphNode make() {
    find_stages();
    delay();
    find_places();
    const size_t stages = 1 + *std::max_element(stages_.begin(), stages_.end());
    for (size_t stage = 0; stage < stages; ++stage) {
      add_program(stage, true);
      add_folds(stage);
      add_program(stage, false);
    }
    join_steps();
    share_room();
    find_reused();
    node_.evaluation = row_pass_evaluation(std::move(pass_));
    return std::move(node_);
  }

 private:
  static constexpr size_t kNone = ~size_t{0};

  const GraphNode& node(NodeIndex n) const { return context_.graph.nodes[n]; }
  const GraphNode& member(size_t m) const { return node(group_.nodes[m]); }
  size_t count() const { return group_.nodes.size(); }
  bool folds(size_t m) const { return context_.groups.roles[group_.nodes[m]] == NodeRole::kFold; }
  /// The result has an element for each of all elements, not only for each row.
  bool is_wide(size_t m) const {
    return !folds(m) && space(context_.graph, member(m)) == group_.rows * group_.row;
  }

  // The member that makes `value`.
  size_t maker(ValueId value) const {
    const NodeIndex from = context_.groups.producers[value];
    if (from == kNoNode) return kNone;
    const auto found = std::lower_bound(group_.nodes.begin(), group_.nodes.end(), from);
    return found != group_.nodes.end() && *found == from ? static_cast<size_t>(found - group_.nodes.begin())
                                                         : kNone;
  }
  // Calls f(member) for the members that `m` reads.
  template <class F>
  void for_each_read(size_t m, F&& f) const {
    const NodeRole role = context_.groups.roles[group_.nodes[m]];
    for (size_t i = 0; i < member(m).operands.size(); ++i)
      if (const size_t from = maker(read_by(member(m), role, i, context_.views).base); from != kNone) f(from);
  }

  // ── stages: wide nodes, then folds of what there is then, then narrow nodes ──

  // Stages that `reader` has to be behind what it reads.
  size_t behind(size_t reader, size_t read) const { return is_wide(reader) && !is_wide(read) ? 1 : 0; }

  void find_stages() {
    stages_.assign(count(), 0);
    for (size_t m = 0; m < count(); ++m)
      for_each_read(m,
                    [&](size_t from) { stages_[m] = std::max(stages_[m], stages_[from] + behind(m, from)); });
  }

  // What is needed in later stages only is computed there instead of waiting in a buffer.
  void delay() {
    std::vector<size_t> latest(count(), kNone);
    for (size_t m = count(); m-- > 0;) {
      if (latest[m] != kNone && !folds(m)) stages_[m] = latest[m];
      for_each_read(
          m, [&](size_t from) { latest[from] = std::min(latest[from], stages_[m] - behind(m, from)); });
    }
  }

  bool same_step(size_t a, size_t b) const {
    return !folds(a) && !folds(b) && stages_[a] == stages_[b] && is_wide(a) == is_wide(b);
  }

  void find_places() {
    std::vector<bool> crosses(count(), false);
    for (size_t m = 0; m < count(); ++m)
      for_each_read(m, [&](size_t from) {
        if (!same_step(m, from)) crosses[from] = true;
      });
    places_.resize(count());
    stored_.assign(count(), false);
    for (size_t m = 0; m < count(); ++m) {
      const ValueId value = member(m).results[0];
      RowPass::Value& place = places_[m];
      place = {RowPass::Place::kBuffer, pass_.buffers.size(), context_.width(value), is_wide(m)};
      const auto output = std::find(node_.results.begin(), node_.results.end(), value);
      if (output != node_.results.end()) {
        place.place = RowPass::Place::kResult;
        place.index = static_cast<size_t>(output - node_.results.begin());
      } else if (crosses[m]) {
        pass_.buffers.push_back(place);
      }
      stored_[m] = crosses[m] || output != node_.results.end();
    }
  }

  // ── steps ─────────────────────────────────────────────────────

  RowPass::Value operand(ValueId base, bool wide) {
    const size_t from = maker(base);
    if (from != kNone) return places_[from];
    const size_t index = operand_index(node_, base);
    last_reads_.resize(node_.operands.size(), 0);
    same_place_.resize(node_.operands.size(), true);
    last_reads_[index] = pass_.steps.size();
    return {RowPass::Place::kOperand, index, context_.width(base), wide};
  }

  void add_program(size_t stage, bool wide) {
    RowPass::Step step;
    step.wide = wide;
    ProgramMaker maker(context_, wide ? group_.rows * group_.row : group_.rows);
    size_t applied = 0;
    for (size_t m = 0; m < count(); ++m) {
      if (folds(m) || stages_[m] != stage || is_wide(m) != wide) continue;
      maker.apply(member(m));
      ++applied;
      if (stored_[m]) add_output(step, m, maker);
    }
    if (applied == 0) return;
    for (const ProgramMaker::Input& input : maker.inputs()) {
      step.inputs.push_back({operand(input.base, wide), input.load});
      const RowPass::Value& from = step.inputs.back().from;
      if (from.place == RowPass::Place::kOperand && (!input.load.is_dense() || input.load.offset() != 0))
        same_place_[from.index] = false;
    }
    step.program = maker.finish();
    pass_.steps.push_back(std::move(step));
  }

  void add_output(RowPass::Step& step, size_t m, ProgramMaker& maker) {
    maker.output(member(m).results[0]);
    step.outputs.push_back(places_[m]);
    written_[member(m).results[0]] = pass_.steps.size();
  }

  void add_folds(size_t stage) {
    for (size_t m = 0; m < count(); ++m) {
      if (!folds(m) || stages_[m] != stage) continue;
      RowPass::Step step;
      step.wide = true;
      step.fold = context_.groups.folds[group_.nodes[m]]->kernel;
      step.folded = operand(read_by(member(m), NodeRole::kFold, 0, context_.views).base, true);
      step.init = operand(read_by(member(m), NodeRole::kFold, 1, context_.views).base, false).index;
      same_place_[step.init] = false;
      step.outputs = {places_[m]};
      written_[member(m).results[0]] = pass_.steps.size();
      pass_.steps.push_back(std::move(step));
    }
  }

  void join_steps() {
    while (const auto joined = join_softmax(pass_)) {
      const auto moved = [&](size_t& step) {
        if (step > *joined) step -= std::min<size_t>(3, step - *joined);
      };
      for (size_t& step : last_reads_) moved(step);
      for (auto& [value, step] : written_) moved(step);
    }
  }

  // What the step reads and writes by its places.
  template <class F>
  static void for_each_value(RowPass::Step& step, F&& f) {
    for (RowPass::Input& input : step.inputs) f(input.from);
    if (!step.program) f(step.folded);
    for (RowPass::Value& output : step.outputs) f(output);
  }

  // Buffers that are read no more when a result or another buffer of their kind is written lie where it will
  // lie: less for the cache to hold.
  void share_room() {
    struct Life {
      size_t first = kNone, last = 0;
      bool dense = true;  // read at the place where it is written
    };
    std::vector<Life> lives(pass_.buffers.size());
    for (size_t s = 0; s < pass_.steps.size(); ++s) {
      for (const RowPass::Input& input : pass_.steps[s].inputs)
        if (input.from.place == RowPass::Place::kBuffer && !input.load.is_dense())
          lives[input.from.index].dense = false;
      for_each_value(pass_.steps[s], [&](RowPass::Value& value) {
        if (value.place != RowPass::Place::kBuffer) return;
        Life& life = lives[value.index];
        life.first = std::min(life.first, s);
        life.last = s;
      });
    }
    std::vector<RowPass::Value> rooms;
    std::vector<size_t> busy;  // last step in which a room is needed
    std::vector<bool> given(node_.results.size(), false);
    std::vector<RowPass::Value> places;  // of each buffer
    for (size_t b = 0; b < lives.size(); ++b) {
      RowPass::Value place = pass_.buffers[b];
      if (lives[b].first == kNone) {  // steps that were joined have none
        places.push_back(place);
        continue;
      }
      const size_t result = lives[b].dense ? result_after(place, lives[b].last, given) : kNone;
      const auto fits = [&](size_t r) {
        return rooms[r].width == place.width && rooms[r].wide == place.wide && busy[r] < lives[b].first;
      };
      size_t room = 0;
      while (room < rooms.size() && !fits(room)) ++room;
      if (result != kNone) {
        given[result] = true;
        size_t& written = written_.at(node_.results[result]);
        written = std::min(written, lives[b].first);
        place = {RowPass::Place::kResult, result, place.width, place.wide};
      } else {
        if (room == rooms.size()) {
          rooms.push_back(place);
          busy.push_back(0);
        }
        busy[room] = lives[b].last;
        place.index = room;
      }
      places.push_back(place);
    }
    pass_.buffers = std::move(rooms);
    for (RowPass::Step& step : pass_.steps)
      for_each_value(step, [&](RowPass::Value& value) {
        if (value.place == RowPass::Place::kBuffer) value = places[value.index];
      });
  }

  // A result like `value` that is written in step `last` or later, not given to another buffer.
  size_t result_after(const RowPass::Value& value, size_t last, const std::vector<bool>& given) const {
    for (size_t m = 0; m < count(); ++m) {
      const RowPass::Value& place = places_[m];
      if (place.place == RowPass::Place::kResult && !given[place.index] && place.width == value.width &&
          place.wide == value.wide && written_.at(member(m).results[0]) >= last)
        return place.index;
    }
    return kNone;
  }

  // A result may lie where an operand is that is read at the same place only, and not after the result is
  // written.
  void find_reused() {
    std::vector<bool> taken(node_.operands.size(), false);
    for (const ValueId result : node_.results) {
      std::vector<bool> free(node_.operands.size());
      for (size_t i = 0; i < free.size(); ++i)
        free[i] = same_place_[i] && !taken[i] && last_reads_[i] <= written_[result];
      const int64_t chosen = reusable_operand(context_, node_, result, free);
      if (chosen >= 0) taken[static_cast<size_t>(chosen)] = true;
      pass_.reused.push_back(chosen);
    }
    node_.reused = pass_.reused;
  }

  const ClusterContext& context_;
  const Group& group_;
  GraphNode node_;
  RowPass pass_;
  std::vector<size_t> stages_;  // of each member
  std::vector<RowPass::Value> places_;
  std::vector<bool> stored_;                     // the place is one
  std::vector<size_t> last_reads_;               // step that reads an operand last
  std::vector<bool> same_place_;                 // the operand is read dense
  std::unordered_map<ValueId, size_t> written_;  // step that writes a value
};

}  // namespace

GraphNode make_row_pass(const ClusterContext& context, const Group& group,
                        const std::vector<ValueId>& outputs) {
  return RowPassMaker(context, group, outputs).make();
}

}  // namespace hlosim
