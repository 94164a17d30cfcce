#include "cli/execute/run_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/text.h"

namespace hlosim {
namespace {

void add_leaves(ShapeRef shape, const std::string& name, const std::string& index,
                std::vector<ParameterLeaf>& leaves) {
  if (!shape->is_tuple()) {
    leaves.push_back({shape, index.empty() ? name : fmt::format("{} at {{{}}}", name, index)});
    return;
  }
  for (size_t i = 0; i < shape->elements.size(); ++i)
    add_leaves(shape->elements[i], name, fmt::format("{}{}{}", index, index.empty() ? "" : ",", i), leaves);
}

/// `error`, with the name of `leaf`.
tl::unexpected<Diagnostic> about(const ParameterLeaf& leaf, Diagnostic error) {
  error.message = fmt::format("{}: {}", leaf.name, error.message);
  return tl::unexpected(std::move(error));
}

/// The arrays that the files of --input hold, one after another.
class FileList {
 public:
  explicit FileList(std::span<const std::string> files) : files_(files) {}

  /// The next array; null when there are no more.
  Result<std::optional<Array>> next(ShapeRef expected, MemoryPool& pool) {
    const Result<bool> there = advance();
    if (!there) return tl::unexpected(there.error());
    if (!*there) return std::nullopt;
    const Result<Array> array = archive_ ? archive_->read(order_[member_++], expected, pool)
                                         : read_npy(files_[file_++], expected, pool);
    if (!array) return tl::unexpected(array.error());
    return *array;
  }

  /// What is left: the name of an array that wasn't asked for.
  std::optional<std::string> left() {
    const Result<bool> there = advance();
    if (!there || !*there) return std::nullopt;
    return archive_ ? archive_->path() + ":" + archive_->members()[order_[member_]] : files_[file_];
  }

 private:
  /// Goes to the next array. False: there is none.
  Result<bool> advance() {
    for (;;) {
      if (archive_ && member_ < order_.size()) return true;
      if (archive_) {
        archive_.reset();
        ++file_;
      }
      if (file_ >= files_.size()) return false;
      if (!files_[file_].ends_with(".npz")) return true;
      Result<NpzFile> opened = NpzFile::open(files_[file_]);
      if (!opened) return tl::unexpected(opened.error());
      order_ = order_of(opened->members());
      archive_ = std::move(*opened);
      member_ = 0;
    }
  }

  /// By number where all members are called arr_0.npy … or param0.npy …; else the order of the archive.
  static std::vector<size_t> order_of(const std::vector<std::string>& members) {
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t i = 0; i < members.size(); ++i) {
      std::string_view name = members[i];
      for (const std::string_view prefix : {"arr_", "param"})
        if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
      int64_t number = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
      if (error != std::errc() || *end != '.') number = -1;
      order.emplace_back(number, i);
    }
    if (std::none_of(order.begin(), order.end(), [](const auto& one) { return one.first < 0; }))
      std::sort(order.begin(), order.end());
    else
      std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::vector<size_t> indices;
    for (const auto& [number, index] : order) indices.push_back(index);
    return indices;
  }

