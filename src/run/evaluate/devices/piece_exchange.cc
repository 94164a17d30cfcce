#include "evaluate/devices/piece_exchange.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace hlosim {

PieceExchange::PieceExchange(CollectiveCall& call, std::span<const int64_t> group) : call_(call) {
  for (const int64_t device : group) ranks_.push_back(call.run().rank_of(device));
  std::sort(ranks_.begin(), ranks_.end());
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
  for (const int rank : ranks_)
    if (rank != call.run().ranks().rank()) peers_.emplace_back().rank = rank;
}

PieceExchange::Peer* PieceExchange::peer(int rank) {
  const auto found =
      std::find_if(peers_.begin(), peers_.end(), [&](const Peer& one) { return one.rank == rank; });
  return found == peers_.end() ? nullptr : &*found;
}

void PieceExchange::want(int rank, const Piece& piece) {
  const int self = call_.run().ranks().rank(), source = call_.run().rank_of(piece.device);
  if (source == rank) return;
  if (source == self) {
    Peer* to = peer(rank);
    HLOSIM_CHECK(to, "rank {} is not of the group", rank);
    if (to->outgoing.insert(key_of(piece)).second) to->order.push_back(piece);
  } else if (rank == self) {
    Peer* from = peer(source);
    HLOSIM_CHECK(from, "rank {} is not of the group", source);
    if (from->incoming.emplace(key_of(piece), from->incoming_bytes).second)
      from->incoming_bytes += piece.total();
  }
}

void PieceExchange::fetch() {
  if (peers_.empty()) return;
  std::vector<int> ranks;
  std::vector<Message> outgoing, incoming;
  for (Peer& peer : peers_) {
    ranks.push_back(peer.rank);
    Message& message = outgoing.emplace_back();
    for (const Piece& piece : peer.order) {
      const size_t at = message.size();
      message.resize(at + static_cast<size_t>(piece.total()));
      copy_piece(piece, view(piece), message.data() + at, piece.bytes);
    }
    incoming.emplace_back(static_cast<size_t>(peer.incoming_bytes));
  }
  call_.run().ranks().exchange(ranks, outgoing, incoming);
  for (size_t i = 0; i < peers_.size(); ++i) peers_[i].message = std::move(incoming[i]);
}

PieceView PieceExchange::view(const Piece& piece) const {
  const int source = call_.run().rank_of(piece.device);
  if (source == call_.run().ranks().rank()) {
    const Invocation* member = call_.member(piece.device);
    HLOSIM_CHECK(member, "device {} is not here", piece.device);
    return {member->operand(piece.leaf).bytes() + piece.offset, piece.stride};
  }
  const Peer* from = peer(source);
  HLOSIM_CHECK(from && from->incoming.count(key_of(piece)), "leaf {} of device {} was not asked for",
               piece.leaf, piece.device);
  return {from->message.data() + from->incoming.at(key_of(piece)), piece.bytes};
}

Array PieceExchange::whole(int64_t device, size_t leaf) const {
  if (const Invocation* member = call_.member(device)) return member->operand(leaf);
  const ShapeRef shape = call_.members().front().operand(leaf).shape;
  const int64_t bytes = data_bytes(shape);
  Array array{shape, call_.pool().allocate(bytes), {}};
  if (bytes > 0)
    std::memcpy(array.bytes(), view(Piece::whole(device, leaf, bytes)).data, static_cast<size_t>(bytes));
  return array;
}

}  // namespace hlosim
