#include "serving/server_engine.h"

namespace hlosim {

/// Preempts the request admitted last, if another one runs.
bool ServerEngine::throw_one_out() {
  if (running_.size() < 2) return false;
  EngineRequest last = running_.back();
  running_.pop_back();
  free_pages_ += last.pages;
  last.wanted = std::max({last.wanted, last.computed, requests_[last.request].input});
  last.computed = last.pages = 0;
  waiting_.push_front(last);
  ++work_.preemptions;
  return true;
}

/// Pages for the tokens that the next step may give the one at `place`; others, or it itself, make room.
void ServerEngine::grow(size_t place) {
  const EngineRequest& one = running_[place];
  const Request& request = requests_[one.request];
  const int64_t tokens = std::min(one.computed + setup_.decode_tokens(), request.input + request.output);
  const int64_t more = pages_of(tokens) - one.pages;
  while (more > free_pages_)
    if (!throw_one_out() || place >= running_.size()) return;
  running_[place].pages += more, free_pages_ -= more;
}

bool ServerEngine::has_room_for(const EngineRequest& one) const {
  const auto running = static_cast<int64_t>(running_.size()) + reserved_;
  return waiting_.empty() && running < setup_.most_decodes() && pages_of(one.wanted + 1) <= free_pages_;
}

bool ServerEngine::reserve(EngineRequest& one) {
  if (!has_room_for(one)) return false;
  one.pages = pages_of(one.wanted + 1);
  free_pages_ -= one.pages;
  ++reserved_;
  return true;
}

/// Tokens of prompts that this step takes: of those that run first, then of new ones.
std::vector<ServerEngine::Chunk> ServerEngine::chunks(int64_t budget) {
  std::vector<Chunk> taken;
  const auto take = [&](size_t place) {
    EngineRequest& one = running_[place];
    const int64_t tokens = std::min(budget, one.wanted - one.computed);
    taken.push_back({place, tokens});
    budget -= tokens;
  };
  for (size_t i = 0; i < running_.size() && budget > 0; ++i)
    if (!running_[i].decodes()) take(i);
  while (budget > 0 && !waiting_.empty() &&
         static_cast<int64_t>(running_.size()) + reserved_ < setup_.most_decodes()) {
    EngineRequest& one = waiting_.front();
    const int64_t pages = pages_of(one.wanted + 1);
    if (pages > free_pages_) break;
    one.pages = pages, free_pages_ -= pages;
    running_.push_back(one);
    waiting_.pop_front();
    take(running_.size() - 1);
  }
  return taken;
}

Result<void> ServerEngine::step(double horizon) {
  for (size_t i = 0; i < running_.size(); ++i)
    if (running_[i].decodes()) grow(i);
  ServerStepLoad load;
  for (const EngineRequest& one : running_)
    if (one.decodes()) ++load.decodes, load.context += one.computed + 1;
  const int64_t decoded = setup_.mixed_steps ? load.decodes * setup_.decode_tokens() : 0;
  const std::vector<Chunk> taken = chunks(setup_.max_batched_tokens - decoded);
  work_.most_running = std::max(work_.most_running, static_cast<int64_t>(running_.size()));
  for (const Chunk& chunk : taken) {
    const auto begin = static_cast<double>(running_[chunk.place].computed);
    const double end = begin + static_cast<double>(chunk.tokens);
    load.prefill += chunk.tokens, load.prefill_pairs += (end * end - begin * begin) / 2;
  }
  if (!setup_.mixed_steps && load.prefill > 0) load.decodes = load.context = 0;
  if (load.prefill == 0) return decode_steps(load, horizon);
  const Result<ServerStepCost> cost = times_.cost(load);
  if (!cost) return tl::unexpected(cost.error());
  const double before = now_;
  advance(*cost, true);
  if (load.decodes > 0) decode(before, cost->seconds + setup_.host_seconds);
  for (const Chunk& chunk : taken) {
    EngineRequest& one = running_[chunk.place];
    one.computed += chunk.tokens;
    if (!one.decodes() || hands_over_) continue;
    ++one.made;
    log_tokens(one, 1);
  }
  leave();
  return {};
}

/// Steps that only decode, until a request may end, `horizon`, or until one may need a page that is not free.
Result<void> ServerEngine::decode_steps(ServerStepLoad load, double horizon) {
  const int64_t each = setup_.decode_tokens();
  int64_t count = 1 << 20;
  for (const EngineRequest& one : running_) count = std::min(count, (tokens_left(one) + each - 1) / each);
  const int64_t spare = free_pages_ / static_cast<int64_t>(running_.size()) / memory_.pages_per_page();
  count = std::clamp<int64_t>(count, 1, std::max<int64_t>(1, spare * memory_.page / each));
  for (int64_t i = 0; i < count; ++i) {
    const Result<ServerStepCost> cost = times_.cost(load);
    if (!cost) return tl::unexpected(cost.error());
    const double before = now_;
    advance(*cost, false);
    load.context += decode(before, cost->seconds + setup_.host_seconds);
    if (now_ >= horizon) break;
  }
  for (EngineRequest& one : running_) {
    const int64_t more = pages_of(one.computed) - one.pages;
    if (more > 0) one.pages += more, free_pages_ -= more;
  }
  leave();
  return {};
}

void ServerEngine::advance(const ServerStepCost& cost, bool mixed) {
  now_ += cost.seconds + setup_.host_seconds;
  ++work_.steps, work_.mixed_steps += mixed ? 1 : 0;
  (mixed ? work_.mixed_seconds : work_.decode_seconds) += cost.seconds;
  work_.host_seconds += setup_.host_seconds;
  work_.cost += cost;
}

/// Gives all that decode their tokens; returns how many. Those that had some at `before` have the same gap.
int64_t ServerEngine::decode(double before, double gap) {
  int64_t requests = 0, together = 0, all = 0;
  for (EngineRequest& one : running_) {
    if (!one.decodes()) continue;
    const int64_t tokens = take_tokens(one);
    all += tokens;
    if (one.made > tokens && one.last == before)
      ++requests, together += tokens, one.last = now_;
    else
      log_tokens(one, tokens);
  }
  if (requests > 0) log_.tokens(gap, now_, requests, together);
  return all;
}

/// Tokens that a step gives one that decodes.
int64_t ServerEngine::take_tokens(EngineRequest& one) {
  const int64_t accepted = drafts_.next();
  ++work_.verifications, work_.accepted_drafts += accepted;
  const int64_t tokens = std::min(1 + accepted, tokens_left(one));
  one.computed += tokens, one.made += tokens;
  return tokens;
}

/// Of one that has its tokens; after a preemption it goes on.
void ServerEngine::log_tokens(EngineRequest& one, int64_t tokens) {
  if (one.made > tokens) {
    log_.tokens(now_ - one.last, now_, 1, tokens);
  } else {
    one.first = now_;
    log_.first_tokens(one.request, now_, tokens);
  }
  one.last = now_;
}

void ServerEngine::leave() {
  const auto ends = [&](const EngineRequest& one) {
    if (hands_over_ && one.decodes()) {
      handed_over_.push_back(one);
      return true;
    }
    if (tokens_left(one) > 0) return false;
    log_.end(one.request, one.first, one.last);
    free_pages_ += one.pages;
    return true;
  };
  running_.erase(std::remove_if(running_.begin(), running_.end(), ends), running_.end());
}

}  // namespace hlosim
