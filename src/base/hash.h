// FNV-1a of 64 bits: the same on every machine and in every release, so that fingerprints can be saved. Not against
// malice.
//
//   Fnv1a().add_text("a").add_word(3).value()
#pragma once

#include <cstdint>
#include <string_view>

namespace hlosim {

class Fnv1a {
 public:
  /// Another start gives an independent hash.
  explicit constexpr Fnv1a(uint64_t start = 0xcbf29ce484222325) : state_(start) {}

  /// A byte as the algorithm has it, or a whole word in one step.
  constexpr Fnv1a& add_word(uint64_t word) {
    state_ = (state_ ^ word) * 0x100000001b3;
    return *this;
  }
  /// Byte by byte. Nothing ends the text: "ab" is "a" and "b".
  constexpr Fnv1a& add_text(std::string_view text) {
    for (const char c : text) add_word(static_cast<unsigned char>(c));
    return *this;
  }
  constexpr uint64_t value() const { return state_; }

 private:
  uint64_t state_;
};

}  // namespace hlosim
