// What the members of a group need of each other's operands, wherever they run.
//
//   PieceExchange exchange(call, group);
//   for (const Piece& piece : pieces) exchange.want(rank, piece);
//   exchange.fetch();                         // then view(piece) is there
#pragma once

#include <array>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "evaluate/devices/collective_parts.h"
#include "evaluate/devices/joint.h"

namespace hlosim {

/// Brings pieces of operands to the ranks that need them. All ranks of a group say the same wants in the same
/// order, after they met.
class PieceExchange {
 public:
  PieceExchange(CollectiveCall& call, std::span<const int64_t> group);

  /// Ranks of the group, this one included, ascending.
  std::span<const int> ranks() const { return ranks_; }
  /// Rank `rank` will look at `piece`.
  void want(int rank, const Piece& piece);
  void fetch();

  /// Requires: wanted by this rank, and fetched.
  PieceView view(const Piece& piece) const;
  /// The operand leaf of a device as an array. Requires: wanted as a whole and fetched.
  Array whole(int64_t device, size_t leaf) const;

 private:
  using Key = std::array<int64_t, 4>;
  static Key key_of(const Piece& piece) {
    return {piece.device, static_cast<int64_t>(piece.leaf), piece.offset, piece.bytes};
  }
  struct Peer {
    int rank;
    std::set<Key> outgoing;
    std::vector<Piece> order;         // of the pieces in the message to it
    std::map<Key, int64_t> incoming;  // where a piece lies in the message from it
    int64_t incoming_bytes = 0;
    Message message;
  };
  Peer* peer(int rank);
  const Peer* peer(int rank) const { return const_cast<PieceExchange*>(this)->peer(rank); }

  CollectiveCall& call_;
  std::vector<int> ranks_;
  std::vector<Peer> peers_;
};

}  // namespace hlosim
