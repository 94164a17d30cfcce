// Which axes of the mesh cut which dimensions, by what a dimension is: MaxText's rules.
//
//   AxisRules rules(mesh, options);
//   rules.sharding({Axis::kEmbed, Axis::kMlp}, {4096, 14336})       // "{devices=[16,4]<=[64]}"
//   rules.axes({Axis::kBatch, Axis::kLength, Axis::kNone})          // the same by axes of the mesh
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/expression_graph.h"
#include "workloads/step_options.h"

namespace hlosim {

/// What a dimension of a parameter or of an activation is.
enum class Axis : uint8_t {
  kNone,
  // of parameters
  kEmbed,    // fsdp, fsdp_transpose, sequence, context, expert: those that nothing else of the array has
  kMlp,      // fsdp_transpose, tensor
  kVocab,    // tensor
  kHeads,    // tensor
  kNorm,     // tensor
  kExperts,  // expert; with shard_experts_on_fsdp: fsdp as well
  // of activations
  kBatch,        // data, fsdp, fsdp_transpose, expert
  kExpertBatch,  // the same without expert: beside a dimension of experts
  kLength,       // sequence, context
  kTokens,       // of batch and length both
  kHidden,       // tensor: the residual stream
  kActMlp,       // tensor
  kActHeads,     // tensor
  kActVocab,     // tensor
  kActExperts,   // expert
};

class AxisRules {
 public:
  /// Requires: a mesh whose axes the rules know (fault()).
  /// `serves`: as servers have it, the residual stream and the norms are whole on every device of `tensor`,
  /// and `expert` cuts experts alone. `experts_on_tensor`: whole experts are dealt out over `tensor`, too.
  AxisRules(const Mesh& mesh, bool experts_on_fsdp, bool serves = false, bool experts_on_tensor = false)
      : mesh_(mesh),
        experts_on_fsdp_(experts_on_fsdp),
        serves_(serves),
        experts_on_tensor_(experts_on_tensor) {}

  bool sharded() const { return !mesh_.axes.empty(); }
  const Mesh& mesh() const { return mesh_; }
  AxisSharding axes(std::span<const Axis> dims) const;
  /// As HLO writes it; empty without a mesh.
  std::string sharding(const std::vector<Axis>& dims) const;
  /// Devices that a dimension of this kind is spread over, where it stands alone.
  int64_t parts(Axis axis) const;

  /// What is wrong with the mesh or with cutting `sizes` so; empty: nothing. `what` names the array.
  std::string fault(std::string_view what, const std::vector<Axis>& dims, const Dims& sizes) const;
  std::string unknown_axis() const;

 private:
  std::vector<size_t> candidates(Axis axis) const;

  const Mesh& mesh_;
  bool experts_on_fsdp_, serves_, experts_on_tensor_;
};

}  // namespace hlosim
