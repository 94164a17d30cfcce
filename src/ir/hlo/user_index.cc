#include "hlo/user_index.h"

#include <algorithm>

namespace hlosim {

UserIndex::UserIndex(const Module& module)
    : first_user_(module.instructions.size()),
      user_count_(module.instructions.size()),
      has_control_successor_(module.instructions.size()),
      callers_(module.computations.size()) {
  IdMap<InstructionId, InstructionId> last_user(module.instructions.size());
  const auto for_each_use = [&](auto&& f) {
    std::fill(last_user.begin(), last_user.end(), InstructionId{});
    for (const Computation& computation : module.computations)
      for (const InstructionId user : computation.instructions)
        for (const InstructionId operand : module[user].operands) {
          if (last_user[operand] == user) continue;
          last_user[operand] = user;
          f(operand, user);
        }
  };
  for_each_use([&](InstructionId operand, InstructionId) { ++user_count_[operand]; });
  uint32_t total = 0;
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    first_user_[id] = total;
    total += user_count_[id];
    user_count_[id] = 0;
    for (const Attr& attr : module[id].attrs)
      if (attr.key == AttrKey::kControlPredecessors)
        for (const InstructionId before : attr.instructions()) has_control_successor_[before] = 1;
    for_each_called(module[id], [&](ComputationId called) { callers_[called].push_back(id); });
  }
  users_.resize(total);
  for_each_use([&](InstructionId operand, InstructionId user) {
    users_[first_user_[operand] + user_count_[operand]++] = user;
  });
}

}  // namespace hlosim
