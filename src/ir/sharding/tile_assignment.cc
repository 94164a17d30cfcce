#include "sharding/tile_assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "base/bracketed_text.h"
#include "base/text.h"
#include "sharding/most_devices.h"

namespace hlosim {
namespace {

/// "2,1,2" up to `end`, which is taken too; empty `end`: all of the text.
std::optional<std::vector<int64_t>> numbers(std::string_view& text, std::string_view end) {
  std::vector<int64_t> values;
  for (;;) {
    int64_t value = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc()) return std::nullopt;
    values.push_back(value);
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
    if (take_word(text, ",")) continue;
    if (!end.empty() ? !take_word(text, end) : !text.empty()) return std::nullopt;
    return values;
  }
}

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (size < 1 || count > kMostDevices / size) return kMostDevices + 1;
    count *= size;
  }
  return count;
}

bool is_permutation(const std::vector<int64_t>& order, size_t count) {
  std::vector<bool> seen(count, false);
  for (const int64_t i : order) {
    if (i < 0 || static_cast<size_t>(i) >= count || seen[static_cast<size_t>(i)]) return false;
    seen[static_cast<size_t>(i)] = true;
  }
  return order.size() == count;
}

/// Why a list of devices isn't 0…count-1 in some order; empty: it is.
std::string fault_of(const std::vector<int64_t>& devices, int64_t count) {
  if (static_cast<int64_t>(devices.size()) != count)
    return fmt::format("lists {} devices for {} tiles", devices.size(), count);
  std::vector<bool> seen(devices.size(), false);
  for (const int64_t device : devices) {
    const bool is_one = device >= 0 && device < count;
    if (is_one && !seen[static_cast<size_t>(device)])
      seen[static_cast<size_t>(device)] = true;
    else
      return fmt::format("lists device {}{}, expected each of 0 to {} once", device, is_one ? " twice" : "",
                         count - 1);
  }
  return {};
}

tl::unexpected<Diagnostic> refusal(std::string_view text, std::string_view fault) {
  return failure(
      fmt::format("the sharding {{{}}} {}", shown(text), fault.empty() ? "is not understood" : fault));
}

/// Is the list of devices some transposition of 0…N-1? Then it says so. Position p, taken apart by the prime
/// factors of the tile sizes, has to be the sum of what each of its digits stands for.
bool find_iota(const std::vector<int64_t>& devices, const std::vector<int64_t>& tiles, TileAssignment& into) {
  struct Digit {
    int64_t size, step, stands_for;  // at positions `step` apart, devices are `stands_for` apart
    size_t number;
  };
  std::vector<Digit> digits;
  int64_t step = static_cast<int64_t>(devices.size());
  for (const int64_t size : tiles) {
    int64_t rest = size;
    for (int64_t prime = 2; rest > 1; ++prime)
      for (; rest % prime == 0; rest /= prime) {
        step /= prime;
        digits.push_back({prime, step, devices[static_cast<size_t>(step)] - devices[0], digits.size()});
      }
  }
  if (devices[0] != 0) return false;
  for (size_t p = 0; p < devices.size(); ++p) {
    int64_t device = 0;
    for (const Digit& digit : digits)
      device += static_cast<int64_t>(p) / digit.step % digit.size * digit.stands_for;
    if (device != devices[p]) return false;
  }
  std::vector<Digit> sorted = digits;
  std::sort(sorted.begin(), sorted.end(),
            [](const Digit& a, const Digit& b) { return a.stands_for > b.stands_for; });
  int64_t stride = static_cast<int64_t>(devices.size());
  into.reshape.clear();
  into.order.assign(digits.size(), 0);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i].stands_for != (stride /= sorted[i].size)) return false;
    into.reshape.push_back(sorted[i].size);
    into.order[sorted[i].number] = static_cast<int64_t>(i);
  }
  return true;
}

