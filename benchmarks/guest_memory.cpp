#include <algorithm>
#include <cmath>
#include <thread>

#include <fmt/format.h>

#include "guest_lanes.hpp"
#include "lab/measure/summary.hpp"
#include "runtime/guest_driver/scripts.hpp"

namespace tare::benchmarks {
namespace {

constexpr std::size_t engines = 5;
constexpr int guests_each = 32;
constexpr auto guest_memory_answer_limit = std::chrono::seconds(30);

// The pool fills and heaps are tidied a moment later: memory counts once it is steady.
constexpr auto steady_window = std::chrono::milliseconds(200);
constexpr double steady_mb = 0.5;
constexpr int steady_windows = 40;

double steady_pss_mb(Guests& guests) {
  double before = guests.pss_mb();
  for (int i = 0; i < steady_windows; ++i) {
    std::this_thread::sleep_for(steady_window);
    const double after = guests.pss_mb();
    if (std::abs(after - before) <= steady_mb) return after;
    before = after;
  }
  return before;
}

void wait_until_up(guest::Execution& guest) {
  const auto event = guest.poll_event(SystemClock().now() + guest_memory_answer_limit);
  const auto* out = event ? std::get_if<guest::Stdout>(&*event) : nullptr;
  if (out == nullptr || out->bytes != "up\n") throw Broken("a guest that should stay did not say so");
}

/// What each of many guests adds to an engine whose pool is full before and after, and that has run one.
double mb_per_guest() {
  Guests guests;
  guest::Execution first = guests.start(guest_driver::exit_script);
  expect_success(first);
  guests.settle();
  const double before = steady_pss_mb(guests);
  std::vector<guest::Execution> staying;
  for (int i = 0; i < guests_each; ++i)
    staying.push_back(guests.start(guest_driver::stay_script, guest::Stdio::pipe));
  for (guest::Execution& guest : staying) wait_until_up(guest);
  guests.settle(guests_each);
  const double with_guests = steady_pss_mb(guests);
  guests.settle(guests_each);  // none has left meanwhile
  return (with_guests - before) / guests_each;
}

Measurement measure_memory() {
  std::vector<double> figures;
  for (std::size_t i = 0; i < engines; ++i) figures.push_back(mb_per_guest());
  std::sort(figures.begin(), figures.end());
  return {figures[engines / 2],
          {},
          {},
          {},
          fmt::format("median of {} engines with {} guests each; {:.2f} to {:.2f} MB", engines, guests_each,
                      figures.front(), figures.back()),
          {}};
}

}  // namespace

Benchmark guest_memory() {
  return {{"guest.memory", "proportional memory (PSS) of a guest that lives", "MB", Judged::size, {{}, 3.5}},
          measure_memory};
}

}  // namespace tare::benchmarks
