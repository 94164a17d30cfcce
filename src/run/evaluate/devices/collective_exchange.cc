#include "evaluate/devices/collective_exchange.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/saturating.h"
#include "evaluate/called_computation.h"
#include "evaluate/devices/piece_exchange.h"
#include "ops/leaf_shapes.h"
#include "ops/require.h"
#include "ops/work.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

using Group = std::vector<int64_t>;
using Combiner = std::shared_ptr<AppliedComputation>;

struct Collective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::vector<Group> groups;
  std::vector<int64_t> outsiders;      // devices in no group
  size_t copies = 0;                   // operand leaves in front of the results of a start
  size_t operands = 0;                 // leaves that take part
  int64_t dimension = -1;              // all-to-all without: one operand per member
  std::vector<Combiner> computations;  // one per operand, where there is something to fold
};

void fill_zeros(Invocation& call, size_t i) {
  if (Array& result = call.make_result(i); data_bytes(result.shape) > 0)
    std::memset(result.bytes(), 0, static_cast<size_t>(data_bytes(result.shape)));
}

/// out = members[0] ⊕ members[1] ⊕ …, elementwise, `count` elements of `width` bytes.
void fold(const AppliedComputation& computation, DeviceState& device,
          std::span<const std::byte* const> members, std::byte* out, int64_t count, int64_t width) {
  constexpr int64_t kBlock = 8 << 10, kGrain = 64 << 10;
  const auto fold_range = [&](int64_t begin, int64_t end) {
    Applier applier(computation, device);
    for (int64_t first = begin; first < end; first += kBlock) {
      const int64_t n = std::min(kBlock, end - first), at = first * width;
      if (members.size() == 1) std::memcpy(out + at, members[0] + at, static_cast<size_t>(n * width));
      const std::byte* sum = members[0] + at;
      for (const std::byte* member : members.subspan(1)) {
        const void* arguments[] = {sum, member + at};
        void* results[] = {out + at};
        applier.run(arguments, results, n);
        sum = out + at;
      }
    }
  };
  if (computation.is_parallel())
    parallel_for(count, kGrain, fold_range);
  else if (count > 0)
    fold_range(0, count);
}

/// One group of a collective that all its members have reached.
class GroupRun {
 public:
  GroupRun(CollectiveCall& call, const Collective& collective, const Group& group)
      : call_(call), collective_(collective), group_(group), exchange_(call, group) {
    for (const int64_t device : group)
      if (Invocation* member = call.member(device)) local_.push_back(member);
    for (size_t i = 0; i < group.size(); ++i) position_.push_back(static_cast<int64_t>(i));
  }

  void run() {
    switch (collective_.kind) {
      case CollectiveKind::kAllReduce:
        return exchange_.ranks().size() > 1 ? reduce_by_shares() : reduce_here();
      case CollectiveKind::kAllGather:
        return gather();
      case CollectiveKind::kReduceScatter:
        return reduce_scatter();
      case CollectiveKind::kAllToAll:
        return collective_.dimension < 0 ? exchange_operands() : all_to_all();
      default:
        return broadcast();
    }
  }

 private:
  int64_t members() const { return static_cast<int64_t>(group_.size()); }
  ShapeRef shape(size_t leaf) const { return local_[0]->operand(leaf).shape; }
  int64_t bytes(size_t leaf) const { return data_bytes(shape(leaf)); }
  Array result_of(size_t leaf) const {
    const ShapeRef result = local_[0]->result(collective_.copies + leaf).shape;
    return {result, call_.pool().allocate(data_bytes(result)), {}};
  }
  /// All members of this rank share one result.
  void share(const Array& array, size_t leaf) const {
    for (Invocation* member : local_) member->set_result(array, collective_.copies + leaf);
  }
  template <class Want>
  void fetch(Want&& want) {
    for (size_t leaf = 0; leaf < collective_.operands; ++leaf)
      for (const int rank : exchange_.ranks()) want(rank, leaf);
    exchange_.fetch();
  }
  template <class PieceOf>
  void fold_pieces(size_t leaf, int64_t count, PieceOf&& piece, std::byte* out) const {
    std::vector<const std::byte*> data;
    std::vector<Buffer> packed;
    for (const int64_t device : group_) {
      const Piece one = piece(device);
      PieceView view = exchange_.view(one);
      if (one.rows > 1 && view.stride != one.bytes) {
        packed.push_back(call_.pool().allocate(one.total()));
        copy_piece(one, view, packed.back().data(), one.bytes);
        view.data = packed.back().data();
      }
      data.push_back(view.data);
    }
    fold(*collective_.computations[leaf], local_[0]->device(), data, out, count,
         byte_width(shape(leaf)->element_type));
  }

