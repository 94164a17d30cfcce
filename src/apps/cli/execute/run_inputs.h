// Where the values come from that `hlosim run` gives a module's parameters.
//
//   InputOptions options;
//   options.files = {"x.npy", "weights.npz"};
//   Result<std::vector<Array>> arguments = read_inputs(options, parameter_leaves(module), pool);
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "array/arguments.h"
#include "array/array.h"
#include "array/npy.h"
#include "base/files_in_use.h"
#include "base/source.h"
#include "base/staged_files.h"
#include "evaluate/device_state.h"
#include "hlo/module.h"

namespace hlosim {

/// At most one of the four is given.
struct InputOptions {
  std::vector<std::string> files;    // --input: .npy and .npz, one array after another
  std::string folder;                // --inputs: param0.npy, param1.npy, …
  FilesInUse* in_use = nullptr;      // records each file that is read
  std::optional<ArgumentKind> made;  // --args
  uint64_t seed = 0;
  /// Of a program that calls: what each device gets, or one list for all.
  std::span<const std::vector<NumpyArray>> at_hand{};
};

/// A leaf of the entry's parameters. Leaves are numbered through all parameters, tokens too.
struct ParameterLeaf {
  ShapeRef shape = nullptr;
  std::string name;  // for messages: "parameter 1 'x' at {0,2}"
};
std::vector<ParameterLeaf> parameter_leaves(const Module& module);

/// One array per leaf, of its type and dimensions. Errors name the leaf and the file.
Result<std::vector<Array>> read_inputs(const InputOptions& options, std::span<const ParameterLeaf> leaves,
                                       MemoryPool& pool);

struct NumberedFile {
  std::string path;
  ElementType type = ElementType::kInvalid;  // that the name shows, as in param0.bf16.npy
};

/// The files `<prefix><number>.npy` and `<prefix><number>.<type>.npy` of a folder, by number, for any of
/// `prefixes`; `in_use`, unless null, records them. Errors: an unreadable folder; two files of one number.
Result<std::map<int64_t, NumberedFile>> numbered_files(const std::string& folder,
                                                       std::span<const std::string_view> prefixes,
                                                       FilesInUse* in_use = nullptr);

/// The array of one of them, where `expected` is wanted.
Result<Array> read_numbered(const NumberedFile& file, ShapeRef expected, MemoryPool& pool);

/// What a module gets from the host as it runs, and what it gives back. In the inputs' folder: infeed0.npy,
/// infeed1.npy, …, one per leaf in the order of use, and recv<channel>_0.npy, …; with --args, made up. Into
/// the output folder: outfeed0.npy, …, send<channel>_0.npy, …, together with the outputs. An empty folder:
/// there is none.
std::unique_ptr<HostTransfers> host_files(const InputOptions& options, const std::string& output_folder,
                                          StagedFiles& outputs);

}  // namespace hlosim
