// What one device does in a step of a model, piece by piece, counted from the dimensions alone: no module is
// made, nothing is scheduled. The slow obvious count that a simulated step is held against.
//
//   const StepWork work = step_work(run.model, run.options);
//   for (const StepPiece& piece : work.pieces) std::cout << piece.name << " " << piece.flops() << "\n";
//
// A layer does the same for all its tokens: products with its parameters, attention, vector work between
// them; the backward pass twice the products, and once more what rematerialization didn't keep. Bytes of
// collectives: each gathers or reduces an array along some axes of the mesh (docs/accuracy.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/pallas/attention.h"
#include "ops/work.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

enum class StepCategory : uint8_t {
  kProducts,   // with dense parameters
  kExperts,    // with those of experts, dispatch included
  kAttention,  // the kernel
  kVector,     // norms, gates, rotations, sums: bytes
  kLoss,       // products with the vocabulary, softmax
  kOptimizer,
  kCollective,
  kHost,  // offloaded values
};
inline constexpr size_t kStepCategories = 8;
/// "products", "experts", "attention", …
std::string_view to_text(StepCategory category);

/// Where a piece stands. Collectives hide behind the work of their own part at best.
enum class StepStage : uint8_t { kForward, kBackward, kLoss, kUpdate };
inline constexpr size_t kStepStages = 4;

struct StepPiece {
  StepCategory category{};
  StepStage part{};
  std::string name;              // "mlp.wi, forward"
  double times = 1;              // in a step
  MatmulWork product{};          // products: m = 0 where the piece is none
  AttentionPass pass{};          // attention
  AttentionProblem attention{};  // queries = 0 where the piece is none
  double bytes = 0;              // HBM read and written; collectives: the whole array; host: moved
  // Collectives.
  CollectiveKind collective{};
  std::vector<std::string> axes{};  // of the mesh, that it goes along
  bool blocks = false;              // what follows needs it at once

  double flops() const;  // of the products, all times
};

struct StepWork {
  std::vector<StepPiece> pieces;
  double tokens = 0;      // of one device
  double parameters = 0;  // stored on one device
};

/// Requires: a sound model (model_fault()), a mesh with the axes that MaxText knows.
StepWork step_work(const ModelConfig& model, const StepOptions& options);

}  // namespace hlosim
