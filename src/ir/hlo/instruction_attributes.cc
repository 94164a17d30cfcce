// ModuleReader: attributes of instructions.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "hlo/legacy.h"
#include "hlo/module_reader.h"
#include "hlo/stored_values.h"

namespace hlosim {
namespace {

constexpr AttrSpec kAsyncSugarAttrs[] = {{AttrKey::kAsyncExecutionThread, AttrSyntax::kString},
                                         {AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases}};

}  // namespace

bool is_common_attr(AttrKey key) {
  const auto common = common_attrs();
  return std::any_of(common.begin(), common.end(), [&](const AttrSpec& spec) { return spec.key == key; });
}

bool is_async_sugar_attr(AttrKey key) {
  return key == AttrKey::kAsyncExecutionThread || key == AttrKey::kOutputToOperandAliasing;
}

const AttrSpec* ModuleReader::find_attribute(const Draft& draft, AttrKey key) const {
  if (!draft.sugared) return attr_index_.find(draft.instruction.opcode, key);
  for (const AttrSpec& spec : kAsyncSugarAttrs)
    if (spec.key == key) return &spec;
  return attr_index_.find(draft.wrapped, key);
}

bool ModuleReader::read_attribute(Draft& draft, uint64_t (&seen)[2]) {
  static_assert(kAttrKeyCount <= 128);
  in_.skip();
  const size_t start = in_.offset();
  const std::string_view word = in_.word();
  if (word.empty() || in_.raw() != '=')
    return in_.fail_at(
        start, fmt::format("expects an attribute name followed by '=', but sees '{}'",
                           shown(word.empty() ? std::string_view(in_.text().substr(start, 1)) : word)));
  in_.seek(in_.offset() + 1);
  AttrKey key{};
  const AttrSpec* spec = parse_attr_key(word, key) ? find_attribute(draft, key) : nullptr;
  bool handled = false;
  if (!spec && !read_legacy_attribute(draft, word, seen, handled)) return false;
  if (handled) return true;
  if (!spec) {
    std::vector<std::string_view> known;
    for (int k = 0; k < kAttrKeyCount; ++k)
      if (find_attribute(draft, static_cast<AttrKey>(k))) known.push_back(kAttrNames[k]);
    return in_.fail_at(
        start,
        fmt::format("unexpected attribute \"{}\" of {}", shown(word), to_text(draft.instruction.opcode)),
        did_you_mean(word, known));
  }
  if (!mark_seen(key, start, seen)) return false;
  Attr attr;
  if (!values_.read(key, spec->syntax, attr)) return false;
  attr_stack_.push_back(attr);
  return true;
}

bool ModuleReader::mark_seen(AttrKey key, size_t start, uint64_t (&seen)[2]) {
  uint64_t& word = seen[static_cast<size_t>(key) / 64];
  const uint64_t bit = uint64_t{1} << (static_cast<size_t>(key) % 64);
  if (word & bit) return in_.fail_at(start, fmt::format("attribute {} already exists", to_text(key)));
  word |= bit;
  return true;
}

/// The value of an attribute in the spelling of old texts; `handled` when `word` was one.
bool ModuleReader::read_legacy_attribute(Draft& draft, std::string_view word, uint64_t (&seen)[2],
                                         bool& handled) {
  const LegacyAttr* legacy = find_legacy_attr(word);
  if (!legacy) return true;
  const size_t start = in_.offset();
  Attr attr;
  switch (legacy->fate) {
    case LegacyAttr::Fate::kDropped: {
      handled = true;
      std::string_view ignored;
      return in_.peek() == '"' ? in_.string(ignored) : in_.number(ignored);
    }
    case LegacyAttr::Fate::kGroupIds:
      if (!find_attribute(draft, legacy->key)) return true;
      if (!mark_seen(legacy->key, start, seen) || !read_group_ids(attr)) return false;
      break;
    case LegacyAttr::Fate::kRenamed: {
      const AttrSpec* spec = find_attribute(draft, legacy->key);
      if (!spec) return true;
      if (!mark_seen(legacy->key, start, seen) || !values_.read(legacy->key, spec->syntax, attr))
        return false;
      break;
    }
  }
  handled = true;
  attr_stack_.push_back(attr);
  return true;
}

/// replica_group_ids={0,0,1,1}: the group that each replica belongs to.
bool ModuleReader::read_group_ids(Attr& attr) {
  std::vector<int64_t> ids;
  in_.skip();
  const size_t start = in_.offset();
  if (!in_.ints(ids)) return false;
  std::vector<std::vector<int64_t>> members;
  for (size_t replica = 0; replica < ids.size(); ++replica) {
    if (ids[replica] < 0 || ids[replica] >= static_cast<int64_t>(ids.size()))
      return in_.fail_at(start, fmt::format("group {} of replica {} is out of range", ids[replica], replica));
    if (ids[replica] >= static_cast<int64_t>(members.size()))
      members.resize(static_cast<size_t>(ids[replica]) + 1);
    members[static_cast<size_t>(ids[replica])].push_back(static_cast<int64_t>(replica));
  }
  ReplicaGroups groups;
  groups.groups = stored_lists(module_, members);
  attr = Attr::make_struct(AttrKey::kReplicaGroups, AttrSyntax::kReplicaGroups,
                           static_cast<const ReplicaGroups*>(module_.arena().make<ReplicaGroups>(groups)));
  return true;
}

bool ModuleReader::check_required(const Draft& draft, const uint64_t (&seen)[2]) {
  // A sugared update or done may leave out (or, in old texts, repeat) what its start says.
  if (draft.sugared && draft.instruction.opcode != Opcode::kAsyncStart) return true;
  const OpDef& def = table_[draft.sugared ? draft.wrapped : draft.instruction.opcode];
  for (const AttrSpec& spec : def.attrs) {
    const size_t key = static_cast<size_t>(spec.key);
    if (spec.required && !(seen[key / 64] >> (key % 64) & 1))
      return in_.fail_at(
          draft.instruction.opcode_offset,
          fmt::format("attribute {} of {} is expected but not seen", to_text(spec.key), def.name));
  }
  return true;
}

bool ModuleReader::read_attributes(Scope&, Draft& draft) {
  uint64_t seen[2] = {};
  draft.first_attr = attr_stack_.size();
  if (!draft.direction.empty()) {
    mark_seen(AttrKey::kDirection, in_.offset(), seen);
    attr_stack_.push_back(Attr::make_text(AttrKey::kDirection, AttrSyntax::kWord, draft.direction));
  }
  while (in_.eat(','))
    if (!read_attribute(draft, seen)) return false;
  if (!check_required(draft, seen)) return false;
  const std::span<const Attr> attrs(attr_stack_.data() + draft.first_attr,
                                    attr_stack_.size() - draft.first_attr);
  draft.instruction.attrs = module_.arena().copy(attrs);
  attr_stack_.resize(draft.first_attr);
  return true;
}

}  // namespace hlosim
