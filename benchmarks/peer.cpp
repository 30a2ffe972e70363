#include "peer.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace tare::benchmarks {
namespace {

constexpr auto answer_limit = std::chrono::seconds(30);

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

std::string Peer::ask(std::string_view line) {
  const Instant deadline = SystemClock().now() + answer_limit;
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
