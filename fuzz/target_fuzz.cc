// The targets for libFuzzer: HLOSIM_FUZZ_TARGET names the one, `check` without it. Inputs are changed by our
// own library and by libFuzzer in turn; HLOSIM_FUZZ_SEEDS names the folder that ours takes parts from.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "bench.h"
#include "mutate_module.h"
#include "mutate_text.h"
#include "targets.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

using namespace hlosim::fuzz;

std::string environment(const char* variable, const char* otherwise) {
  const char* value = std::getenv(variable);
  return value && *value ? value : otherwise;
}

struct State {
  const Target* target = find_target(environment("HLOSIM_FUZZ_TARGET", "check"));
  Bench bench = make_bench(std::filesystem::temp_directory_path().string(),
                           {environment("HLOSIM_FUZZ_SEEDS", "fuzz/corpus")});
};

const State& state() {
  static const State state;
  if (!state.target) {
    std::cerr << "HLOSIM_FUZZ_TARGET names no target\n";
    std::exit(2);
  }
  return state;
}

std::string text_of(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string input = text_of(data, size);
  Random choice(hlosim::text_hash(input));
  state().target->run(state().bench, input, choice);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  Random random(seed);
  if (random.one_in(3) || state().target->form == InputForm::kProto ||
      state().target->form == InputForm::kArtifact || state().target->form == InputForm::kProfile)
    return LLVMFuzzerMutate(data, size, most);
  const Pool& pool = state().bench.pool(state().target->form);
  Seed one{"", text_of(data, size), {}};
  one.module = parse_module_text(one.text);
  const std::string changed =
      one.module ? mutated_module(one, pool, random) : mutated_text(one.text, pool, random);
  const size_t length = std::min(changed.size(), most);
  std::memcpy(data, changed.data(), length);
  return length;
}
