#include "estimate/partition_over_mesh.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/text.h"
#include "estimate/fitted_partition.h"
#include "estimate/remap_shardings.h"
#include "estimate/unpartitioned.h"
#include "interconnect/slice.h"
#include "lower/lower.h"
#include "partition/partition.h"
#include "propagate/propagate.h"
#include "sharding/mesh_order.h"

namespace hlosim {
namespace {

constexpr std::string_view kAutoOrder = "auto";
constexpr std::string_view kUnpartitioned =
    "--no-partition simulates the unpartitioned module, on one device";

/// The device at each place of the mesh; empty: device i at place i.
Result<std::vector<int64_t>> order_on_slice(const Mesh& mesh, const Slice& slice, const std::string& order) {
  if (slice.count > 1)
    return failure(fmt::format("--mesh-order: the devices are in {} slices", slice.count),
                   "an order is laid over one torus");
  Result<MeshOnTorus> laid =
      mesh_order(mesh, slice.sides, slice.devices_per_chip, order == kAutoOrder ? "" : order);
  if (!laid) return tl::unexpected(laid.error());
  return std::move(laid->device_order);
}

class MeshPartitioner {
 public:
  MeshPartitioner(const Module& module, const OpTable& table, const Device* device,
                  const SimulateOptions& options, const MeshRequest& request)
      : module_(module), table_(table), device_(device), options_(options), request_(request) {}

  Result<PartitionedProgram> spread() {
    if (Result<void> laid = lay_mesh(); !laid) return tl::unexpected(laid.error());
    if (is_partitioned(module_, table_)) return as_it_is();
    Result<PartitionedProgram> made = partitioned();
    if (!made && request_.is_default && made.error().hint.empty())
      made.error().hint = std::string(kUnpartitioned);
    return made;
  }

 private:
  /// Those of the module, where the request has no number of devices.
  Result<void> count_devices() {
    if (is_partitioned(module_, table_)) return {};  // a fault of its own
    request_.partitions = unpartitioned_devices(module_, table_);
    request_.is_default = true;
    if (request_.partitions > 0) return {};
    return failure(fmt::format("--windowed-products: module {} is not sharded", module_.name),
                   "--mesh and --shard specify the devices and the shardings");
  }

  Result<void> lay_mesh() {
    spread_.notes.mesh = request_.mesh;
    const int64_t declared = module_.num_partitions();
    if (request_.mesh.axes.empty()) {
      if (request_.partitions == 0) return count_devices();
      if (declared > 1 && request_.partitions != declared)
        return failure(fmt::format("--partitions={}: module {} is for {} partitions", request_.partitions,
                                   module_.name, declared));
      return {};
    }
    const Mesh& from = request_.written_for;
    if (!from.axes.empty()) {
      if (declared > 1)
        if (Result<void> fits = check_mesh(from, declared); !fits) return fits;
    } else if (declared > 1)
      if (Result<void> fits = check_mesh(request_.mesh, declared); !fits) return fits;
    if (request_.order.empty()) return {};
    const Result<Slice> slice = slice_of(request_.devices());
    if (!slice) return tl::unexpected(slice.error());
    Result<std::vector<int64_t>> order = order_on_slice(request_.mesh, *slice, request_.order);
    if (!order) return tl::unexpected(order.error());
    spread_.notes.mesh.device_order = std::move(*order);
    return {};
  }

  Result<Slice> slice_of(int64_t devices) const {
    HLOSIM_CHECK(device_ != nullptr, "a mesh is laid over devices that are known");
    AssumptionList of_slice;  // the simulation says the same
    return choose_slice(device_->config, options_.slice, devices, of_slice);
  }

  /// That the module is partitioned here; how many devices of a slice that was given that takes. Errors: the
  /// slice has fewer.
  Result<void> note_devices() {
    const int64_t partitions = request_.devices(), replicas = module_.replica_count();
    std::string text = fmt::format("hlosim partitioned the module over {} devices", partitions);
    if (request_.mesh.axes.empty())
      text += ", as its shardings specify,";
    else
      text += fmt::format(" (mesh {})", to_text(request_.mesh));
    text += " by rules like XLA's";
    if (device_ && (options_.slice.topology || options_.slice.devices)) {
      const Result<Slice> slice = slice_of(partitions * replicas);
      if (!slice) return tl::unexpected(slice.error());
      if (slice->devices() > partitions * replicas)
        text += fmt::format("; the slice has {}, of which {} are idle", slice->devices(),
                            slice->devices() - partitions * replicas);
    }
    spread_.assumptions.add(text);
    return {};
  }

  Result<PartitionedProgram> as_it_is() {
    if (!request_.said.empty())
      return failure(
          fmt::format("--shard '{}': module {} is partitioned already", request_.said[0].text, module_.name),
          "--mesh alone names the axes of its collectives");
    if (request_.windowed != WindowedProducts::kUnset && request_.windowed != WindowedProducts::kNever &&
        !request_.windowed_mib)
      return failure(fmt::format("--windowed-products: module {} is partitioned already", module_.name),
                     "products become rings while a module is partitioned");
    spread_.assumptions.add(
        "the module is partitioned already: it runs as it is, and the mesh names the axes of its "
        "collectives");
    spread_.module = module_.copy();
    spread_.notes.was_partitioned = true;
    return std::move(spread_);
  }

