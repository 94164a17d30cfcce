// Targets that call the program as its users do, with a line of arguments: hlosim::run(). Slower, as each
// call reads its device, and complete.
#include <fmt/format.h>

#include <sstream>

#include "base/check.h"
#include "cli/run.h"
#include "module_text.h"
#include "targets.h"

namespace hlosim::fuzz {
namespace {

/// True: it did what it was asked for, whatever the answer. `input` is standard input.
bool command(const std::vector<std::string>& args, const std::string& input) {
  std::istringstream in(input);
  std::ostringstream out, err;
  const int code = run(args, in, out, err);
  HLOSIM_CHECK(code == kExitSuccess || code == kExitFailedCheck || code == kExitInput, "exit code {}", code);
  HLOSIM_CHECK(code != kExitInput || !err.str().empty(), "nothing says what is wrong");
  // Texts that hlosim made are no concern of its users.
  const bool quotes = input.find("internal error") != std::string::npos;
  HLOSIM_CHECK(quotes || err.str().find("internal error") == std::string::npos, "{}", err.str());
  return code != kExitInput;
}

using Args = std::vector<std::string>;

constexpr const char* kMeshes[] = {"a=2", "a=2,b=2", "a=3", "a=4,b=2", "data=2,model=4"};
constexpr const char* kShards[] = {".*=[a]", ".*=[_,a]", ".*=[a,b]", "p.*=[b,a]", ".*=[{a,b}]", "0=[a]"};

/// Lines that take one module; "DEVICE" and "INSTRUCTION" stand for some.
const std::vector<Args>& lines() {
  static const std::vector<Args> lines = {
      {"check", "-"},
      {"check", "--parse-only", "-"},
      {"print", "-"},
      {"print", "--operand-shapes", "--no-percent", "-"},
      {"print", "--format=pb", "-"},
      {"cost", "-"},
      {"cost", "--format=json", "-"},
      {"report", "--device=DEVICE", "-"},
      {"report", "--device=DEVICE", "--format=json", "--topology=2x2", "-"},
      {"report", "--device=DEVICE", "--format=csv", "--while-trip-count=0", "-"},
      {"report", "--device=DEVICE", "--format=html", "-"},
      {"report", "--device=DEVICE", "--timeline", "--top=0", "-"},
      {"report", "--device=DEVICE", "--set=memory.hbm.bandwidth=1 GB/s", "--fail-on=oom", "-"},
      {"report", "--device=DEVICE", "--slices=2", "--no-lower", "-"},
      {"trace", "--device=DEVICE", "--max-events=500", "-"},
      {"graph", "--device=DEVICE", "-"},
      {"graph", "--device=DEVICE", "--format=model-explorer", "-"},
      {"graph", "--device=DEVICE", "--format=node-data", "--color-by=space", "-"},
      {"graph", "--device=DEVICE", "--around=INSTRUCTION", "-"},
      {"explain", "--device=DEVICE", "-", "INSTRUCTION"},
      {"explain", "--device=DEVICE", "--format=json", "--no-lower", "-", "INSTRUCTION"},
      {"lower", "--device=DEVICE", "-"},
      {"lower", "--device=DEVICE", "--print-after=all", "-"},
      {"tune", "layout", "--device=DEVICE", "--moves=100", "--exact-steps=100", "-"},
      {"tune", "layout", "--device=DEVICE", "--what-if=INSTRUCTION={0,1}", "-"},
      {"tune", "layout", "--device=DEVICE", "--moves=100", "--tile=T(8,128)", "--format=json", "-"},
      {"tune", "prefetch", "--device=DEVICE", "--moves=50", "-"},
      {"tune", "prefetch", "--device=DEVICE", "--algorithm=xla", "--format=json", "-"},
      {"tune", "schedule", "--device=DEVICE", "-"},
      {"tune", "schedule", "--device=DEVICE", "--always", "--format=json", "-"},
      {"report", "--device=DEVICE", "--mesh=a=2,b=2", "--topology=2x2", "-"},
      {"report", "--device=DEVICE", "--partitions=4", "--topology=2x2", "--format=json", "-"},
      {"report", "--device=DEVICE", "--partial", "-"},
      {"tune", "mesh", "--device=DEVICE", "--devices=4", "--axes=a,b", "--topology=2x2", "-"},
      {"shrink", "--layers=1", "--scale=4", "-"},
      {"print", "--format=stablehlo", "-"},
      {"diff", "--device=DEVICE", "-", "-"},
      {"diff", "--device=DEVICE", "--format=markdown", "a.hlo", "-"},
  };
  return lines;
}

/// The name of an instruction, where the text shows one.
std::string instruction_of(const std::string& input, Random& choice) {
  const std::optional<ModuleText> module = parse_module_text(input);
  if (!module) return "unknown";
  const ComputationText& computation = choice.pick(module->computations);
  return computation.instructions.empty() ? "unknown" : choice.pick(computation.instructions).name.substr(1);
}

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  if (const size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

}  // namespace

bool any_command(const Bench& bench, const std::string& input, Random& choice) {
  Args args = choice.pick(lines());
  const std::string& device = choice.pick(bench.device_names);
  const std::string instruction = instruction_of(input, choice);
  for (std::string& arg : args) {
    arg = replaced(replaced(arg, "DEVICE", device), "INSTRUCTION", instruction);
    if (arg == "a.hlo") arg = bench.folder + "/a.hlo";
  }
  return command(args, input);
}

bool buffers_command(const Bench& bench, const std::string& input, Random& choice) {
  constexpr const char* kFormats[] = {"text", "json", "csv", "usage", "xla", "xla-2022"};
  constexpr const char* kSchedules[] = {"auto", "auto", "text", "list", "dfs", "post"};
  Args args = {"buffers", fmt::format("--format={}", choice.pick(kFormats)),
               fmt::format("--schedule={}", choice.pick(kSchedules))};
  if (choice.one_in(8)) args.push_back("--device=" + choice.pick(bench.device_names));
  if (choice.one_in(4)) args.push_back("--at=1");
  args.push_back("-");
  return command(args, input);
}

bool run_command(const Bench&, const std::string& input, Random& choice) {
  constexpr const char* kArguments[] = {"random", "random", "zeros", "iota"};
  Args args = {"run", fmt::format("--args={}", choice.pick(kArguments)), "--threads=1", "--max-memory=64MiB",
               "--max-seconds=10"};  // loops may be endless
  if (choice.one_in(3)) args.push_back("--peers=twins");
  if (choice.one_in(6)) args.push_back("--print");
  if (choice.one_in(4)) {
    args.push_back("--physical");
    if (choice.one_in(2)) args.push_back("--layouts=random");
    if (choice.one_in(2)) args.push_back("--schedule=random");
  } else if (choice.one_in(4)) {
    args.push_back("--trace-values=.*");
  }
  args.push_back("-");
  return command(args, input);
}

/// Differences are answers: programs may ask which device they are.
bool partition_command(const Bench&, const std::string& input, Random& choice) {
  Args args = {"partition", "--max-memory=1GiB", "--max-seconds=10"};
  if (choice.one_in(2)) args.push_back(fmt::format("--mesh={}", choice.pick(kMeshes)));
  if (choice.one_in(3)) args.push_back(fmt::format("--partitions={}", choice.below(9)));
  if (choice.one_in(2)) args.push_back(fmt::format("--shard={}", choice.pick(kShards)));
  constexpr const char* kWhat[] = {"--check", "--check", "--report", "--propagate-only", "--output=-"};
  args.emplace_back(choice.pick(kWhat));
  args.push_back("-");
  return command(args, input);
}

/// Programs as frameworks hand them out, by the commands that take them.
bool stablehlo_command(const Bench& bench, const std::string& input, Random& choice) {
  static const std::vector<Args> kLines = {
      {"check", "-"},
      {"print", "-"},
      {"print", "--format=stablehlo", "-"},
      {"cost", "-"},
      {"report", "--device=DEVICE", "--dim=4", "-"},
      {"run", "--args=random", "--threads=1", "--max-memory=64MiB", "--max-seconds=10", "-"},
  };
  Args args = choice.pick(kLines);
  for (std::string& arg : args) arg = replaced(arg, "DEVICE", choice.pick(bench.device_names));
  return command(args, input);
}

/// Model files, and the step of each on one device or several.
bool model_command(const Bench&, const std::string& input, Random& choice) {
  constexpr const char* kKinds[] = {"train", "prefill", "decode"};
  constexpr const char* kModelMeshes[] = {"fsdp=2", "data=2,tensor=2", "expert=2,fsdp=2", "context=4"};
  constexpr const char* kRemat[] = {"full", "minimal", "custom"};
  Args args = {"model", fmt::format("--kind={}", choice.pick(kKinds)),
               fmt::format("--remat={}", choice.pick(kRemat)),
               fmt::format("--sequence={}", 1 + choice.below(300))};
  if (choice.one_in(2)) args.push_back(fmt::format("--mesh={}", choice.pick(kModelMeshes)));
  if (choice.one_in(4)) args.push_back("--automatic");
  if (choice.one_in(8)) args.push_back("--gradients-only");
  args.push_back("-");
  return command(args, input);
}

}  // namespace hlosim::fuzz
