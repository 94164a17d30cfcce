// What every execution of a target needs: devices, seeds, a folder for files that commands read.
//
//   const Bench bench = Bench::make(folder, seeds_of_the_project());
//   bench.device("v5e").config.clock;
//   bench.pools[InputForm::kModule].seeds[0].text;
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/device.h"
#include "pool.h"

namespace hlosim::fuzz {

/// What inputs are, and so how they are changed and what they start from.
enum class InputForm : uint8_t {
  kModule,
  kPair,  // two modules with `// -----` between them
  kProto,
  kGate,
  kBaseline,
  kExperiment,
  kJournal,
  kDevice,
  kDump,
  kReport,
  kCosts,
  kKnobs,
  kMeasured,
  kMlir,         // MLIR text
  kArtifact,     // MLIR bytecode
  kProfile,      // XSpace
  kProfileText,  // traces and tables
  kModel,        // models whose steps are made
  kYaml,         // of any kind, with anchors
  kLimits,       // of the errors that `accuracy` finds
  kRunConfig,    // options and device of a run, as --print-config writes them
  kPattern,      // a regular expression, then texts, one a line
  kMesh,         // a mesh, then statements, an order, a slice, one a line
};
inline constexpr size_t kInputForms = static_cast<size_t>(InputForm::kMesh) + 1;
/// "module", "proto": also the folder of fuzz/corpus that has such inputs.
std::string_view name(InputForm form);

struct Bench {
  std::vector<std::string> device_names;  // "v4", "v5e", "v6e", "v7x"
  std::vector<Device> devices;
  std::array<Pool, kInputForms> pools;
  std::string folder;  // where commands find a.hlo, b.hlo, and inputs that have to be files

  const Device& device(std::string_view device_name) const;
  const Pool& pool(InputForm form) const { return pools[static_cast<size_t>(form)]; }
};

/// Reads the seeds: `folders` are searched for modules and files of the other forms. Modules are taken up as
/// the printer writes them; of those that read, other forms are made: protos, dumps, reports, baselines.
Bench make_bench(std::string folder, const std::vector<std::string>& folders);

/// An input by its number: the same for the same form, seed and number.
std::string make_input(const Bench& bench, InputForm form, Random& random);

}  // namespace hlosim::fuzz
