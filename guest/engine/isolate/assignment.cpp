#include "engine/isolate/assignment.hpp"

namespace tare::engine {

std::shared_ptr<kernel::Attachment> Assignment::for_child() const {
  if (context_ == nullptr) return nullptr;
  return std::make_shared<Assignment>(context_, nullptr);
}

void Assignment::count(Lookup lookup) {
  (lookup == Lookup::accepted ? accepted_ : lookup == Lookup::rejected ? rejected_ : missed_) += 1;
}

guest::CodeCacheUse Assignment::code_use() const {
  return {accepted_, rejected_, missed_, graphs_};
}

Assignment* assignment_of(const kernel::Process& process) {
  return static_cast<Assignment*>(process.attachment().get());
}

}  // namespace tare::engine
