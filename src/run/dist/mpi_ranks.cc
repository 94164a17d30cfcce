// Ranks by MPI.
//
// Meetings are arranged by small messages between the ranks that meet: who arrives says so to its peers, then
// waits for their word. Who has waited for a while asks those it still waits for, who pass the question on to
// those they wait for; a question that comes back to its asker by the same path twice has gone around a
// circle of ranks that wait for each other (Chandy, Misra and Haas 1983). Once ranks have met, the data goes
// by MPI_Alltoallv among them.
#include "dist/ranks.h"

#ifdef HLOSIM_MPI
#include <fmt/format.h>
#define OMPI_SKIP_MPICXX  // its C++ interface is gone from the standard
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <thread>

#include "base/check.h"

namespace hlosim {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::milliseconds(100);  // before asking, and between questions
constexpr int kWordTag = 1, kDataTag = 2;
constexpr int64_t kLargestPart = 1 << 30;  // bytes that one call of MPI moves: its counts are ints

enum class Word : uint64_t { kArrive, kQuestion, kFinished };

/// A message about meetings. kArrive: numbers = {key}; kQuestion: {asker, wait of the asker, path …}.
struct WordMessage {
  Word word = Word::kArrive;
  std::vector<uint64_t> numbers;
  std::string text;

  Message packed() const {
    const uint64_t head[] = {static_cast<uint64_t>(word), numbers.size()};
    Message bytes(sizeof head + numbers.size() * 8 + text.size());
    std::memcpy(bytes.data(), head, sizeof head);
    if (!numbers.empty()) std::memcpy(bytes.data() + sizeof head, numbers.data(), numbers.size() * 8);
    if (!text.empty()) std::memcpy(bytes.data() + sizeof head + numbers.size() * 8, text.data(), text.size());
    return bytes;
  }
  static WordMessage unpacked(const Message& bytes) {
    uint64_t head[2];
    HLOSIM_CHECK(bytes.size() >= sizeof head, "{} bytes", bytes.size());
    std::memcpy(head, bytes.data(), sizeof head);
    WordMessage message{static_cast<Word>(head[0]), std::vector<uint64_t>(head[1]), {}};
    const size_t text = sizeof head + head[1] * 8;
    HLOSIM_CHECK(bytes.size() >= text, "{} bytes, expected {}", bytes.size(), text);
    if (head[1] > 0) std::memcpy(message.numbers.data(), bytes.data() + sizeof head, head[1] * 8);
    message.text.assign(reinterpret_cast<const char*>(bytes.data()) + text, bytes.size() - text);
    return message;
  }
};

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    HLOSIM_CHECK(provided >= MPI_THREAD_FUNNELED, "this MPI bears no threads ({})", provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &words_);
    MPI_Comm_rank(words_, &rank_);
    MPI_Comm_size(words_, &size_);
    peers_.resize(static_cast<size_t>(size_));
  }
  ~MpiRanks() override {
    for (Pending& one : pending_) MPI_Wait(&one.request, MPI_STATUS_IGNORE);
    for (auto& [ranks, group] : groups_) MPI_Comm_free(&group);
    MPI_Comm_free(&words_);
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Result<void> meet(std::span<const int> peers, const Meeting& meeting) override {
    ++waits_;
    awaited_.assign(peers.begin(), peers.end());
    for (const int peer : peers) send(peer, {Word::kArrive, {meeting.key}, meeting.what});
    last_path_.clear();
    std::optional<std::string> problem;
    wait_until([&] {
      problem = see_who_came(meeting);
      if (!problem && circle_) problem = fmt::format("{}: {}", meeting.what, *circle_);
      return problem || awaited_.empty();
    });
    if (problem) return tl::unexpected(failure(*problem).value());
    return {};
  }

  void exchange(std::span<const int> peers, std::span<const Message> outgoing,
                std::span<Message> incoming) override {
    if (peers.empty()) return;
    const MPI_Comm group = group_of(peers);
    int64_t bytes[2] = {0, 0};
    for (const Message& message : outgoing) bytes[0] += static_cast<int64_t>(message.size());
    for (const Message& message : incoming) bytes[1] += static_cast<int64_t>(message.size());
    int64_t largest = std::max(bytes[0], bytes[1]);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, group);
    if (largest <= kLargestPart)
      exchange_at_once(group, peers, outgoing, incoming);
    else
      exchange_in_parts(peers, outgoing, incoming);
  }

  Result<void> finish() override {
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) send(peer, {Word::kFinished, {}, {}});
    std::optional<std::string> problem;
    wait_until([&] {
      bool all = true;
      for (int peer = 0; peer < size_; ++peer) {
        const Peer& other = peers_[static_cast<size_t>(peer)];
        if (peer != rank_ && !other.arrivals.empty())
          problem = fmt::format("rank {} has finished, but rank {} is waiting for it: {}", rank_, peer,
                                other.arrivals.front().text);
        all = all && (peer == rank_ || other.finished);
      }
      return all || problem;
    });
    if (problem) return tl::unexpected(failure(*problem).value());
    return {};
  }

  void abandon(int exit_code) override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  struct Peer {
    std::deque<WordMessage> arrivals;
    bool finished = false;
  };
  struct Pending {
    Message bytes;
    MPI_Request request;
  };

  void send(int to, const WordMessage& message) {
    Pending& one = pending_.emplace_back();
    one.bytes = message.packed();
    MPI_Isend(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, to, kWordTag, words_,
              &one.request);
    pending_.remove_if([](Pending& sent) {
      int done = 0;
      MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
  }

  /// Takes in what others say until `done()`, and asks those awaited from time to time.
  template <class Done>
  void wait_until(Done&& done) {
    Clock::time_point next_question = Clock::now() + kPatience;
    for (int64_t round = 0; !done(); ++round) {
      if (listen()) continue;
      if (Clock::now() >= next_question) {
        for (const int peer : awaited_)
          send(peer, {Word::kQuestion, {static_cast<uint64_t>(rank_), waits_}, {}});
        next_question = Clock::now() + kPatience;
      }
      if (round < 1000)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  /// Takes in one message. False: there is none.
  bool listen() {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kWordTag, words_, &there, &status);
    if (!there) return false;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    Message packed(static_cast<size_t>(bytes));
    MPI_Recv(packed.data(), bytes, MPI_BYTE, status.MPI_SOURCE, kWordTag, words_, MPI_STATUS_IGNORE);
    WordMessage message = WordMessage::unpacked(packed);
    Peer& source = peers_[static_cast<size_t>(status.MPI_SOURCE)];
    if (message.word == Word::kArrive)
      source.arrivals.push_back(std::move(message));
    else if (message.word == Word::kFinished)
      source.finished = true;
    else
      answer(message);
    return true;
  }

  /// Strikes off the awaited who are there; what is wrong with one of the others.
  std::optional<std::string> see_who_came(const Meeting& meeting) {
    std::optional<std::string> problem;
    std::erase_if(awaited_, [&](int peer) {
      Peer& other = peers_[static_cast<size_t>(peer)];
      if (other.arrivals.empty()) {
        if (other.finished)
          problem = fmt::format("rank {} is waiting for rank {} at {}, but rank {} has finished", rank_, peer,
                                meeting.what, peer);
        return false;
      }
      const WordMessage arrival = std::move(other.arrivals.front());
      other.arrivals.pop_front();
      if (arrival.numbers.at(0) != meeting.key)
        problem = fmt::format("rank {} is at {}, but rank {} at {}", rank_, meeting.what, peer, arrival.text);
      return true;
    });
    return problem;
  }

  // A question has come along `path`: the waits of the ranks between its asker and this one.
  void answer(const WordMessage& question) {
    if (awaited_.empty()) return;
    const auto asker = static_cast<int>(question.numbers.at(0));
    const std::vector<uint64_t> path(question.numbers.begin() + 2, question.numbers.end());
    if (asker == rank_) {
      if (question.numbers[1] != waits_) return;
      if (path == last_path_) circle_ = circle_text(path);
      last_path_ = path;
      return;
    }
    const uint64_t self = waits_ * static_cast<uint64_t>(size_) + static_cast<uint64_t>(rank_);
    if (std::find(path.begin(), path.end(), self) != path.end()) return;
    WordMessage further = question;
    further.numbers.push_back(self);
    for (const int peer : awaited_) send(peer, further);
  }

  std::string circle_text(std::span<const uint64_t> path) const {
    std::string text = fmt::format("ranks wait for each other: {}", rank_);
    for (const uint64_t place : path) text += fmt::format(" for {}", place % static_cast<uint64_t>(size_));
    return text + fmt::format(" for {}", rank_);
  }

  /// The communicator of `peers` and this rank.
  MPI_Comm group_of(std::span<const int> peers) {
    std::vector<int> ranks(peers.begin(), peers.end());
    ranks.push_back(rank_);
    std::sort(ranks.begin(), ranks.end());
    const auto found = groups_.find(ranks);
    if (found != groups_.end()) return found->second;
    MPI_Group world, group;
    MPI_Comm made;
    MPI_Comm_group(words_, &world);
    MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
    MPI_Comm_create_group(words_, group, kDataTag, &made);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return groups_.emplace(std::move(ranks), made).first->second;
  }

  void exchange_at_once(MPI_Comm group, std::span<const int> peers, std::span<const Message> outgoing,
                        std::span<Message> incoming) const {
    const size_t ranks = peers.size() + 1;
    const auto self =
        static_cast<size_t>(std::lower_bound(peers.begin(), peers.end(), rank_) - peers.begin());
    std::vector<int> out_counts(ranks, 0), out_places(ranks, 0), in_counts(ranks, 0), in_places(ranks, 0);
    Message out;
    int in_size = 0;
    for (size_t i = 0; i < peers.size(); ++i) {
      const size_t place = i + (i >= self);
      out_counts[place] = static_cast<int>(outgoing[i].size());
      out_places[place] = static_cast<int>(out.size());
      out.insert(out.end(), outgoing[i].begin(), outgoing[i].end());
      in_counts[place] = static_cast<int>(incoming[i].size());
      in_places[place] = in_size;
      in_size += in_counts[place];
    }
    Message in(static_cast<size_t>(in_size));
    MPI_Alltoallv(out.data(), out_counts.data(), out_places.data(), MPI_BYTE, in.data(), in_counts.data(),
                  in_places.data(), MPI_BYTE, group);
    for (size_t i = 0; i < peers.size(); ++i) {
      const size_t place = i + (i >= self);
      std::copy_n(in.begin() + in_places[place], in_counts[place], incoming[i].begin());
    }
  }

  void exchange_in_parts(std::span<const int> peers, std::span<const Message> outgoing,
                         std::span<Message> incoming) const {
    std::vector<MPI_Request> requests;
    const auto in_parts = [&](const auto& message, auto&& call) {
      const auto size = static_cast<int64_t>(message.size());
      for (int64_t at = 0; at < size; at += kLargestPart)
        call(at, static_cast<int>(std::min(kLargestPart, size - at)));
    };
    for (size_t i = 0; i < peers.size(); ++i) {
      in_parts(incoming[i], [&](int64_t at, int count) {
        MPI_Irecv(incoming[i].data() + at, count, MPI_BYTE, peers[i], kDataTag, words_,
                  &requests.emplace_back());
      });
      in_parts(outgoing[i], [&](int64_t at, int count) {
        MPI_Isend(outgoing[i].data() + at, count, MPI_BYTE, peers[i], kDataTag, words_,
                  &requests.emplace_back());
      });
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  MPI_Comm words_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<Peer> peers_;
  std::list<Pending> pending_;
  std::map<std::vector<int>, MPI_Comm> groups_;

  uint64_t waits_ = 0;        // meetings so far: distinguishes one wait from another
  std::vector<int> awaited_;  // of the meeting that goes on
  std::vector<uint64_t> last_path_;
  std::optional<std::string> circle_;
};

}  // namespace

std::unique_ptr<Ranks> launched_ranks() {
  return launched_together() ? std::make_unique<MpiRanks>() : nullptr;
}
bool mpirun_without_mpi_support() { return false; }

}  // namespace hlosim

#else

namespace hlosim {

std::unique_ptr<Ranks> launched_ranks() { return nullptr; }
bool mpirun_without_mpi_support() { return launched_together(); }

}  // namespace hlosim
#endif