  std::span<const std::string> files_;
  size_t file_ = 0;
  std::optional<NpzFile> archive_;
  std::vector<size_t> order_;
  size_t member_ = 0;
};

Result<std::vector<Array>> read_files(const InputOptions& options, std::span<const ParameterLeaf> leaves,
                                      MemoryPool& pool) {
  if (options.in_use)
    for (const std::string& file : options.files)
      if (auto used = options.in_use->reads(file); !used) return tl::unexpected(used.error());
  FileList list(options.files);
  std::vector<Array> arrays;
  size_t read = 0, wanted = 0;
  for (const ParameterLeaf& leaf : leaves) wanted += leaf.shape->is_array();
  for (const ParameterLeaf& leaf : leaves) {
    arrays.push_back(Array{leaf.shape, {}, {}});
    if (!leaf.shape->is_array()) continue;
    Result<std::optional<Array>> array = list.next(leaf.shape, pool);
    if (!array) return about(leaf, array.error());
    if (!*array)
      return failure(fmt::format("{}: {} is expected, and there is no more --input", leaf.name,
                                 to_text_without_layout(leaf.shape)),
                     fmt::format("arrays that the module takes: {}, given: {}", wanted, read));
    ++read;
    arrays.back() = std::move(**array);
  }
  if (const auto left = list.left())
    return failure(fmt::format("'{}' is for no parameter; arrays that the module takes: {}", *left, wanted));
  return arrays;
}

Result<std::vector<Array>> read_folder(const InputOptions& options, std::span<const ParameterLeaf> leaves,
                                       MemoryPool& pool) {
  const std::string& folder = options.folder;
  constexpr std::string_view kPrefix[] = {"param"};
  const Result<std::map<int64_t, NumberedFile>> files = numbered_files(folder, kPrefix, options.in_use);
  if (!files) return tl::unexpected(files.error());
  std::vector<Array> arrays;
  for (size_t i = 0; i < leaves.size(); ++i) {
    arrays.push_back(Array{leaves[i].shape, {}, {}});
    if (!leaves[i].shape->is_array()) continue;
    const auto file = files->find(static_cast<int64_t>(i));
    if (file == files->end())
      return failure(fmt::format("{}: {} is expected, and '{}' has no param{}.npy", leaves[i].name,
                                 to_text_without_layout(leaves[i].shape), folder, i));
    Result<Array> array = read_numbered(file->second, leaves[i].shape, pool);
    if (!array) return about(leaves[i], array.error());
    arrays.back() = std::move(*array);
  }
  if (!files->empty() && files->rbegin()->first >= static_cast<int64_t>(leaves.size()))
    return failure(fmt::format("'{}' is for no parameter; arrays that the module takes: {}",
                               files->rbegin()->second.path, leaves.size()));
  return arrays;
}

Result<std::vector<Array>> take_arrays(std::span<const NumpyArray> given,
                                       std::span<const ParameterLeaf> leaves, MemoryPool& pool) {
  std::vector<Array> arrays;
  size_t taken = 0;
  for (const ParameterLeaf& leaf : leaves) {
    arrays.push_back(Array{leaf.shape, {}, {}});
    if (!leaf.shape->is_array()) continue;
    if (taken == given.size())
      return failure(fmt::format("{}: {} is expected, and {} arrays are given", leaf.name,
                                 to_text_without_layout(leaf.shape), given.size()));
    Result<Array> array = from_numpy(given[taken++], leaf.shape, pool);
    if (!array) return about(leaf, array.error());
    arrays.back() = std::move(*array);
  }
  if (taken < given.size())
    return failure(fmt::format("{} arrays are given; arrays that the module takes: {}", given.size(), taken));
  return arrays;
}

}  // namespace

std::vector<ParameterLeaf> parameter_leaves(const Module& module) {
  std::vector<ParameterLeaf> leaves;
  for (const InstructionId id : module.entry_computation().parameters) {
    const Instruction& parameter = module[id];
    add_leaves(parameter.shape, fmt::format("parameter {} '{}'", parameter.parameter_number, parameter.name),
               "", leaves);
  }
  return leaves;
}

Result<std::vector<Array>> read_inputs(const InputOptions& options, std::span<const ParameterLeaf> leaves,
                                       MemoryPool& pool) {
  for (const ParameterLeaf& leaf : leaves) {
    if (!leaf.shape->is_array() && !leaf.shape->is_token())
      return failure(fmt::format("{}: no value can be given to {}", leaf.name, to_text(leaf.shape)));
    if (leaf.shape->is_unbounded())
      return failure(fmt::format("{}: the size of {} is not known", leaf.name, to_text(leaf.shape)));
  }
  if (options.made) {
    std::vector<Array> arrays;
    for (size_t i = 0; i < leaves.size(); ++i)
      arrays.push_back(leaves[i].shape->is_array()
                           ? argument_array(*options.made, leaves[i].shape, options.seed, i, pool)
                           : Array{leaves[i].shape, {}, {}});
    return arrays;
  }
  if (!options.at_hand.empty()) return take_arrays(options.at_hand[0], leaves, pool);
  if (!options.folder.empty()) return read_folder(options, leaves, pool);
  const bool none = std::none_of(leaves.begin(), leaves.end(),
                                 [](const ParameterLeaf& leaf) { return leaf.shape->is_array(); });
  if (options.files.empty() && !none)
    return failure(fmt::format("{}: {} is expected, and no inputs are given", leaves[0].name,
                               to_text_without_layout(leaves[0].shape)),
                   "--input=a.npy for each, --inputs=DIR, or --args=random");
  return read_files(options, leaves, pool);
}