/// Words of the form {devices=… …}.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  Result<TileAssignment> read() {
    for (const std::string_view word : split_outside_brackets(text_, " "))
      if (!read_word(word)) return refuse();
    if (made_.kind == TileAssignment::Kind::kTiled && !assign()) return refuse();
    return std::move(made_);
  }

 private:
  tl::unexpected<Diagnostic> refuse() const { return refusal(text_, fault_); }

  bool read_word(std::string_view word) {
    using Kind = TileAssignment::Kind;
    constexpr std::pair<std::string_view, Kind> kKinds[] = {{"replicated", Kind::kReplicated},
                                                            {"manual", Kind::kManual},
                                                            {"unknown", Kind::kUnknown},
                                                            {"unreduced", Kind::kUnreduced}};
    for (const auto& [name, kind] : kKinds)
      if (word == name) {
        made_.kind = kind;
        return true;
      }
    std::string_view rest = word;
    if (take_word(rest, "devices=[")) return read_devices(rest);
    if (take_word(rest, "<=[")) return read_iota(rest);
    if (take_word(rest, "T(")) return read_order(rest);
    if (word == "last_tile_dim_replicate") {
      subgroups_ = {SubgroupType::kReplicated};
      return true;
    }
    if (take_word(rest, "last_tile_dims={")) return rest.ends_with('}') && read_subgroups(rest);
    if (take_word(rest, "device=")) {
      made_.kind = Kind::kMaximal;
      const auto device = numbers(rest, "");
      if (device && device->size() == 1) made_.device = device->front();
      return device && device->size() == 1;
    }
    if (word == "shard_as" || word == "shard_like") {
      made_.shard_as = word == "shard_as";
      return true;
    }
    if (auto group = numbers(rest, ""); group && group->size() == 1) {
      made_.shard_group = group->front();
      return true;
    }
    return word == "maximal" || word.starts_with("metadata=");
  }

  bool read_devices(std::string_view rest) {
    made_.kind = TileAssignment::Kind::kTiled;
    const auto tiles = numbers(rest, "]");
    if (!tiles) return false;
    made_.dimensions = *tiles;
    if (rest.empty()) return true;
    if (take_word(rest, "<=[")) return read_iota(rest);
    const auto list = numbers(rest, "");
    if (list) made_.device_list = *list;
    return list.has_value();
  }

  bool read_iota(std::string_view rest) {
    const auto sizes = numbers(rest, "]");
    if (!sizes) return false;
    made_.reshape = *sizes;
    made_.order.resize(sizes->size());
    std::iota(made_.order.begin(), made_.order.end(), 0);
    return rest.empty() || (take_word(rest, "T(") && read_order(rest));
  }

  bool read_order(std::string_view rest) {
    const auto order = numbers(rest, ")");
    if (!order || !is_permutation(*order, made_.reshape.size())) return false;
    made_.order = *order;
    return true;
  }

  bool read_subgroups(std::string_view rest) {
    for (const std::string_view type : split_outside_brackets(rest.substr(0, rest.size() - 1), ",")) {
      if (type == "replicated")
        subgroups_.push_back(SubgroupType::kReplicated);
      else if (type == "manual")
        subgroups_.push_back(SubgroupType::kManual);
      else if (type == "unreduced")
        subgroups_.push_back(SubgroupType::kUnreduced);
      else
        return false;
    }
    return true;
  }

  bool assign() {
    const int64_t count = product(made_.dimensions);
    if (count > kMostDevices || subgroups_.size() > made_.dimensions.size()) return false;
    if (!made_.device_list.empty()) {
      std::vector<int64_t> devices = std::move(made_.device_list);
      made_.device_list.clear();
      if (fault_ = fault_of(devices, count); !fault_.empty()) return false;
      if (!find_iota(devices, made_.dimensions, made_)) {
        made_.reshape = {count};
        made_.order = {0};
        made_.device_list = std::move(devices);
      }
    } else if (product(made_.reshape) != count) {
      return false;
    }
    const size_t data = made_.dimensions.size() - subgroups_.size();
    for (size_t i = 0; i < subgroups_.size(); ++i)
      made_.subgroups.push_back({subgroups_[i], made_.dimensions[data + i]});
    made_.dimensions.resize(data);
    return true;
  }

  std::string_view text_;
  std::string fault_;
  TileAssignment made_;
  std::vector<SubgroupType> subgroups_;
};

/// The form by named axes.
class MeshReader {
 public:
  explicit MeshReader(std::string_view text) : text_(text) {}

  Result<TileAssignment> read() {
    std::string_view rest = text_;
    if (take_word(rest, "maximal_mesh[device_id=")) {
      const auto device = numbers(rest, "]");
      if (!device || device->size() != 1) return refuse();
      made_.kind = TileAssignment::Kind::kMaximal;
      made_.device = device->front();
      return made_;
    }
    const std::vector<std::string_view> parts = split_outside_brackets(text_, ", ");
    if (parts.empty() || !read_mesh(parts.front())) return refuse();
    for (size_t i = 1; i < parts.size(); ++i)
      if (!read_part(parts[i])) return refuse();
    if (!finish()) return refuse();
    return std::move(made_);
  }

 private:
  struct Axis {
    int64_t size = 1, stride = 1;
  };
  /// Part of an axis, or all of it.
  struct Piece {
    int64_t size = 1, stride = 1;
  };

  tl::unexpected<Diagnostic> refuse() const { return refusal(text_, fault_); }

  static std::string_view unquoted(std::string_view name) {
    return name.size() >= 2 && (name.front() == '\'' || name.front() == '"') ? name.substr(1, name.size() - 2)
                                                                             : name;
  }