  void reduce_here() {
    for (size_t leaf = 0; leaf < collective_.operands; ++leaf) {
      const Array result = result_of(leaf);
      const int64_t all = bytes(leaf);
      fold_pieces(
          leaf, result.count(), [&](int64_t device) { return Piece::whole(device, leaf, all); },
          result.bytes());
      share(result, leaf);
    }
  }

  // Each rank folds a share of the elements for all, and hands its sums around.
  void reduce_by_shares() {
    const auto ranks = exchange_.ranks();
    const auto parts = static_cast<int>(ranks.size());
    const int self =
        static_cast<int>(std::find(ranks.begin(), ranks.end(), call_.run().ranks().rank()) - ranks.begin());
    const auto share_bytes = [&](size_t leaf, int part) {
      const int64_t width = byte_width(shape(leaf)->element_type);
      Share share = share_of(shape(leaf)->element_count(), parts, part);
      return Share{share.begin * width, share.end * width};
    };
    const auto piece = [&](int64_t device, size_t leaf, int part) {
      const Share share = share_bytes(leaf, part);
      return Piece{device, leaf, share.begin, 1, share.size(), share.size()};
    };
    fetch([&](int rank, size_t leaf) {
      const int part = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
      for (const int64_t device : group_) exchange_.want(rank, piece(device, leaf, part));
    });
    std::vector<Array> results;
    Message own;
    for (size_t leaf = 0; leaf < collective_.operands; ++leaf) {
      results.push_back(result_of(leaf));
      const Share share = share_bytes(leaf, self);
      std::byte* out = results.back().bytes() + share.begin;
      fold_pieces(
          leaf, share.size() / std::max<int64_t>(1, byte_width(shape(leaf)->element_type)),
          [&](int64_t device) { return piece(device, leaf, self); }, out);
      own.insert(own.end(), out, out + share.size());
    }
    std::vector<int> peers;
    std::vector<Message> outgoing, incoming;
    for (int part = 0; part < parts; ++part) {
      if (part == self) continue;
      peers.push_back(ranks[static_cast<size_t>(part)]);
      outgoing.push_back(own);
      int64_t size = 0;
      for (size_t leaf = 0; leaf < collective_.operands; ++leaf) size += share_bytes(leaf, part).size();
      incoming.emplace_back(static_cast<size_t>(size));
    }
    call_.run().ranks().exchange(peers, outgoing, incoming);
    for (int part = 0, i = 0; part < parts; ++part) {
      if (part == self) continue;
      const std::byte* from = incoming[static_cast<size_t>(i++)].data();
      for (size_t leaf = 0; leaf < collective_.operands; ++leaf) {
        const Share share = share_bytes(leaf, part);
        if (share.size() > 0)
          std::memcpy(results[leaf].bytes() + share.begin, from, static_cast<size_t>(share.size()));
        from += share.size();
      }
    }
    for (size_t leaf = 0; leaf < collective_.operands; ++leaf) share(results[leaf], leaf);
  }

  void gather() {
    fetch([&](int rank, size_t leaf) {
      for (const int64_t device : group_) exchange_.want(rank, Piece::whole(device, leaf, bytes(leaf)));
    });
    for (size_t leaf = 0; leaf < collective_.operands; ++leaf) {
      const Parts parts = Parts::along(shape(leaf), collective_.dimension, 1);
      const Array result = result_of(leaf);
      for (const int64_t i : position_) {
        const PieceView from =
            exchange_.view(Piece::whole(group_[static_cast<size_t>(i)], leaf, bytes(leaf)));
        copy_piece({0, 0, 0, parts.rows, parts.bytes, parts.bytes}, {from.data, parts.bytes},
                   result.bytes() + i * parts.bytes, members() * parts.bytes);
      }
      share(result, leaf);
    }
  }

