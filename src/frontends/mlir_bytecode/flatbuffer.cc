#include "mlir_bytecode/flatbuffer.h"

namespace hlosim::mlir {

size_t FlatTable::follow(size_t at) const {
  const size_t to = at + load<uint32_t>(at);
  if (to == at || to >= file_.size()) {
    fault_->set(at, "a part of the file is beyond its end");
    return 0;
  }
  return to;
}

FlatTable FlatTable::root(std::string_view file, Fault& fault) {
  FlatTable made(file, fault, 0);
  made.at_ = made.follow(0);
  return made;
}

/// A table begins with the way back to the list of its fields: its size, the table's, and where each field
/// is.
size_t FlatTable::field_at(size_t field) const {
  if (at_ == 0) return 0;
  const int64_t fields = static_cast<int64_t>(at_) - load<int32_t>(at_);
  if (fields < 0 || static_cast<size_t>(fields) >= file_.size()) {
    fault_->set(at_, "a table whose fields are outside the file");
    return 0;
  }
  const auto begin = static_cast<size_t>(fields);
  const size_t place = 4 + 2 * field;
  if (place + 2 > load<uint16_t>(begin)) return 0;
  const auto offset = load<uint16_t>(begin + place);
  return offset == 0 ? 0 : at_ + offset;
}

std::string_view FlatTable::list_at(size_t at, size_t width) const {
  if (at == 0) return {};
  if (file_.size() < 4 || at > file_.size() - 4) {
    fault_->set(at, "a list that is beyond the end of the file");
    return {};
  }
  const size_t size = size_t{load<uint32_t>(at)} * width;
  if (size > file_.size() - std::min(file_.size(), at + 4)) {
    fault_->set(at, "a list that is longer than the file");
    return {};
  }
  return file_.substr(at + 4, size);
}

FlatTable FlatTable::table(size_t field) const {
  const size_t at = field_at(field);
  return FlatTable(file_, *fault_, at == 0 ? 0 : follow(at));
}

std::string_view FlatTable::bytes(size_t field, size_t width) const {
  const size_t at = field_at(field);
  return at == 0 ? std::string_view{} : list_at(follow(at), width);
}

size_t FlatTable::count(size_t field) const { return bytes(field, 4).size() / 4; }

FlatTable FlatTable::table_of(size_t field, size_t index) const {
  const std::string_view all = bytes(field, 4);
  if ((index + 1) * 4 > all.size()) return FlatTable(file_, *fault_, 0);
  return FlatTable(file_, *fault_, follow(static_cast<size_t>(all.data() - file_.data()) + index * 4));
}

std::string_view FlatTable::text_of(size_t field, size_t index) const {
  const std::string_view all = bytes(field, 4);
  if ((index + 1) * 4 > all.size()) return {};
  return list_at(follow(static_cast<size_t>(all.data() - file_.data()) + index * 4), 1);
}

}  // namespace hlosim::mlir
