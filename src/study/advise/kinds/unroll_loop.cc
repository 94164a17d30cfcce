// Several turns of a loop as one: jax.lax.scan(..., unroll=k).
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "hlo/stored_values.h"
#include "modules/trip_count.h"

namespace hlosim {
namespace {

constexpr size_t kMostUnrolledLoops = 3;

ComputationId body_of(const Instruction& loop) { return loop.find(AttrKey::kBody)->computations()[0]; }

/// States how often the loop runs. Error: it has a configuration of another kind.
Result<void> state_turns(ModuleEditor& editor, InstructionId loop, int64_t turns) {
  const Attr* config = editor.module()[loop].find(AttrKey::kBackendConfig);
  if (config && config->text().find("known_trip_count") == std::string_view::npos)
    return failure("its backend_config contradicts its trip count");
  const std::string text = fmt::format("{{\"known_trip_count\":{{\"n\":\"{}\"}}}}", turns);
  editor.set_attr(loop, Attr::make_text(AttrKey::kBackendConfig, AttrSyntax::kConfig,
                                        editor.module().arena().copy(std::string_view(text))));
  return {};
}

/// The body of `loop` becomes one that calls it `factor` times.
Result<void> unroll(ModuleEditor& editor, const std::string& name, int64_t factor) {
  Module& module = editor.module();
  const Result<InstructionId> loop = named(module, name);
  if (!loop) return tl::unexpected(loop.error());
  const TripCount turns = trip_count(module, module[*loop]);
  if (!turns.known() || turns.count % factor != 0) return failure("its trip count is no longer a multiple");
  const ComputationId body = body_of(module[*loop]), together = editor.add_computation("unrolled");
  InstructionId state = editor.add_parameter(together, "state", module[*loop].shape);
  const Attr calls[] = {computation_attr(module, AttrKey::kToApply, body)};
  for (int64_t i = 0; i < factor; ++i) {
    const InstructionId operands[] = {state};
    state = editor.add(together, Opcode::kCall, "turn", module[*loop].shape, operands, calls);
    module.computations[together].instructions.push_back(state);
  }
  module.computations[together].root = state;
  editor.set_attr(*loop, computation_attr(module, AttrKey::kBody, together));
  return state_turns(editor, *loop, turns.count / factor);
}

}  // namespace

std::vector<Proposal> find_unrolled_loops(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  if (subject.setup.model || subject.is_compiled) return found;
  const Module& module = *subject.setup.module;
  const AdvicePlaces places(module);
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      const Instruction& loop = module[id];
      if (!loop.find(AttrKey::kBody) || !loop.find(AttrKey::kCondition) || found.size() >= kMostUnrolledLoops)
        continue;
      const TripCount turns = trip_count(module, loop);
      const int64_t factor = turns.count % 4 == 0 ? 4 : 2;
      if (!turns.known() || turns.count < 4 || turns.count % factor != 0) continue;
      const std::string name(loop.name);
      Proposal& one = found.emplace_back();
      one.edit = edit_of_module(subject.table, [name, factor](ModuleEditor& editor, TrialSetup&) {
        return unroll(editor, name, factor);
      });
      one.name = fmt::format("{} x{}", name, factor);
      one.problem = fmt::format("{} runs {} turns one by one", name, turns.count);
      one.change =
          fmt::format("jax.lax.scan(f, init, xs, unroll={0}), jax.lax.fori_loop(..., unroll={0})", factor);
      one.reason = "work and transfers of neighbouring turns overlap, and fewer turns begin";
      one.place = places.of(loop);
    }
  return found;
}

}  // namespace hlosim
