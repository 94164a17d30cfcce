#include "shrink/divisors.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace hlosim {
namespace {

using Exponents = std::vector<int32_t>;  // of one prime, by class

int32_t exponent(int64_t number, int64_t prime) {
  int32_t count = 0;
  for (; number > 0 && number % prime == 0; number /= prime) ++count;
  return count;
}

/// The largest divisor that a class alone could have.
int64_t own_divisor(const DimensionClasses& classes, DimensionClass c, const DivisorLimits& limits) {
  const ClassFacts& facts = classes[c];
  if (facts.fixed) return 1;
  int64_t most = std::gcd(facts.divisible, limits.scale);
  if (const auto wanted = limits.wanted.find(c); wanted != limits.wanted.end())
    return facts.divisible % wanted->second == 0 ? wanted->second : 1;
  if (const auto cap = limits.at_most.find(c); cap != limits.at_most.end())
    most = std::gcd(most, cap->second);
  while (most > 1 && facts.smallest != 0 && facts.smallest / most < limits.min_size)
    most /= smallest_prime(most);
  return most;
}

/// One round over the merged dimensions; true when something was lowered.
bool lower(const DimensionClasses& classes, const DivisorLimits& limits, Exponents& exponents) {
  bool changed = false;
  const auto of = [&](DimensionClass c) -> int32_t& { return exponents[static_cast<size_t>(c)]; };
  for (const MergedDimension& merged : classes.merged()) {
    int32_t parts = 0;
    for (const DimensionClass part : merged.parts) parts += of(part);
    if (of(merged.whole) > parts) {
      of(merged.whole) = parts;
      changed = true;
    }
    while (parts > of(merged.whole)) {  // from the part that shrinks most; layers last
      DimensionClass most = -1;
      const auto rank = [&](DimensionClass c) {
        return std::pair(of(c) > 0 && !limits.wanted.contains(c), of(c));
      };
      for (const DimensionClass part : merged.parts)
        if (most < 0 || rank(part) >= rank(most)) most = part;
      const auto times = std::count(merged.parts.begin(), merged.parts.end(), most);
      --of(most);
      parts -= static_cast<int32_t>(times);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

int64_t smallest_prime(int64_t number) {
  for (int64_t p = 2; p * p <= number; ++p)
    if (number % p == 0) return p;
  return number;
}

Divisors largest_divisors(const DimensionClasses& classes, const DivisorLimits& limits) {
  Divisors divisors(classes.size(), 1);
  std::set<int64_t> primes;
  for (size_t c = 0; c < classes.size(); ++c) {
    divisors[c] = own_divisor(classes, static_cast<DimensionClass>(c), limits);
    for (int64_t rest = divisors[c]; rest > 1; rest /= smallest_prime(rest))
      primes.insert(smallest_prime(rest));
  }
  for (const int64_t prime : primes) {
    Exponents exponents(classes.size());
    for (size_t c = 0; c < classes.size(); ++c) exponents[c] = exponent(divisors[c], prime);
    const Exponents before = exponents;
    while (lower(classes, limits, exponents)) {
    }
    for (size_t c = 0; c < classes.size(); ++c)
      for (int32_t e = exponents[c]; e < before[c]; ++e) divisors[c] /= prime;
  }
  return divisors;
}

}  // namespace hlosim