  Result<PartitionedProgram> partitioned() {
    if (!is_plain(module_))
      return failure(
          fmt::format("--mesh: a compiler has made module {} for one device already", module_.name),
          "modules are partitioned as they are before compilation");
    Result<Module> rebound;
    if (!request_.written_for.axes.empty()) {
      rebound = remap_shardings_to_mesh(module_, request_.written_for, spread_.notes.mesh);
      if (!rebound) return tl::unexpected(rebound.error());
    }
    if (Result<void> noted = note_devices(); !noted) return tl::unexpected(noted.error());
    const Module& given = request_.written_for.axes.empty() ? module_ : *rebound;
    Result<Stated> stated = state_shardings(given, spread_.notes.mesh, request_.said);
    if (!stated) return tl::unexpected(stated.error());
    if (!stated->unused.empty())
      return failure(fmt::format("--shard '{}': module {} has no parameter of that name",
                                 request_.said[stated->unused[0]].text, module_.name),
                     parameter_hint());
    const int64_t devices = request_.devices();
    const Result<Propagated> whole = propagate(stated->module, table_, {.devices = devices});
    if (!whole) return tl::unexpected(whole.error());
    for (const std::string& note : whole->notes) spread_.assumptions.add("sharding: " + note);
    PartitionOptions options;
    options.devices = devices;
    options.windowed = windowed_einsum();
    Result<Partitioned> made = partition_to_fit(whole->module, table_, options, device_, spread_.assumptions);
    if (!made) return tl::unexpected(made.error());
    keep_notes(*made);
    note_windowed(options.windowed, made->windowed);
    spread_.module = std::move(made->module);
    return std::move(spread_);
  }

  WindowedEinsum windowed_einsum() const {
    WindowedEinsum einsum;
    if (request_.windowed == WindowedProducts::kAlways) einsum.when = WindowedEinsum::When::kAlways;
    if (request_.windowed != WindowedProducts::kThreshold) return einsum;
    einsum.when = WindowedEinsum::When::kThreshold;
    constexpr int64_t kMost = int64_t{1} << 42;  // MiB that are bytes in 64 bits
    if (request_.windowed_mib)
      einsum.threshold_bytes = std::clamp<int64_t>(*request_.windowed_mib, 0, kMost) << 20;
    return einsum;
  }

  /// Which products became rings, and why others did not.
  void note_windowed(const WindowedEinsum& einsum, const WindowedCounts& counts) {
    if (einsum.when == WindowedEinsum::When::kNever) return;
    std::vector<std::string> left;
    const auto add = [&](int64_t count, std::string_view why) {
      if (count > 0) left.push_back(fmt::format("{} {}", count, why));
    };
    add(counts.small, "below the threshold");
    add(counts.shared, "whose gathered operand has other users");
    add(counts.longer, "over more than 32 devices");
    add(counts.unpaid, "that would gain nothing");
    const bool always = einsum.when == WindowedEinsum::When::kAlways;
    spread_.assumptions.add(
        fmt::format("collective matmul ({}): {} dot{} with {} all-gather or reduce-scatter run as rings of "
                    "permutes{}",
                    always ? "always" : fmt::format("from {}", to_text(Bytes(einsum.threshold_bytes))),
                    counts.rings, counts.rings == 1 ? "" : "s", counts.rings == 1 ? "its" : "their",
                    left.empty() ? "" : fmt::format("; not: {}", fmt::join(left, ", "))));
  }

  std::string parameter_hint() const {
    std::vector<std::string_view> names;
    constexpr size_t kShown = 8;
    const std::vector<InstructionId>& parameters = module_.entry_computation().parameters;
    for (size_t i = 0; i < std::min(parameters.size(), kShown); ++i)
      names.push_back(module_[parameters[i]].name);
    return fmt::format("there are: {}{}", fmt::join(names, ", "), parameters.size() > kShown ? ", …" : "");
  }

  void keep_notes(const Partitioned& made) {
    for (const Resharding& one : made.reshardings) {
      spread_.notes.has_rings |= one.windowed;
      const Instruction& collective = made.module[one.collective];
      const Attr* const channel = collective.find(AttrKey::kChannelId);
      spread_.notes.asked.push_back({std::string(collective.name), one.asked_by, one.what, one.from, one.to,
                                     std::string(to_text(one.kind)), one.bytes,
                                     channel ? channel->integer() : 0});
    }
    for (const ReplicatedInstruction& one : made.replicated) {
      spread_.notes.replicated.push_back({one.name, one.offset, one.reason, one.bytes});
      spread_.assumptions.add(
          fmt::format("every device runs {} as a whole: {}{}", one.name, one.reason,
                      one.bytes > 0 ? fmt::format(" ({} gathered)", to_text(Bytes(one.bytes))) : ""));
    }
  }

