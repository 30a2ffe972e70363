#include "runtime/agents/pipeline.hpp"

#include <exception>

namespace tare::agents {

Task<RunId> spawn(Registry& registry, Admission& admission, Backend& backend, NewRun run, Decide decide,
                  Started started) {
  auto admitted = admission.reserve({run.controller, run.child, run.group}, decide);
  if (auto* refusal = std::get_if<Refusal>(&admitted)) throw Refused(std::move(*refusal));
  // Held by this frame: however the coroutine ends, the slot is free again.
  const Reservation reservation = std::get<Reservation>(std::move(admitted));
  auto phase = SpawnPhase::initialize;
  std::exception_ptr failure;
  try {
    co_await backend.initialize(run);
    phase = SpawnPhase::dispatch;
    co_await backend.dispatch(run);
    phase = SpawnPhase::registration;
    const RunId id = co_await registry.add(run);
    try {
      if (started) started(id);
    } catch (...) {  // a report of progress never undoes the work
    }
    co_return id;
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    co_await backend.clean_up(run, phase);
  } catch (...) {  // the first failure counts
  }
  std::rethrow_exception(failure);
}

}  // namespace tare::agents
