#include "exec/instruction_programs.h"

#include <limits>

#include "exec/plan_maker.h"

namespace hlosim {

InstructionPrograms::InstructionPrograms(Module& module, const OpTable& table, MemoryPool& pool,
                                         const ProgramOptions& options)
    : options_(options),
      sink_(std::numeric_limits<size_t>::max()),
      maker_(std::make_unique<PlanMaker>(module, table, pool, options_, sink_)) {}

InstructionPrograms::~InstructionPrograms() = default;

Result<std::shared_ptr<const Callable>> InstructionPrograms::make(InstructionId id) {
  const size_t before = sink_.items().size();
  std::shared_ptr<const Callable> made = maker_->plan(id);
  if (sink_.items().size() > before) return tl::unexpected(sink_.items()[before]);
  return made;
}

}  // namespace hlosim