  /// Calls f(member, its place) for the members of rank `rank`.
  template <class F>
  void for_each_member_of(int rank, F&& f) const {
    for (const int64_t i : position_)
      if (call_.run().rank_of(group_[static_cast<size_t>(i)]) == rank) f(group_[static_cast<size_t>(i)], i);
  }
  void fetch_parts() {
    fetch([&](int rank, size_t leaf) {
      const Parts parts = Parts::along(shape(leaf), collective_.dimension, members());
      for_each_member_of(rank, [&](int64_t, int64_t place) {
        for (const int64_t device : group_) exchange_.want(rank, Piece::part(device, leaf, parts, place));
      });
    });
  }

  void reduce_scatter() {
    fetch_parts();
    for (size_t leaf = 0; leaf < collective_.operands; ++leaf) {
      const Parts parts = Parts::along(shape(leaf), collective_.dimension, members());
      for_each_member_of(call_.run().ranks().rank(), [&](int64_t device, int64_t place) {
        Array result = result_of(leaf);
        fold_pieces(
            leaf, result.count(), [&](int64_t from) { return Piece::part(from, leaf, parts, place); },
            result.bytes());
        call_.member(device)->set_result(std::move(result), collective_.copies + leaf);
      });
    }
  }

  void all_to_all() {
    fetch_parts();
    for (size_t leaf = 0; leaf < collective_.operands; ++leaf) {
      const Parts parts = Parts::along(shape(leaf), collective_.dimension, members());
      for_each_member_of(call_.run().ranks().rank(), [&](int64_t device, int64_t place) {
        Array result = result_of(leaf);
        for (const int64_t i : position_) {
          const Piece piece = Piece::part(group_[static_cast<size_t>(i)], leaf, parts, place);
          copy_piece(piece, exchange_.view(piece), result.bytes() + i * parts.bytes, members() * parts.bytes);
        }
        call_.member(device)->set_result(std::move(result), collective_.copies + leaf);
      });
    }
  }

  // Operand j goes to member j, and result j comes from there.
  void exchange_operands() {
    for (const int rank : exchange_.ranks())
      for_each_member_of(rank, [&](int64_t, int64_t place) {
        const auto leaf = static_cast<size_t>(place);
        for (const int64_t device : group_) exchange_.want(rank, Piece::whole(device, leaf, bytes(leaf)));
      });
    exchange_.fetch();
    for_each_member_of(call_.run().ranks().rank(), [&](int64_t device, int64_t place) {
      for (const int64_t i : position_)
        call_.member(device)->set_result(
            exchange_.whole(group_[static_cast<size_t>(i)], static_cast<size_t>(place)),
            collective_.copies + static_cast<size_t>(i));
    });
  }

  void broadcast() {
    fetch([&](int rank, size_t leaf) { exchange_.want(rank, Piece::whole(group_[0], leaf, bytes(leaf))); });
    for (size_t leaf = 0; leaf < collective_.operands; ++leaf) share(exchange_.whole(group_[0], leaf), leaf);
  }

  CollectiveCall& call_;
  const Collective& collective_;
  const Group& group_;
  PieceExchange exchange_;
  std::vector<Invocation*> local_;
  std::vector<int64_t> position_;
};

bool has_runtime_sizes(const Invocation& call) {
  for (size_t i = 0; i < call.operand_count(); ++i)
    if (call.operand(i).sizes) return true;
  return false;
}

void run_collective(CollectiveCall& call, const Collective& collective) {
  for (Invocation& member : call.members())
    if (has_runtime_sizes(member))
      return call.fail("operands with sizes known only when it runs are not supported among several devices");
  std::vector<const Group*> present;
  for (size_t g = 0; g < collective.groups.size(); ++g) {
    const Group& group = collective.groups[g];
    const Attendance attendance = meet(call, group, g);
    if (attendance == Attendance::kFailed) return;
    if (attendance == Attendance::kNobody) continue;
    const bool here =
        std::all_of(group.begin(), group.end(), [&](int64_t d) { return call.member(d) != nullptr; });
    if (here)
      present.push_back(&group);
    else
      GroupRun(call, collective, group).run();
  }
  parallel_for(static_cast<int64_t>(present.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) GroupRun(call, collective, *present[static_cast<size_t>(i)]).run();
  });
  for (const int64_t device : collective.outsiders)
    if (Invocation* member = call.member(device))
      for (size_t i = 0; i < collective.operands; ++i) fill_zeros(*member, collective.copies + i);
  for (Invocation& member : call.members()) {
    for (size_t i = 0; i < collective.copies; ++i) member.set_result(member.operand(i), i);
    for (size_t i = collective.copies + collective.operands; i < member.result_count(); ++i)
      fill_zeros(member, i);
  }
}

