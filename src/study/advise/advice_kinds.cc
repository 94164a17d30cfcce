#include "advise/advice_kind.h"
#include "advise/kinds/kinds.h"

namespace hlosim {
namespace {

constexpr AdviceKind kAdviceKinds[] = {
    // Options of model files.
    {"remat", "Recomputation in the backward pass: remat policies", find_remat, "remat"},
    {"mesh", "How many devices each axis of the mesh has", find_meshes, "mesh"},
    {"attention-blocks", "Blocks of the attention kernel", find_attention_blocks, "attention"},
    {"attention", "The kernel of attention", find_attention_kernel, "attention"},
    {"grouped-tiles", "Tiles of experts' matmuls", find_grouped_tiles, "grouped-tiles"},
    {"vocab-tiles", "Logits and loss in parts", find_vocab_tiles, "vocab-tiles"},
    {"batch", "More sequences in a step", find_batch, "batch"},
    {"unroll-layers", "Layers one after the other instead of a loop", find_unrolled_layers},
    {"cast-before-gather", "Parameters are cast before they are gathered", find_cast_before_gather},
    {"stored-weights", "Weights of a server in eight bits", find_stored_weights, "stored-weights"},
    {"round-sizes", "Sizes of the model rounded up to whole tiles", find_model_sizes},
    // Compiler flags and how a program is spread.
    {"scoped-vmem", "A larger share of VMEM for kernels", find_scoped_vmem, "scoped-vmem"},
    {"collective-matmul", "Matmuls overlapped with the collectives of their operands",
     find_collective_matmul},
    {"shard-arguments", "Replicated arguments sharded over the devices", find_shard_arguments,
     "shard-arguments"},
    // Changes of the program.
    {"weights-ahead", "Arguments that are only rearranged or cast, prepared once", find_weights_ahead},
    {"product-precision", "Matmuls of f32 in one pass of bf16", find_product_precision},
    {"narrow-moves", "Casts to a narrower type before data move", find_narrow_moves},
    {"kernel-blocks", "Blocks of Pallas kernels that state theirs", find_kernel_blocks, "kernel-blocks"},
    {"one-hot-gather", "Gathers from small tables as matmuls", find_one_hot_gathers},
    {"unroll-loop", "Several turns of a loop in one", find_unrolled_loops},
    {"donate-arguments", "Results that may overwrite arguments", find_donation},
    // Compiled modules.
    {"layouts", "Layouts that need fewer copies", find_layouts, "layouts"},
    {"schedule", "An order that hides more transfers", find_schedule},
    {"on-chip", "Values kept in VMEM, and prefetches; with --only alone", find_on_chip, "", true},
};

}  // namespace

std::span<const AdviceKind> advice_kinds() { return kAdviceKinds; }

AdvicePlace AdvicePlaces::without_line(const Instruction& instruction) const {
  AdvicePlace place;
  place.instruction = std::string(instruction.name);
  place.op_name = without_escapes(metadata_value(instruction, "op_name"));
  const SourcePlace source = sources_.of(instruction);
  place.source_file = without_escapes(source.file);
  place.source_line = source.line;
  return place;
}

AdvicePlace AdvicePlaces::of(const Instruction& instruction) const {
  AdvicePlace place = without_line(instruction);
  if (module_.source && has_lines(*module_.source))
    place.line = static_cast<int64_t>(module_.source->locate(instruction.offset).line);
  return place;
}

}  // namespace hlosim
