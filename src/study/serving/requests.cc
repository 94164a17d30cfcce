// Requests drawn from two lengths, or read from a trace.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>

#include "base/text.h"
#include "serving/server.h"
#include "serving/speculation.h"

namespace hlosim {
namespace {

int64_t drawn(int64_t length, double least_share, std::mt19937_64& random) {
  const auto most = static_cast<double>(length), least = std::floor(most * least_share);
  return std::max<int64_t>(1, static_cast<int64_t>(least + even_draw(random) * (most - least + 1)));
}

template <class T>
bool next_number(std::string_view& rest, T& into) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), into);
  if (error != std::errc()) return false;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  if (rest.starts_with(',')) rest.remove_prefix(1);
  return true;
}

}  // namespace

int64_t default_requests(int64_t concurrency) { return std::max<int64_t>(100, 8 * concurrency); }

std::vector<Request> make_requests(const RequestMix& mix) {
  std::mt19937_64 random(mix.seed);
  std::vector<Request> requests;
  double now = 0;
  for (int64_t i = 0; i < mix.requests; ++i) {
    if (mix.rate > 0) now -= std::log1p(-even_draw(random)) / mix.rate;
    Request& one = requests.emplace_back();
    one.arrival = now;
    one.input = drawn(mix.input, mix.least_share, random);
    one.output = drawn(mix.output, mix.least_share, random);
  }
  return requests;
}

Result<std::vector<Request>> read_request_trace(const SourcePtr& source) {
  constexpr int64_t kMost = 1 << 24;
  const std::string_view text = source->text();
  std::vector<Request> requests;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    const size_t begin = at;
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#') || (begin == 0 && line.find_first_of("0123456789") != 0))
      continue;
    const auto wrong = [&](std::string message) {
      Diagnostic diagnostic =
          failure(std::move(message), "arrival seconds,input tokens,output tokens").value();
      diagnostic.source = source, diagnostic.offset = static_cast<uint32_t>(begin);
      return tl::unexpected(std::move(diagnostic));
    };
    Request one;
    std::string_view rest = line;
    if (!next_number(rest, one.arrival) || !next_number(rest, one.input) || !next_number(rest, one.output) ||
        !rest.empty())
      return wrong(fmt::format("'{}' is no request", shown(line)));
    if (!(one.arrival >= 0 && one.arrival < 1e9) || one.input < 1 || one.input > kMost || one.output < 1 ||
        one.output > kMost)
      return wrong(fmt::format("'{}': a time from 0 to 1e9 s and lengths from 1 to {}", shown(line), kMost));
    if (!requests.empty() && one.arrival < requests.back().arrival)
      return wrong(fmt::format("'{}' arrives before the request above it", shown(line)));
    requests.push_back(one);
  }
  if (requests.empty()) return failure(fmt::format("{} holds no requests", source->name()));
  return requests;
}

}  // namespace hlosim
