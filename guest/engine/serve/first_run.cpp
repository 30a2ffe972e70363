#include "engine/serve/first_run.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <node_version.h>
#include <string>

#include "base/clock.hpp"
#include "engine/isolate/isolate.hpp"
#include "engine/isolate/pool.hpp"
#include "engine/kernel/vm.hpp"
#include "engine/modules/code_cache.hpp"

namespace tare::engine {

std::filesystem::path code_beside(const std::filesystem::path& snapshot) {
  return snapshot.parent_path() / "code";
}

void make_code(const std::filesystem::path& path) {
  const PackText* program = engine().pack->find("tare/first_run");
  if (program == nullptr) return;
  const SystemClock clock;
  const auto pool = std::make_shared<Pool>(0);
  const auto vm = kernel::Vm::create({{}, kernel::allow_all}, clock, pool);
  kernel::SpawnRequest request;
  request.argv = {"node", "-e", std::string(program->data(), program->length())};
  request.env = {{"PATH", "/usr/bin:/bin"}};
  request.cwd = "/tmp";
  request.stdio.resize(3);
  request.run_time = std::chrono::seconds(20);
  const auto ended = std::make_shared<std::promise<void>>();
  request.on_exit = [ended](int, const kernel::Exit&) { ended->set_value(); };
  if (!vm->processes().create(nullptr, std::move(request)).ok()) return;
  ended->get_future().wait();
  // The threads hand their code over when their processes have ended.
  if (!pool->shut_down(std::chrono::steady_clock::now() + std::chrono::seconds(20))) return;
  code_cache().save(path, NODE_VERSION);
}

}  // namespace tare::engine