Result<std::map<int64_t, NumberedFile>> numbered_files(const std::string& folder,
                                                       std::span<const std::string_view> prefixes,
                                                       FilesInUse* in_use) {
  std::map<int64_t, NumberedFile> files;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  if (error) return failure(fmt::format("cannot read '{}': {}", folder, error.message()));
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    const auto prefix = std::find_if(prefixes.begin(), prefixes.end(),
                                     [&](std::string_view one) { return name.starts_with(one); });
    if (prefix == prefixes.end() || !name.ends_with(".npy")) continue;
    int64_t number = 0;
    const char* const last = name.data() + name.size() - 4;
    const auto [end, problem] = std::from_chars(name.data() + prefix->size(), last, number);
    if (problem != std::errc() || number < 0) continue;
    NumberedFile file{folder + (folder.ends_with('/') ? "" : "/") + name};
    if (end != last) {
      if (*end != '.') continue;
      file.type = parse_element_type(std::string_view(end + 1, static_cast<size_t>(last - end - 1)));
      if (file.type == ElementType::kInvalid) continue;
    }
    const auto [place, is_new] = files.emplace(number, file);
    if (!is_new)
      return failure(fmt::format("'{}' and '{}' have the same number",
                                 std::min(place->second.path, file.path),
                                 std::max(place->second.path, file.path)));
    if (auto used = in_use ? in_use->reads(file.path) : Result<void>(); !used)
      return tl::unexpected(used.error());
  }
  if (error) return failure(fmt::format("cannot read '{}': {}", folder, error.message()));
  return files;
}

Result<Array> read_numbered(const NumberedFile& file, ShapeRef expected, MemoryPool& pool) {
  if (file.type != ElementType::kInvalid && file.type != expected->element_type)
    return failure(fmt::format("'{}' is named for {}, expected {}", file.path, to_text(file.type),
                               to_text_without_layout(expected)));
  return read_npy(file.path, expected, pool);
}

namespace {

class HostFiles final : public HostTransfers {
 public:
  HostFiles(const InputOptions& options, const std::string& output_folder, StagedFiles& outputs)
      : options_(options), output_folder_(output_folder), outputs_(outputs) {}

  Result<Array> infeed(ShapeRef leaf, MemoryPool& pool) override {
    return read(fmt::format("infeed{}", infeeds_++), leaf, pool);
  }
  Result<void> outfeed(const Array& leaf) override {
    return write(fmt::format("outfeed{}", outfeeds_++), leaf);
  }
  Result<Array> receive(int64_t channel, ShapeRef leaf, MemoryPool& pool) override {
    return read(fmt::format("recv{}_{}", channel, receives_[channel]++), leaf, pool);
  }
  Result<void> send(int64_t channel, const Array& leaf) override {
    return write(fmt::format("send{}_{}", channel, sends_[channel]++), leaf);
  }

 private:
  // Streams of random numbers that no parameter has.
  static constexpr uint64_t kFirstStream = uint64_t{1} << 33;

  Result<Array> read(const std::string& name, ShapeRef leaf, MemoryPool& pool) {
    if (!leaf->is_array()) return Array{leaf, {}, {}};
    if (options_.made)
      return argument_array(*options_.made, leaf, options_.seed, kFirstStream + made_++, pool);
    if (options_.folder.empty())
      return failure(fmt::format("nothing is there to read {} from", to_text_without_layout(leaf)),
                     fmt::format("--inputs=DIR with {}.npy, or --args=random", name));
    const std::string path = options_.folder + "/" + name + ".npy";
    if (auto used = options_.in_use ? options_.in_use->reads(path) : Result<void>(); !used)
      return tl::unexpected(used.error());
    return read_npy(path, leaf, pool);
  }
  Result<void> write(const std::string& name, const Array& leaf) {
    if (!leaf.shape->is_array()) return {};
    if (output_folder_.empty())
      return failure(fmt::format("nothing is there to write {} to", to_text_without_layout(leaf.shape)),
                     fmt::format("-o DIR, for {}.npy", name));
    return stage_npy(outputs_, output_folder_ + "/" + name + ".npy", leaf);
  }

  const InputOptions& options_;
  std::string output_folder_;
  StagedFiles& outputs_;
  int64_t infeeds_ = 0, outfeeds_ = 0;
  uint64_t made_ = 0;
  std::map<int64_t, int64_t> receives_, sends_;
};

}  // namespace

std::unique_ptr<HostTransfers> host_files(const InputOptions& options, const std::string& output_folder,
                                          StagedFiles& outputs) {
  return std::make_unique<HostFiles>(options, output_folder, outputs);
}

}  // namespace hlosim