/// Bytes of one member's result for each operand leaf fit its declared shape.
bool shapes_fit(const EvaluateContext& op, const Collective& collective, int64_t members) {
  const auto operands = operand_leaves_of(op), results = leaves_of(op.shape());
  if (results.size() < collective.copies + collective.operands) return false;
  for (size_t i = 0; i < collective.operands; ++i) {
    const ShapeRef operand = operands[i], result = results[collective.copies + i];
    if (!operand->is_array() || !result->is_array() || operand->element_type != result->element_type)
      return false;
    int64_t from = data_bytes(operand), to = data_bytes(result);
    if (collective.kind == CollectiveKind::kAllGather) from = saturating_multiply(from, members);
    if (collective.kind == CollectiveKind::kReduceScatter) to = saturating_multiply(to, members);
    if (from != to) return false;
    if (collective.dimension >= 0 && collective.kind != CollectiveKind::kAllGather &&
        operand->dim(collective.dimension) % members != 0)
      return false;
  }
  return collective.kind != CollectiveKind::kAllToAll || collective.dimension >= 0 ||
         members == static_cast<int64_t>(collective.operands);
}

bool find_groups(EvaluateContext& op, Collective& collective) {
  Result<CollectiveGroups> groups = collective_groups(op, *op.grid());
  if (!groups) {
    op.unsupported(groups.error().message);
    return false;
  }
  collective.groups = std::move(groups->groups);
  std::vector<bool> seen(static_cast<size_t>(op.grid()->devices()), false);
  for (const Group& group : collective.groups)
    for (const int64_t device : group) {
      if (seen[static_cast<size_t>(device)]) {
        op.unsupported(fmt::format("device {} is in several groups", device));
        return false;
      }
      seen[static_cast<size_t>(device)] = true;
    }
  for (size_t device = 0; device < seen.size(); ++device)
    if (!seen[device]) collective.outsiders.push_back(static_cast<int64_t>(device));
  return true;
}

}  // namespace

JointEvaluation evaluate_among(EvaluateContext& op) {
  const Work work = work_of(op);
  HLOSIM_CHECK(work.collective, "{} is not a collective", op.instruction().name);
  Collective collective;
  collective.kind = work.collective->kind;
  if (!find_groups(op, collective)) return nullptr;
  const bool reduces =
      collective.kind == CollectiveKind::kAllReduce || collective.kind == CollectiveKind::kReduceScatter;
  if (!collective.outsiders.empty() && collective.kind != CollectiveKind::kBroadcast) {
    op.unsupported(fmt::format("device {} of {} is in none of its groups", collective.outsiders[0],
                               op.grid()->devices()));
    return nullptr;
  }
  if (op.flag(AttrKey::kHasDynamicRoot)) {
    op.unsupported("a root known only when it runs, among several devices");
    return nullptr;
  }
  const auto operands = operand_leaves_of(op);
  collective.operands = operands.size();
  collective.copies =
      op.def().has(kAsyncStart) && collective.kind == CollectiveKind::kAllGather ? operands.size() : 0;
  const auto dimensions = op.ints(AttrKey::kDimensions);
  if (!dimensions.empty()) collective.dimension = dimensions[0];
  for (const Group& group : collective.groups)
    if (!shapes_fit(op, collective, static_cast<int64_t>(group.size()))) {
      op.unsupported(fmt::format("{} of {} among {} devices", text_of(op.shape()),
                                 text_of(op.operand_shape(0)), group.size()));
      return nullptr;
    }
  for (size_t i = 0; reduces && i < collective.operands; ++i) {
    const ElementType type = operands[i]->element_type;
    const ElementType given[] = {type, type}, wanted[] = {type};
    collective.computations.push_back(std::make_shared<AppliedComputation>());
    if (!collective.computations.back()->make(op, op.called(), given, wanted)) return nullptr;
  }
  return [collective = std::move(collective)](CollectiveCall& call) { run_collective(call, collective); };
}

}  // namespace hlosim
