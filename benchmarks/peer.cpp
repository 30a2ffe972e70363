#include "peer.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/driver/registry.hpp"
#include "lab/driver/workload.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto peer_answer_limit = std::chrono::seconds(30);
constexpr auto peer_leave_limit = std::chrono::seconds(3);

process::SpawnOptions with_pipes(std::vector<std::string> argv) {
  process::SpawnOptions options;
  options.argv = std::move(argv);
  options.in = options.out = options.err = process::Stdio::pipe();
  return options;
}

}  // namespace

Peer::Peer(std::vector<std::string> argv)
    : name_(std::filesystem::path(argv.at(0)).filename()),
      child_(process::spawn(with_pipes(std::move(argv)))),
      lines_(child_) {}

Peer::~Peer() {
  lines_.close_input();
  try {
    child_.wait_exit(SystemClock().now() + peer_leave_limit);
  } catch (const Error&) {
    return;  // it cannot be waited for: then it is killed
  }
}

std::string Peer::ask(std::string_view line) {
  const Instant deadline = SystemClock().now() + peer_answer_limit;
  lines_.write_line(line, deadline);
  process::Lines::Read read = lines_.read_line(deadline);
  if (read.status != process::Lines::Status::ok)
    throw Error(ErrorCode::failed, name_ + " did not answer", text::tail(lines_.stderr_tail(), 2, 200));
  return std::move(read.text);
}

std::string spawner_path() {
  return file::lib_folder() / "tare-spawner";
}

std::string tare_path() {
  return file::lib_folder().parent_path().parent_path() / "bin" / "tare";
}

driver::DriverCommand spawner(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), spawner_path());
  return {"tare-spawner", std::move(arguments), {}, {}};
}

driver::DriverCommand target_command(const std::string& name, std::string_view bench,
                                     const std::vector<std::string>& arguments) {
  driver::RegistryOptions options;
  options.bench = bench;
  driver::TargetSpec target = driver::parse_target(name, options);
  if (target.unavailable) throw target.unavailable_error();
  target.driver.insert(target.driver.end(), arguments.begin(), arguments.end());
  return {
      target.id, std::move(target.driver), {{driver::node_variable, driver::node_program({}).string()}}, {}};
}

driver::Driver start_target(const std::string& name) {
  return driver::Driver(target_command(name, driver::spawn_bench));
}

std::vector<driver::Sample> take(driver::Driver& driver, const std::string& row, std::int64_t iterations) {
  driver::SampleRequest request;
  request.row = row;
  request.iterations = iterations;
  std::vector<driver::Sample> samples = driver.sample(request);
  for (const driver::Sample& sample : samples) {
    if (sample.outcome != driver::Outcome::ok || sample.counter("exitCode") != 0)
      throw Error(ErrorCode::failed, "a process of " + row + " did not end with exit code 0",
                  sample.error.value_or(""));
  }
  return samples;
}

}  // namespace tare::benchmarks
