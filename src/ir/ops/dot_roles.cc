#include "ops/dot_roles.h"

namespace hlosim {

DotRoles dot_roles(const OpContext& op) {
  const auto list = [&](AttrKey key) {
    const auto ints = op.ints(key);
    return std::vector<int64_t>(ints.begin(), ints.end());
  };
  return {list(AttrKey::kLhsBatchDims), list(AttrKey::kRhsBatchDims), list(AttrKey::kLhsContractingDims),
          list(AttrKey::kRhsContractingDims)};
}

}  // namespace hlosim
