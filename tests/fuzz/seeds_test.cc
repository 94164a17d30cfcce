// Inputs that are changed start from texts that their targets accept: changes of a refused text stay refused.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "bench.h"
#include "support/folders.h"
#include "targets.h"

namespace hlosim::fuzz {
namespace {

/// A target refuses some inputs for what is drawn beside them.
bool accepts(const Target& target, const Bench& bench, const Seed& seed) {
  Random choice(1);
  for (int tries = 0; tries < 20; ++tries)
    if (target.run(bench, seed.text, choice)) return true;
  return false;
}

TEST(Seeds, AreAccepted) {
  const std::string folder = testing::TempDir() + "/seeds";
  std::filesystem::create_directories(folder);
  for (const char* file : {"/a.hlo", "/b.hlo"})
    std::ofstream(folder + file)
        << "ENTRY e {\n  p = f32[64,128] parameter(0)\n  ROOT n = f32[64,128] negate(p)\n}\n";
  const Bench bench = make_bench(folder, {(test::source_folder() / "examples").string()});
  for (const Target& target : targets()) {
    if (bench.pool(target.form).seeds.empty() || target.form == InputForm::kModule) continue;
    bool accepted = false;
    for (const Seed& seed : bench.pool(target.form).seeds) {
      const bool this_one = accepts(target, bench, seed);
      accepted = accepted || this_one;
      if (target.form == InputForm::kMesh || target.form == InputForm::kRunConfig) {
        EXPECT_TRUE(this_one) << target.name << "\n" << seed.text;
      }
    }
    EXPECT_TRUE(accepted) << target.name;
  }
}

}  // namespace
}  // namespace hlosim::fuzz
