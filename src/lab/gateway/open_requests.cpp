#include "lab/gateway/open_requests.hpp"

#include <algorithm>
#include <charconv>

namespace tare::lab_gateway {

OpenRequest& OpenRequests::add() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slots_[slot].id = (++serial_ << slot_bits) | slot;
  return slots_[slot];
}

OpenRequest* OpenRequests::find(std::uint64_t id) {
  const std::uint64_t slot = id & ((std::uint64_t{1} << slot_bits) - 1);
  return id != 0 && slot < slots_.size() && slots_[slot].id == id ? &slots_[slot] : nullptr;
}

OpenRequest* OpenRequests::find(std::string_view id) {
  std::uint64_t number = 0;
  const char* const end = id.data() + id.size();
  const auto [stop, failure] = std::from_chars(id.data(), end, number);
  return failure == std::errc{} && stop == end ? find(number) : nullptr;
}

void OpenRequests::remove(OpenRequest& request) {
  request.id = 0;
  request.answered = nullptr;
  request.given_up.reset();
  free_.push_back(static_cast<std::uint32_t>(&request - slots_.data()));
}

std::vector<std::uint64_t> OpenRequests::due(Instant now) const {
  std::vector<std::uint64_t> ids;
  for (const OpenRequest& request : slots_) {
    if (request.id != 0 && !request.given_up && request.until <= now) ids.push_back(request.id);
  }
  return ids;
}

Instant OpenRequests::next_due() const {
  Instant next = Instant::max();
  for (const OpenRequest& request : slots_) {
    if (request.id != 0 && !request.given_up) next = std::min(next, request.until);
  }
  return next;
}

}  // namespace tare::lab_gateway
