// The share of VMEM that kernels may use: --xla_tpu_scoped_vmem_limit_kib.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "advise/kinds/kinds.h"
#include "estimate/flags_not_given.h"

namespace hlosim {
namespace {

// The largest limit that is tried. What kernels may use is lost to prefetches: a Llama-3-8B step on v6e,
// compiled anew, took 99 ms more with all 128 MiB than with 96 MiB (measured), which the simulation does not
// show.
constexpr std::pair<int64_t, int64_t> kOfVmem = {3, 4};

}  // namespace

std::vector<Proposal> find_scoped_vmem(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const Device& device = subject.setup.device;
  std::optional<Bytes> most = largest_vmem_limit(device, subject.estimate);
  const Bytes now = device.config.vmem.scoped_limit;
  if (!most) return found;
  const Bytes capacity = *device.config.memory_space(kVmemSpace)->capacity;
  const Bytes share(capacity.count() / kOfVmem.second * kOfVmem.first);
  // Unoptimized modules are placed in VMEM anew; compiled ones keep their arrays there.
  most = subject.is_compiled ? std::min(*most, share) : share;
  if (*most <= now) return found;
  constexpr int64_t kKibibyte = 1024, kMebibyte = int64_t{1} << 20;
  std::set<int64_t> limits = {most->count()};
  for (const int64_t mebibytes : {96, 64, 48, 32})
    if (mebibytes * kMebibyte > now.count() && mebibytes * kMebibyte < most->count())
      limits.insert(mebibytes * kMebibyte);
  for (auto limit = limits.rbegin(); limit != limits.rend(); ++limit) {
    Proposal& one = found.emplace_back();
    one.stage = EditStage::kSetting;
    one.edit = [bytes = *limit](TrialSetup& setup) -> Result<void> {
      setup.device.config.vmem.scoped_limit = Bytes(bytes);
      return {};
    };
    one.name = fmt::format("scoped VMEM {} KiB", *limit / kKibibyte);
    one.problem = fmt::format("kernels may use {} of VMEM", to_text(now));
    one.change = fmt::format("LIBTPU_INIT_ARGS=\"--xla_tpu_scoped_vmem_limit_kib={}\"", *limit / kKibibyte);
    one.reason = "larger blocks fit into VMEM: operands of matmuls are read fewer times from HBM";
    one.proof = ProofKind::kSameProgram;
  }
  return found;
}

}  // namespace hlosim