  /// mesh['x'=2,'y'=4], or the mesh and the list of dimensions without a blank or comma between.
  bool read_mesh(std::string_view part) {
    const size_t close = part.find(']');
    if (!take_word(part, "mesh[") || close == std::string_view::npos) return false;
    const std::string_view inside = text_.substr(5, close - 5);
    std::vector<std::pair<std::string_view, int64_t>> sizes;
    for (const std::string_view axis : split_outside_brackets(inside, ",")) {
      const size_t equals = axis.rfind('=');
      if (equals == std::string_view::npos) return false;
      std::string_view digits = axis.substr(equals + 1);
      const auto size = numbers(digits, "");
      if (!size || size->size() != 1 || size->front() < 1) return false;
      sizes.emplace_back(unquoted(axis.substr(0, equals)), size->front());
      devices_ = size->front() > kMostDevices / devices_ ? kMostDevices + 1 : devices_ * size->front();
      if (devices_ > kMostDevices) return false;
    }
    int64_t stride = devices_;
    for (const auto& [name, size] : sizes) axes_[name] = {size, stride /= size};
    const std::string_view behind = text_.substr(close + 1, part.size() + 5 - close - 1);
    return behind.empty() || read_part(trimmed(behind));
  }

  bool read_part(std::string_view part) {
    using Kind = TileAssignment::Kind;
    std::string_view rest = part;
    if (part.starts_with('[') && part.ends_with(']')) return read_dimensions(part.substr(1, part.size() - 2));
    if (take_word(rest, "device_ids=(")) return read_order(rest);
    if (part == "replicated" || part.starts_with("replicated=") || part.starts_with("metadata=")) return true;
    if (part == "manual") {
      made_.kind = Kind::kManual;
      return true;
    }
    if (take_word(rest, "manual=")) return read_axes(rest, manual_);
    if (take_word(rest, "unreduced")) {
      take_word(rest, "=");
      take_word(rest, "[");
      if (take_word(rest, "max"))
        made_.partial = PartialKind::kMax;
      else if (take_word(rest, "min"))
        made_.partial = PartialKind::kMin;
      else
        take_word(rest, "sum");
      take_word(rest, "]");
      if (rest.empty()) {
        made_.kind = Kind::kUnreduced;
        return true;
      }
      return read_axes(rest, unreduced_);
    }
    return false;
  }

  bool read_order(std::string_view rest) {
    if (take_word(rest, "[")) {
      const auto sizes = numbers(rest, "]");
      if (!sizes || !take_word(rest, "T(")) return false;
      const auto order = numbers(rest, ")");
      if (!order || !is_permutation(*order, sizes->size()) || product(*sizes) != devices_) return false;
      TileAssignment iota;
      iota.kind = TileAssignment::Kind::kTiled;
      iota.dimensions = {devices_};
      iota.reshape = *sizes;
      iota.order = *order;
      list_ = list_devices(iota);
      return true;
    }
    const auto list = numbers(rest, ")");
    if (!list) return false;
    list_ = *list;
    fault_ = fault_of(list_, devices_);
    return fault_.empty();
  }

  bool read_dimensions(std::string_view list) {
    made_.kind = TileAssignment::Kind::kTiled;
    for (const std::string_view dimension : split_outside_brackets(list, ",")) {
      std::vector<Piece> pieces;
      made_.open.push_back(false);
      if (!read_axes(dimension, pieces)) return false;
      dimensions_.push_back(std::move(pieces));
    }
    return true;
  }

  bool read_axes(std::string_view braces, std::vector<Piece>& pieces) {
    if (braces.size() < 2 || braces.front() != '{' || braces.back() != '}') return false;
    for (std::string_view name : split_outside_brackets(braces.substr(1, braces.size() - 2), ",")) {
      if (name == "?") {
        if (!made_.open.empty()) made_.open.back() = true;
        continue;
      }
      int64_t before = 1, part = 0;
      if (const size_t colon = name.rfind(":("); colon != std::string_view::npos) {
        std::string_view rest = name.substr(colon + 2);
        const auto first = numbers(rest, ")"), second = numbers(rest, "");
        if (!first || !second || first->size() != 1 || second->size() != 1) return false;
        before = first->front();
        part = second->front();
        name = name.substr(0, colon);
      }
      const auto axis = axes_.find(unquoted(name));
      if (axis == axes_.end() || before < 1) return false;
      if (part == 0) part = axis->second.size;
      if (part < 1 || axis->second.size % (before * part) != 0) return false;
      pieces.push_back({part, axis->second.stride * (axis->second.size / (before * part))});
    }
    return true;
  }

