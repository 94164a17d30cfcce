#include "base/cpu.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hlosim {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"v2", "v3", "v4"};

#if defined(__x86_64__)
// __builtin_cpu_supports() of clang 14 doesn't know these three parts of x86-64-v3.
bool has_f16c_movbe_lzcnt() {
  constexpr unsigned kF16c = 1u << 29;
  constexpr unsigned kMovbe = 1u << 22;
  constexpr unsigned kLzcnt = 1u << 5;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((ecx & kF16c) == 0 || (ecx & kMovbe) == 0) return false;
  return __get_cpuid(0x80000001u, &eax, &ebx, &ecx, &edx) != 0 && (ecx & kLzcnt) != 0;
}
#endif

}  // namespace

std::string_view name(IsaLevel level) { return kNames[static_cast<size_t>(level)]; }

IsaLevel supported_isa_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool v3 = __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                  __builtin_cpu_supports("fma") && has_f16c_movbe_lzcnt();
  if (!v3) return IsaLevel::kV2;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? IsaLevel::kV4 : IsaLevel::kV3;
#else
  return IsaLevel::kV2;
#endif
}

Result<IsaLevel> choose_isa_level(std::string_view request, IsaLevel supported) {
  if (request.empty()) return supported;
  for (const IsaLevel level : {IsaLevel::kV2, IsaLevel::kV3, IsaLevel::kV4}) {
    if (name(level) != request) continue;
    if (level <= supported) return level;
    return failure(
        fmt::format("HLOSIM_ISA={} asks for more than this processor's x86-64-{}", request, name(supported)));
  }
  return failure(fmt::format("HLOSIM_ISA=\"{}\" is not an instruction set level", shown(request)),
                 "one of v2, v3, v4");
}

Result<IsaLevel> isa_level() {
  const char* request = std::getenv("HLOSIM_ISA");
  return choose_isa_level(request == nullptr ? "" : request, supported_isa_level());
}

}  // namespace hlosim
