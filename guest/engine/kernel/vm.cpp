#include "engine/kernel/vm.hpp"

#include <utility>

namespace tare::kernel {

std::shared_ptr<Vm> Vm::create(Options options, const Clock& clock, std::shared_ptr<Runner> runner) {
  return std::make_shared<Vm>(Key(), std::move(options), clock, std::move(runner));
}

Vm::Vm(Key, Options options, const Clock& clock, std::shared_ptr<Runner> runner)
    : options_(std::move(options)),
      clock_(clock),
      counters_(std::make_shared<Counters>()),
      files_(FileSystem::create(options_.limits, clock, counters_)),
      processes_(*this, std::move(runner)) {}

Synced Vm::take_synced() {
  const std::lock_guard lock(mutex_);
  return std::exchange(synced_, {});
}

void Vm::add_synced(Synced synced) {
  const std::lock_guard lock(mutex_);
  synced_.add(std::move(synced));
}

std::size_t Vm::dispose(const std::string& reason) {
  return processes_.shut_down(reason);
}

}  // namespace tare::kernel
