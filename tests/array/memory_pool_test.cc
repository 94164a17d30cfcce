#include "array/memory_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace hlosim {
namespace {

TEST(MemoryPool, BlocksAreAlignedLargeEnoughAndApart) {
  MemoryPool pool;
  std::mt19937 random(1);
  struct Held {
    Buffer buffer;
    int64_t bytes;
    unsigned char mark;
  };
  std::vector<Held> held;
  for (int round = 0; round < 4000; ++round) {
    if (held.size() > 40) {
      const size_t victim = random() % held.size();
      for (int64_t i = 0; i < held[victim].bytes; ++i)
        ASSERT_EQ(static_cast<unsigned char>(held[victim].buffer.data()[i]), held[victim].mark);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    const int64_t bytes = static_cast<int64_t>(random() % (random() % 2 ? 300 : 200000));
    Held one{pool.allocate(bytes), bytes, static_cast<unsigned char>(random())};
    ASSERT_EQ(reinterpret_cast<uintptr_t>(one.buffer.data()) % 64, 0u);
    ASSERT_GE(one.buffer.capacity(), bytes);
    std::memset(one.buffer.data(), one.mark, static_cast<size_t>(bytes));
    held.push_back(std::move(one));
  }
  held.clear();
  EXPECT_EQ(pool.live_bytes(), 0);
  EXPECT_GT(pool.peak_bytes(), 0);
}

TEST(MemoryPool, FreedMemoryIsUsedAgainForOtherSizes) {
  MemoryPool pool;
  for (int round = 0; round < 10; ++round) {
    std::vector<Buffer> parts;
    for (int i = 0; i < 16; ++i) parts.push_back(pool.allocate((1 << 20) - round * 4096));
    parts.clear();
    const Buffer whole = pool.allocate(16 << 20);
    EXPECT_EQ(pool.touched_bytes(), 16 << 20);
  }
}

TEST(Buffer, CopiesShareAndTheLastOneGivesBack) {
  MemoryPool pool;
  Buffer a = pool.allocate(1000);
  EXPECT_TRUE(a.unique());
  {
    const Buffer b = a;
    EXPECT_FALSE(a.unique());
    EXPECT_EQ(a.data(), b.data());
  }
  EXPECT_TRUE(a.unique());
  const int64_t live = pool.live_bytes();
  Buffer moved = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_EQ(pool.live_bytes(), live);
  moved = Buffer();
  EXPECT_EQ(pool.live_bytes(), 0);
}

}  // namespace
}  // namespace hlosim