  /// All pieces and what is left between them, as a transposed array of devices.
  bool finish() {
    const bool parts = !manual_.empty() || !unreduced_.empty();
    if (made_.kind == TileAssignment::Kind::kReplicated && parts) made_.kind = TileAssignment::Kind::kTiled;
    if (!made_.is_tiled()) return true;
    std::vector<Piece> pieces;
    const auto add = [&](const std::vector<Piece>& more) {
      int64_t length = 1;
      for (const Piece& piece : more) {
        length *= piece.size;
        if (piece.size > 1) pieces.push_back(piece);
      }
      return length;
    };
    for (const std::vector<Piece>& dimension : dimensions_) made_.dimensions.push_back(add(dimension));
    if (!unreduced_.empty()) made_.subgroups.push_back({SubgroupType::kUnreduced, add(unreduced_)});
    if (!manual_.empty()) made_.subgroups.push_back({SubgroupType::kManual, add(manual_)});
    std::vector<Piece> sorted = pieces;
    std::sort(sorted.begin(), sorted.end(),
              [](const Piece& a, const Piece& b) { return a.stride > b.stride; });
    std::vector<Piece> all, rest;
    int64_t reached = devices_;
    for (const Piece& piece : sorted) {
      const int64_t top = piece.size * piece.stride;
      if (reached % top != 0) return false;
      if (reached > top) rest.push_back({reached / top, top});
      if (reached > top) all.push_back(rest.back());
      all.push_back(piece);
      reached = piece.stride;
    }
    if (reached > 1) rest.push_back({reached, 1});
    if (reached > 1) all.push_back(rest.back());
    if (!rest.empty()) made_.subgroups.push_back({SubgroupType::kReplicated, add(rest)});
    for (const Piece& piece : all) made_.reshape.push_back(piece.size);
    for (const Piece& piece : pieces)
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i].stride == piece.stride) made_.order.push_back(static_cast<int64_t>(i));
    if (made_.reshape.empty()) made_.reshape = made_.order = {1}, made_.order[0] = 0;
    made_.device_list = std::move(list_);
    return is_permutation(made_.order, made_.reshape.size());
  }

  std::string_view text_;
  std::string fault_;
  TileAssignment made_;
  std::map<std::string_view, Axis> axes_;
  int64_t devices_ = 1;
  std::vector<int64_t> list_;
  std::vector<std::vector<Piece>> dimensions_;
  std::vector<Piece> manual_, unreduced_;
};

}  // namespace

int64_t TileAssignment::devices() const { return is_tiled() ? product(reshape) : 0; }

Result<TileAssignment> read_tile_assignment(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with("mesh[") || text.starts_with("maximal_mesh[")) return MeshReader(text).read();
  return WordReader(text).read();
}

Result<std::vector<TileAssignment>> read_tile_assignments(std::string_view text, size_t leaves) {
  const std::string plain = without_comments(text);
  const std::string_view whole = trimmed(plain);
  if (whole.size() < 2 || whole.front() != '{' || whole.back() != '}')
    return failure(fmt::format("the sharding {} is not understood", shown(text)));
  const std::string_view content = trimmed(whole.substr(1, whole.size() - 2));
  const bool is_tuple = content.empty() || content.starts_with("{");
  std::vector<TileAssignment> all;
  for (const std::string_view single :
       is_tuple ? split_outside_brackets(content, ",") : std::vector<std::string_view>{content}) {
    auto read =
        read_tile_assignment(is_tuple && single.size() >= 2 ? single.substr(1, single.size() - 2) : single);
    if (!read) return tl::unexpected(read.error());
    all.push_back(std::move(*read));
  }
  if (!is_tuple) all.resize(leaves, all.front());
  if (leaves == 0) all.clear();
  if (all.size() != leaves)
    return failure(
        fmt::format("the sharding {} is for {} arrays, there are {}", shown(text), all.size(), leaves));
  return all;
}

std::vector<int64_t> list_devices(const TileAssignment& tiles) {
  const size_t rank = tiles.reshape.size();
  std::vector<int64_t> strides(rank, 1), sizes;
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * tiles.reshape[i];
  std::vector<int64_t> list;
  list.reserve(static_cast<size_t>(tiles.devices()));
  std::vector<int64_t> index(rank, 0);
  for (int64_t count = tiles.devices(); count > 0; --count) {
    int64_t device = 0;
    for (size_t i = 0; i < rank; ++i) device += index[i] * strides[static_cast<size_t>(tiles.order[i])];
    list.push_back(tiles.device_list.empty() ? device : tiles.device_list[static_cast<size_t>(device)]);
    for (size_t i = rank; i-- > 0;) {
      if (++index[i] < tiles.reshape[static_cast<size_t>(tiles.order[i])]) break;
      index[i] = 0;
    }
  }
  return list;
}

}  // namespace hlosim
