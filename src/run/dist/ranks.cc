#include "dist/ranks.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/check.h"

namespace hlosim {
namespace {

class LoneRank final : public Ranks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  Result<void> meet(std::span<const int> peers, const Meeting&) override {
    HLOSIM_CHECK(peers.empty(), "{} peers of a process that is alone", peers.size());
    return {};
  }
  void exchange(std::span<const int> peers, std::span<const Message>, std::span<Message>) override {
    HLOSIM_CHECK(peers.empty(), "{} peers of a process that is alone", peers.size());
  }
  Result<void> finish() override { return {}; }
  void abandon(int) override {}
};

}  // namespace

Ranks& lone_rank() {
  static LoneRank alone;
  return alone;
}

// What Open MPI, MPICH and Slurm say in the environment.
bool launched_together() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (const char* value = std::getenv(name))
      return std::string_view(name) == "PMIX_RANK" || std::atoi(value) > 1;
  return false;
}

// The first `count % parts` parts are one longer than the others.
Share share_of(int64_t count, int parts, int i) {
  HLOSIM_CHECK(0 <= i && i < parts, "part {} of {}", i, parts);
  const int64_t length = count / parts, longer = count % parts;
  const int64_t begin = i * length + std::min<int64_t>(i, longer);
  return {begin, begin + length + (i < longer)};
}

int part_of(int64_t count, int parts, int64_t index) {
  HLOSIM_CHECK(0 <= index && index < count, "index {} of {}", index, count);
  const int64_t length = count / parts, longer = count % parts;
  const int64_t in_longer = longer * (length + 1);
  return static_cast<int>(index < in_longer ? index / (length + 1) : longer + (index - in_longer) / length);
}

}  // namespace hlosim
