// Ranks that are threads of one process: what several processes do, without any.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "dist/ranks.h"

namespace hlosim::test {

/// Calls f(ranks) on `count` threads, one per rank, and waits for all.
class ThreadRanks {
 public:
  static void run(int count, const std::function<void(Ranks&)>& f) {
    ThreadRanks hub(count);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count; ++rank)
      threads.emplace_back([&, rank] {
        Rank self(hub, rank);
        f(self);
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  explicit ThreadRanks(int count) : count_(count) {}

  template <class T>
  using Queues = std::map<std::pair<int, int>, std::deque<T>>;  // by (from, to)

  class Rank final : public Ranks {
   public:
    Rank(ThreadRanks& hub, int rank) : hub_(hub), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return hub_.count_; }
    Result<void> meet(std::span<const int> peers, const Meeting& meeting) override {
      for (const int peer : peers) hub_.put(hub_.meetings_, rank_, peer, meeting);
      for (const int peer : peers)
        if (const Meeting other = hub_.get(hub_.meetings_, peer, rank_); other.key != meeting.key)
          return failure(meeting.what + " here, " + other.what + " there");
      return {};
    }
    void exchange(std::span<const int> peers, std::span<const Message> outgoing,
                  std::span<Message> incoming) override {
      for (size_t i = 0; i < peers.size(); ++i) hub_.put(hub_.messages_, rank_, peers[i], outgoing[i]);
      for (size_t i = 0; i < peers.size(); ++i) {
        Message message = hub_.get(hub_.messages_, peers[i], rank_);
        if (message.size() != incoming[i].size()) std::abort();
        incoming[i] = std::move(message);
      }
    }
    Result<void> finish() override { return {}; }
    void abandon(int) override {}

   private:
    ThreadRanks& hub_;
    int rank_;
  };

  template <class T>
  void put(Queues<T>& queues, int from, int to, T value) {
    const std::lock_guard lock(mutex_);
    queues[{from, to}].push_back(std::move(value));
    changed_.notify_all();
  }
  template <class T>
  T get(Queues<T>& queues, int from, int to) {
    std::unique_lock lock(mutex_);
    std::deque<T>& queue = queues[{from, to}];
    changed_.wait(lock, [&] { return !queue.empty(); });
    T value = std::move(queue.front());
    queue.pop_front();
    return value;
  }

  int count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Queues<Meeting> meetings_;
  Queues<Message> messages_;
};

}  // namespace hlosim::test
