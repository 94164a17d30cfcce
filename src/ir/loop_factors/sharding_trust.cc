#include "loop_factors/sharding_trust.h"

#include <cstddef>
#include <iterator>

namespace hlosim {
namespace {

constexpr ShardingTrust kPasses = {0, 0}, kComputes = {1, 1}, kSums = {2, 2}, kSpreads = {3, 2};

/// In the order of DimensionRule.
constexpr ShardingTrust kTrust[] = {
    kComputes,  // kFixed
    kPasses,    // kFree
    kPasses,    // kForwards
    kPasses,    // kEach
    kPasses,    // kElement
    kPasses,    // kCalled
    kComputes,  // kBySize
    kPasses,    // kBitcast
    kPasses,    // kRecast
    kSpreads,   // kBroadcast
    kPasses,    // kReshape
    kPasses,    // kTranspose
    kSums,      // kReduce
    kComputes,  // kProduct
    kComputes,  // kConvolution
    kComputes,  // kSlice
    kComputes,  // kPad
    kPasses,    // kConcatenate
    kPasses,    // kDynamicSlice
    kPasses,    // kDynamicUpdate
    kComputes,  // kGather
    kComputes,  // kScatter
    kComputes,  // kWindow
    kComputes,  // kSelectAndScatter
    kComputes,  // kSort
    kComputes,  // kTopK
    kComputes,  // kSquare
    kComputes,  // kBatchNorm
    kComputes,  // kAllGather
    kComputes,  // kReduceScatter
    kComputes,  // kAllToAll
    kComputes,  // kPermute
};
static_assert(std::size(kTrust) == static_cast<size_t>(DimensionRule::kPermute) + 1);

}  // namespace

ShardingTrust sharding_trust(DimensionRule rule) { return kTrust[static_cast<size_t>(rule)]; }

}  // namespace hlosim
