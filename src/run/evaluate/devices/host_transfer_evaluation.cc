#include "evaluate/devices/host_transfer_evaluation.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "evaluate/devices/joint.h"
#include "evaluate/devices/piece_exchange.h"
#include "hlo/frontend.h"
#include "ops/collective_groups.h"
#include "ops/leaf_shapes.h"

namespace hlosim {
namespace {

constexpr std::string_view kNoHost = "the device has no host to transfer values with";

size_t array_leaves(ShapeRef shape) { return leaves_of(shape).size(); }

/// Zeros in result leaf `i`, nothing in a token.
void clear_result(Invocation& call, size_t i) {
  Array& result = call.result(i);
  if (!result.shape->is_array()) return;
  call.make_result(i);
  if (const int64_t bytes = data_bytes(result.shape); bytes > 0)
    std::memset(result.bytes(), 0, static_cast<size_t>(bytes));
}

/// Result leaves 0 … count - 1 from `next(shape)`.
template <class Next>
void take_from_host(Invocation& call, size_t count, Next&& next) {
  for (size_t i = 0; i < count; ++i) {
    if (!call.result(i).shape->is_array()) continue;
    Result<Array> array = next(call.result(i).shape);
    if (!array) return call.fail(array.error());
    call.set_result(std::move(*array), i);
  }
}

/// Operand leaves 0 … count - 1 to `give(array)`.
template <class Give>
void give_to_host(Invocation& call, size_t count, Give&& give) {
  for (size_t i = 0; i < count; ++i) {
    if (!call.operand(i).shape->is_array()) continue;
    if (const Result<void> given = give(call.operand(i)); !given) return call.fail(given.error());
  }
}

std::vector<int64_t> numbers_in(std::string_view text) {
  std::vector<int64_t> numbers;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
    if (error == std::errc()) numbers.push_back(number);
    at = error == std::errc() ? end : at + 1;
  }
  return numbers;
}

enum class Route : uint8_t { kHost, kSelf, kNobody, kPeers, kRefused };

/// Where a send or recv leads to or comes from. kRefused: after a report.
Route route_of(EvaluateContext& op) {
  if (op.flag(AttrKey::kIsHostTransfer)) return Route::kHost;
  const int64_t declared = declared_grid(op.module()).devices();
  if (const auto pairs = frontend_attribute(op.instruction(), "_xla_send_recv_source_target_pairs")) {
    const std::vector<int64_t> ids = numbers_in(*pairs);
    if (ids.empty()) return Route::kNobody;
    if (op.grid()) return Route::kPeers;
    const int64_t largest = *std::max_element(ids.begin(), ids.end());
    if (largest == 0) return Route::kSelf;
    op.unsupported(
        fmt::format("the module needs {} devices, but is run on one", std::max(largest + 1, declared)));
    return Route::kRefused;
  }
  if (op.grid()) {
    op.unsupported(
        "its peer device is unknown: the frontend attribute "
        "_xla_send_recv_source_target_pairs is missing");
    return Route::kRefused;
  }
  const int64_t channel = op.integer(AttrKey::kChannelId);
  const Opcode other = op.instruction().opcode == Opcode::kSend ? Opcode::kRecv : Opcode::kSend;
  for (const Instruction& instruction : op.module().instructions) {
    const Attr* attr = instruction.find(AttrKey::kChannelId);
    if (instruction.opcode == other && attr && attr->integer() == channel) return Route::kSelf;
  }
  op.unsupported(fmt::format("the module has no {} on channel {}, which leads to another device or program",
                             to_text(other), channel));
  return Route::kRefused;
}

using DevicePair = std::array<int64_t, 2>;  // source and target, flattened

/// The pairs of a send or recv on the grid. They name replicas where there is one partition, else partitions,
/// of each replica. False after a report.
bool find_transfers(EvaluateContext& op, std::vector<DevicePair>& transfers) {
  const auto pairs = frontend_attribute(op.instruction(), "_xla_send_recv_source_target_pairs");
  const std::vector<int64_t> ids = numbers_in(pairs.value_or(""));
  const DeviceGrid& grid = *op.grid();
  const int64_t replicas = grid.partitions == 1 ? 1 : grid.replicas;
  const int64_t members = grid.devices() / replicas;
  for (const int64_t id : ids)
    if (id >= members || ids.size() % 2 != 0) {
      op.unsupported(fmt::format("_xla_send_recv_source_target_pairs={} on {} devices", *pairs, members));
      return false;
    }
  for (int64_t replica = 0; replica < replicas; ++replica)
    for (size_t i = 0; i < ids.size(); i += 2)
      transfers.push_back({replica * members + ids[i], replica * members + ids[i + 1]});
  return true;
}

/// The channel of a done: its own or its start's.
std::optional<int64_t> done_channel(const OpContext& op) {
  if (op.has(AttrKey::kChannelId)) return op.integer(AttrKey::kChannelId);
  const Attr* attr = op.operand(0).find(AttrKey::kChannelId);
  return attr ? std::optional(attr->integer()) : std::nullopt;
}

// Zeros at once where no device sends.
Evaluation receive_from_peers(EvaluateContext& op) {
  std::vector<DevicePair> transfers;
  if (!find_transfers(op, transfers)) return nullptr;
  return [count = array_leaves(op.shape()->elements[0]), transfers](Invocation& call) {
    clear_result(call, count);
    const bool is_target = std::any_of(transfers.begin(), transfers.end(),
                                       [&](const DevicePair& one) { return one[1] == call.device().id; });
    for (size_t i = 0; !is_target && i < count; ++i) clear_result(call, i);
  };
}

}  // namespace

