#include "lab/gateway/output.hpp"

#include <algorithm>

namespace tare::lab_gateway {

void Tail::add(std::string_view more) {
  if (more.size() > bytes) more.remove_prefix(more.size() - bytes);
  // As much again is kept, so that what is cut off is moved seldom.
  if (kept_.size() + more.size() > 2 * bytes) kept_.erase(0, kept_.size() - std::min(kept_.size(), bytes));
  kept_ += more;
}

std::string_view Tail::last(std::size_t count) const {
  const std::string_view all = kept_;
  return all.substr(all.size() - std::min(all.size(), count));
}

std::string_view Tail::text() const {
  std::string_view text = last(bytes);
  if (text.size() == kept_.size()) return text;
  for (int i = 0; i < 3 && !text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0) == 0x80; ++i)
    text.remove_prefix(1);
  return text;
}

std::string Tail::lines(std::size_t count) const {
  const std::string_view all = text();
  std::size_t at = all.size();
  if (all.ends_with('\n')) --at;
  for (; count > 0 && at != std::string_view::npos; --count) at = at == 0 ? at - 1 : all.rfind('\n', at - 1);
  return std::string(all.substr(at == std::string_view::npos ? 0 : at + 1));
}

void Output::watch(std::string text) {
  const bool came = has_said(text);
  watched_.push_back({std::move(text), came});
}

void Output::add(From from, std::string_view more) {
  Tail& tail = from == From::out ? out_ : err_;
  tail.add(more);
  both_.add(more);
  for (Watched& watched : watched_) {
    // It may have begun in what came before.
    const std::size_t where = more.size() + watched.text.size() - 1;
    watched.came = watched.came || tail.last(where).find(watched.text) != std::string_view::npos;
  }
  if (from == From::out && !has_first_) add_to_first(more);
}

void Output::add_to_first(std::string_view more) {
  const std::size_t end = more.find('\n');
  first_ += more.substr(0, std::min(end, Tail::bytes - std::min(Tail::bytes, first_.size())));
  has_first_ = end != std::string_view::npos;
  if (has_first_ && first_.ends_with('\r')) first_.pop_back();
}

bool Output::has_said(std::string_view text) const {
  const auto known = std::ranges::find(watched_, text, &Watched::text);
  if (known != watched_.end()) return known->came;
  return out_.text().find(text) != std::string_view::npos || err_.text().find(text) != std::string_view::npos;
}

}  // namespace tare::lab_gateway
