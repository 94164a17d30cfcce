#include "modules/ancestors.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace hlosim {
namespace {

struct List {
  std::vector<size_t> first{0};
  std::vector<int32_t> operands;
};

/// Each instruction has up to three operands, most of them close before it.
List random_list(int32_t count, std::mt19937& random) {
  List list;
  for (int32_t i = 0; i < count; ++i) {
    for (uint32_t k = random() % 4; k > 0 && i > 0; --k) {
      const auto reach = random() % 8 == 0 ? i : std::min<int32_t>(i, 20);
      list.operands.push_back(i - 1 - static_cast<int32_t>(random() % static_cast<uint32_t>(reach)));
    }
    list.first.push_back(list.operands.size());
  }
  return list;
}

bool depends_slowly(const List& list, int32_t user, int32_t on) {
  std::vector<char> reached(static_cast<size_t>(user) + 1);
  reached[static_cast<size_t>(user)] = 1;
  for (auto i = static_cast<size_t>(user); i > static_cast<size_t>(on); --i)
    if (reached[i])
      for (size_t k = list.first[i]; k < list.first[i + 1]; ++k)
        reached[static_cast<size_t>(list.operands[k])] = 1;
  return user > on && reached[static_cast<size_t>(on)];
}

TEST(Ancestors, TheTableAndSearchesAnswerAlike) {
  std::mt19937 random(3);
  for (const int32_t count : {1, 2, 63, 64, 65, 400}) {
    const auto row = static_cast<size_t>(count);
    const List list = random_list(count, random);
    for (const size_t bits : {size_t{0}, row * 64, row * 130, Ancestors::kMostBits}) {
      const Ancestors ancestors(list.first, list.operands, bits);
      for (int32_t user = 0; user < count; ++user)
        for (int32_t on = 0; on < count; ++on)
          ASSERT_EQ(ancestors.depends(user, on), depends_slowly(list, user, on))
              << count << " instructions, " << bits << " bits: " << user << " on " << on;
    }
  }
}

}  // namespace
}  // namespace hlosim
