// The finders of all kinds of advice, one file each. Internal to src/study/advise.
#pragma once

#include <vector>

#include "advise/advice_kind.h"

namespace hlosim {

// kinds/model_*.cc: options of model files; nothing of other programs.
std::vector<Proposal> find_remat(const AdviceSubject& subject);
std::vector<Proposal> find_meshes(const AdviceSubject& subject);
std::vector<Proposal> find_attention_kernel(const AdviceSubject& subject);
std::vector<Proposal> find_attention_blocks(const AdviceSubject& subject);
std::vector<Proposal> find_grouped_tiles(const AdviceSubject& subject);
std::vector<Proposal> find_vocab_tiles(const AdviceSubject& subject);
std::vector<Proposal> find_batch(const AdviceSubject& subject);
std::vector<Proposal> find_unrolled_layers(const AdviceSubject& subject);
std::vector<Proposal> find_cast_before_gather(const AdviceSubject& subject);
std::vector<Proposal> find_stored_weights(const AdviceSubject& subject);

std::vector<Proposal> find_model_sizes(const AdviceSubject& subject);

std::vector<Proposal> find_scoped_vmem(const AdviceSubject& subject);
std::vector<Proposal> find_collective_matmul(const AdviceSubject& subject);
std::vector<Proposal> find_shard_arguments(const AdviceSubject& subject);

std::vector<Proposal> find_weights_ahead(const AdviceSubject& subject);
std::vector<Proposal> find_product_precision(const AdviceSubject& subject);
std::vector<Proposal> find_narrow_moves(const AdviceSubject& subject);
std::vector<Proposal> find_kernel_blocks(const AdviceSubject& subject);
std::vector<Proposal> find_one_hot_gathers(const AdviceSubject& subject);
std::vector<Proposal> find_unrolled_loops(const AdviceSubject& subject);
std::vector<Proposal> find_donation(const AdviceSubject& subject);

std::vector<Proposal> find_layouts(const AdviceSubject& subject);
std::vector<Proposal> find_schedule(const AdviceSubject& subject);
std::vector<Proposal> find_on_chip(const AdviceSubject& subject);

}  // namespace hlosim
