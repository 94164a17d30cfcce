#include "buffers/unique_names.h"

#include <fmt/format.h>

#include <charconv>
#include <unordered_map>
#include <unordered_set>

namespace hlosim {
namespace {

/// Numbers given out for names that differ in their number only.
struct Numbers {
  std::unordered_set<int64_t> taken;
  int64_t next = 0;

  int64_t take(int64_t wanted) {
    if (taken.insert(wanted).second) return wanted;
    while (!taken.insert(next).second) ++next;
    return next++;
  }
};

class NameGiver {
 public:
  std::string give(std::string_view name) {
    std::string_view root = name;
    int64_t number = 0;
    bool numbered = false;
    if (const size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0) {
      const char* end = name.data() + name.size();
      const auto [stop, error] = std::from_chars(name.data() + dot + 1, end, number);
      numbered = error == std::errc() && stop == end && number >= 0;
      if (numbered)
        root = name.substr(0, dot);
      else
        number = 0;
    }
    number = numbers_[root].take(number);
    if (number == 0) return numbered ? fmt::format("{}.0", root) : std::string(root);
    return fmt::format("{}.{}", root, number);
  }

 private:
  std::unordered_map<std::string_view, Numbers> numbers_;  // the names outlive it
};

}  // namespace

IdMap<InstructionId, std::string> unique_names(const ModuleGraph& graph) {
  const Module& module = graph.module();
  IdMap<InstructionId, std::string> names(module.instructions.size());
  NameGiver giver;
  for (const ComputationId computation : graph.computations())
    for (const InstructionId id : graph.instructions(computation)) {
      // What the reader makes of `<op>-start` takes names that XLA gives there.
      const bool invented = module[computation].is_async_sugar && module[id].parameter_number >= 0;
      names[id] = giver.give(invented ? "async_param" : module[id].name);
    }
  return names;
}

}  // namespace hlosim
