#include "runtime/agents/names.hpp"

namespace tare::agents {

NameId Names::use(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) {
    names_[found->second].uses += 1;
    return found->second;
  }
  NameId id = 0;
  if (free_.empty()) {
    id = static_cast<NameId>(names_.grow());
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Name& name = names_[id];
  name.text = text;
  name.uses = 1;
  ids_.emplace(name.text, id);
  return id;
}

void Names::release(NameId id) {
  Name& name = names_[id];
  if (--name.uses > 0) return;
  ids_.erase(name.text);
  name = {};
  free_.push_back(id);
}

NameId Names::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? none : found->second;
}

}  // namespace tare::agents