  const Module& module_;
  const OpTable& table_;
  const Device* device_;  // null: it isn't known
  const SimulateOptions& options_;
  MeshRequest request_;
  PartitionedProgram spread_;
};

}  // namespace

Result<MeshRequest> read_mesh_request(std::string_view mesh, const std::vector<std::string>& statements,
                                      std::string_view order, std::string_view written_for) {
  MeshRequest request;
  Result<Mesh> axes = parse_mesh(mesh);
  if (!axes) return tl::unexpected(axes.error());
  request.mesh = std::move(*axes);
  request.order = trimmed(order);
  if (!written_for.empty()) {
    Result<Mesh> from = parse_mesh(written_for, "--written-for");
    if (!from) return tl::unexpected(from.error());
    request.written_for = std::move(*from);
  }
  for (const std::string& text : statements) {
    Result<ShardStatement> statement = parse_statement(trimmed(text), request.mesh);
    if (!statement) return tl::unexpected(statement.error());
    request.said.push_back(std::move(*statement));
  }
  return request;
}

Result<void> check_devices(const MeshRequest& request, const Limits& limits) {
  const int64_t devices = request.devices();
  if (devices <= limits.devices) return {};
  return failure(
      fmt::format("{}: the program is for {} devices, more than {}",
                  request.mesh.axes.empty() ? fmt::format("--partitions={}", devices) : to_text(request.mesh),
                  devices, limits.devices),
      "--max-devices=N takes programs for up to N");
}

Result<MeshRequest> parse_mesh_request(std::string_view text) {
  std::string_view mesh, order, from;
  std::optional<std::string_view> windowed;
  std::vector<std::string> statements;
  bool first = true;
  for (size_t at = 0; at <= text.size(); first = false) {
    const size_t end = std::min(text.find(';', at), text.size());
    const std::string_view part = trimmed(text.substr(at, end - at));
    constexpr std::string_view kOrder = "order=", kFrom = "from ", kWindowed = "windowed=";
    const bool is_statement = part.find('[') != std::string_view::npos;
    if (first)
      mesh = part;
    else if (part.starts_with(kOrder) && !is_statement)
      order = part.substr(kOrder.size());
    else if (part.starts_with(kFrom) && !is_statement)
      from = trimmed(part.substr(kFrom.size()));
    else if (part.starts_with(kWindowed) && !is_statement) {
      if (windowed)
        return failure("windowed= is there twice", "windowed=never, always, auto or threshold, once");
      windowed = part.substr(kWindowed.size());
    } else if (!part.empty())
      statements.emplace_back(part);
    at = end + 1;
  }
  Result<MeshRequest> request = read_mesh_request(mesh, statements, order, from);
  if (!request || !windowed) return request;
  const Result<WindowedProducts> choice = parse_windowed_products(*windowed);
  if (!choice) return tl::unexpected(choice.error());
  request->windowed = *choice;
  return request;
}

namespace {

constexpr std::string_view kWindowedNames[] = {"", "never", "always", "auto", "threshold"};

}  // namespace

Result<WindowedProducts> parse_windowed_products(std::string_view text) {
  for (size_t i = 1; i < std::size(kWindowedNames); ++i)
    if (text == kWindowedNames[i]) return static_cast<WindowedProducts>(i);
  return failure(
      fmt::format("collective matmuls '{}': expected never, always, auto or threshold", shown(text)));
}

std::string to_text(const Mesh& mesh) {
  std::vector<std::string> parts;
  for (const MeshAxis& axis : mesh.axes) parts.push_back(fmt::format("{}={}", axis.name, axis.size));
  return fmt::format("{}", fmt::join(parts, ","));
}

std::string MeshRequest::text() const {
  std::string text = to_text(mesh);
  for (const ShardStatement& statement : said) text += "; " + statement.text;
  if (!order.empty()) text += "; order=" + order;
  if (!written_for.axes.empty()) text += "; from " + to_text(written_for);
  if (windowed != WindowedProducts::kUnset)
    text += fmt::format("; windowed={}", kWindowedNames[static_cast<size_t>(windowed)]);
  return text;
}

MeshRequest by_flags(MeshRequest request, const CompilerChoices& compiler) {
  if (request.windowed == WindowedProducts::kUnset && compiler.windowed_einsum_mib)
    request.windowed = WindowedProducts::kThreshold;
  if (request.windowed == WindowedProducts::kThreshold) request.windowed_mib = compiler.windowed_einsum_mib;
  return request;
}

Result<PartitionedProgram> partition_over_mesh(const Module& module, const OpTable& table,
                                               const Device& device, const SimulateOptions& options,
                                               const MeshRequest& request) {
  return MeshPartitioner(module, table, &device, options, request).spread();
}

Result<PartitionedProgram> partition_over_mesh(const Module& module, const OpTable& table,
                                               const MeshRequest& request) {
  return MeshPartitioner(module, table, nullptr, {}, request).spread();
}

}  // namespace hlosim