Evaluation evaluate_infeed(EvaluateContext& op) {
  return [count = array_leaves(op.shape()->elements[0])](Invocation& call) {
    HostTransfers* host = call.device().host;
    if (!host) return call.fail(std::string(kNoHost));
    take_from_host(call, count, [&](ShapeRef shape) { return host->infeed(shape, call.device().pool()); });
  };
}

Evaluation evaluate_outfeed(EvaluateContext& op) {
  return [count = array_leaves(op.operand_shape(0))](Invocation& call) {
    HostTransfers* host = call.device().host;
    if (!host) return call.fail(std::string(kNoHost));
    give_to_host(call, count, [&](const Array& array) { return host->outfeed(array); });
  };
}

Evaluation evaluate_send(EvaluateContext& op) {
  const Route route = route_of(op);
  if (route == Route::kRefused) return nullptr;
  return [count = array_leaves(op.operand_shape(0)), channel = op.integer(AttrKey::kChannelId),
          route](Invocation& call) {
    HostTransfers* host = call.device().host;
    if (route == Route::kHost && !host) return call.fail(std::string(kNoHost));
    if (route == Route::kHost)
      give_to_host(call, count, [&](const Array& array) { return host->send(channel, array); });
    std::vector<Array> sent;
    for (size_t i = 0; i < count; ++i) sent.push_back(call.operand(i));
    for (size_t i = 0; i < count; ++i) call.set_result(sent[i], i);
    if (route == Route::kSelf) call.device().under_way[channel].push_back(std::move(sent));
    clear_result(call, count);
  };
}

JointEvaluation evaluate_send_jointly(EvaluateContext& op) {
  const auto pairs = frontend_attribute(op.instruction(), "_xla_send_recv_source_target_pairs");
  if (op.flag(AttrKey::kIsHostTransfer) || !pairs || numbers_in(*pairs).empty()) return nullptr;
  std::vector<DevicePair> transfers;
  if (!find_transfers(op, transfers)) return nullptr;
  return [count = array_leaves(op.operand_shape(0)), channel = op.integer(AttrKey::kChannelId),
          transfers](CollectiveCall& call) {
    for (size_t t = 0; t < transfers.size(); ++t) {
      const auto& [source, target] = transfers[t];
      const Attendance attendance = meet(call, transfers[t], t);
      if (attendance == Attendance::kFailed) return;
      if (attendance == Attendance::kNobody) continue;
      PieceExchange exchange(call, transfers[t]);
      for (size_t i = 0; i < count; ++i)
        exchange.want(call.run().rank_of(target),
                      Piece::whole(source, i, data_bytes(call.members().front().operand(i).shape)));
      exchange.fetch();
      Invocation* receiver = call.member(target);
      if (!receiver) continue;
      auto& arrived = receiver->device().under_way[channel].emplace_back();
      for (size_t i = 0; i < count; ++i) arrived.push_back(exchange.whole(source, i));
    }
    for (Invocation& member : call.members()) {
      for (size_t i = 0; i < count; ++i) member.set_result(member.operand(i), i);
      clear_result(member, count);
    }
  };
}

Evaluation evaluate_recv(EvaluateContext& op) {
  const Route route = route_of(op);
  if (route == Route::kRefused) return nullptr;
  if (route == Route::kPeers) return receive_from_peers(op);
  return [count = array_leaves(op.shape()->elements[0]), channel = op.integer(AttrKey::kChannelId),
          route](Invocation& call) {
    HostTransfers* host = call.device().host;
    clear_result(call, count);
    if (route == Route::kNobody)
      for (size_t i = 0; i < count; ++i) clear_result(call, i);
    if (route != Route::kHost) return;
    if (!host) return call.fail(std::string(kNoHost));
    take_from_host(call, count,
                   [&](ShapeRef shape) { return host->receive(channel, shape, call.device().pool()); });
  };
}

// What has come already is in the start's leaves; what the device sends to itself comes now.
Evaluation evaluate_recv_done(EvaluateContext& op) {
  return [count = array_leaves(op.shape()->elements[0]), channel = done_channel(op)](Invocation& call) {
    const bool is_there = count == 0 || call.operand(0).data;
    if (is_there) {
      for (size_t i = 0; i < count; ++i) call.set_result(call.take(i), i);
      return;
    }
    if (!channel) return call.fail("neither this nor its operand names a channel");
    auto& waiting = call.device().under_way[*channel];
    if (waiting.empty())
      return call.fail(fmt::format("nothing has been sent on channel {} so far", *channel));
    std::vector<Array> arrays = std::move(waiting.front());
    waiting.erase(waiting.begin());
    for (size_t i = 0; i < count; ++i) {
      const bool same =
          i < arrays.size() && arrays[i].shape->element_type == call.result(i).shape->element_type &&
          std::equal(arrays[i].shape->dimensions.begin(), arrays[i].shape->dimensions.end(),
                     call.result(i).shape->dimensions.begin(), call.result(i).shape->dimensions.end());
      if (!same)
        return call.fail(fmt::format("what was sent on channel {} has another shape than {}", *channel,
                                     to_text_without_layout(call.result(i).shape)));
      call.set_result(std::move(arrays[i]), i);
    }
  };
}

}  // namespace hlosim
