#include "runtime/agents/task.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <boost/asio/post.hpp>

namespace tare::agents {
namespace detail {
namespace {

constexpr std::size_t step = 64;
constexpr std::size_t classes = 48;      ///< up to 3 KB; larger frames are rare
constexpr std::size_t most_kept = 1024;  ///< of each class

/// Free frames by size, each holding the next in its first bytes.
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (List& list : lists_) {
      while (list.first != nullptr) ::operator delete(std::exchange(list.first, list.first->next));
    }
  }

  void* take(std::size_t size) {
    const std::size_t index = (size + step - 1) / step;
    if (index >= classes) return ::operator new(size);
    List& list = lists_[index];
    if (list.first == nullptr) return ::operator new(index * step);
    --list.kept;
    return std::exchange(list.first, list.first->next);
  }

  void give_back(void* frame, std::size_t size) noexcept {
    const std::size_t index = (size + step - 1) / step;
    if (index >= classes || lists_[index].kept == most_kept) {
      ::operator delete(frame);
      return;
    }
    List& list = lists_[index];
    ++list.kept;
    list.first = ::new (frame) Free{list.first};
  }

 private:
  struct Free {
    Free* next;
  };
  struct List {
    Free* first = nullptr;
    std::size_t kept = 0;
  };
  std::array<List, classes> lists_;
};

[[maybe_unused]] Pool& pool() {
  thread_local Pool of_this_thread;
  return of_this_thread;
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// A pool would hide the use of a frame that is gone.
void* take_frame(std::size_t size) {
  return ::operator new(size);
}

void give_frame_back(void* frame, std::size_t) noexcept {
  ::operator delete(frame);
}
#else
void* take_frame(std::size_t size) {
  return pool().take(size);
}

void give_frame_back(void* frame, std::size_t size) noexcept {
  pool().give_back(frame, size);
}
#endif

}  // namespace detail

void Loop::resume_later(std::coroutine_handle<> handle) {
  ready_.push_back(handle);
  if (posted_) return;
  posted_ = true;
  asio::post(io_, [this] { run_ready(); });
}

void Loop::run_ready() {
  posted_ = false;
  std::vector<std::coroutine_handle<>> ready = std::exchange(ready_, {});
  for (std::size_t i = 0; i < ready.size(); ++i) {
    try {
      ready[i].resume();
    } catch (...) {
      // The end of a task threw: the others are still to be resumed.
      for (std::size_t rest = i + 1; rest < ready.size(); ++rest) resume_later(ready[rest]);
      throw;
    }
  }
  if (ready_.empty()) {  // its memory is used again
    ready.clear();
    ready_ = std::move(ready);
  }
}

void Loop::abandon() {
  ready_.clear();
  while (roots_ != nullptr) std::coroutine_handle<Root::promise_type>::from_promise(*roots_).destroy();
}

}  // namespace tare::agents
