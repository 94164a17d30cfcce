// Numbers computations of a module by their content: those with the same instructions have the same number,
// so that a cost of one of them is computed once.
//
//   ContentNumbers numbers(module, bodies);
//   if (numbers[a] == numbers[b]) …                 // the same instructions of the same shapes in one order
//
// Names and places in the text don't count, nor does metadata.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "hlo/module.h"

namespace hlosim {

/// Numbers sequences of words from 0 on; equal ones get the same number.
class WordSequences {
 public:
  /// The number of the sequence; `is_new`: it is the next one.
  struct Found {
    int32_t number = -1;
    bool is_new = false;
  };
  Found number_of(std::span<const uint64_t> words);

 private:
  std::span<const uint64_t> sequence(int32_t number) const;

  std::vector<uint64_t> words_;                  // of all sequences, one after the other
  std::vector<size_t> ends_;                     // in words_, by number
  std::vector<int32_t> next_;                    // by number: another one of the same hash; -1: none
  std::unordered_map<uint64_t, int32_t> first_;  // by hash
};

class ContentNumbers {
 public:
  /// Numbers the computations with a mark, and those that they call. The module outlives the object; numbers
  /// are those of the module as it is now.
  ContentNumbers(const Module& module, const IdMap<ComputationId, uint8_t>& marked);

  /// Of a computation that has a number of its own kind; -1: it has none, and is like no other one.
  int32_t operator[](ComputationId id) const { return numbers_[id]; }

  /// Adds opcode, shape, literal and attributes to `words`, no operands. False: an attribute has no words.
  /// Requires: computations that it calls have been numbered, if they are.
  bool add(const Instruction& instruction, std::vector<uint64_t>& words) const;

 private:
  bool add_body(const Computation& body);

  const Module& module_;
  IdMap<ComputationId, int32_t> numbers_;
  IdMap<InstructionId, int32_t> places_;  // in the list of its computation
  WordSequences sequences_;
  std::vector<uint64_t> words_;
};

}  // namespace hlosim
