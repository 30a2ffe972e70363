// holding_lab SPAWNER MEGABYTES: a lab that holds that many megabytes of samples and then starts the floor
// driver, as a run does before each row. Each line on stdin takes one sample of exec_true; the answer is
// "<nanoseconds> <peak memory of the process in bytes>".

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lab/driver/driver.hpp"

namespace {

int serve(const std::string& spawner, std::size_t megabytes) {
  // Filled, so that every page is there.
  std::vector<double> samples(megabytes * (std::size_t{1} << 20) / sizeof(double), 1.5);
  tare::driver::Driver driver({"spawner", {spawner, "--lane", "sh"}, {}, {}});
  tare::driver::SampleRequest request;
  request.row = "exec_true";
  std::size_t taken = 0;
  std::string line;
  while (std::getline(std::cin, line)) {
    const tare::driver::Sample sample = driver.sample(request).front();
    if (sample.outcome != tare::driver::Outcome::ok || sample.counter("exitCode") != 0) return EXIT_FAILURE;
    const double total = sample.metric("total").value();
    const auto rss = sample.resources.value().max_rss_bytes.value();
    if (!samples.empty()) samples[taken++ % samples.size()] = total;
    std::cout << static_cast<long long>(total) << ' ' << rss << std::endl;
  }
  driver.bye();
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const auto megabytes = argc == 3 ? tare::text::to_int(argv[2]) : std::nullopt;
  if (!megabytes || *megabytes < 0) {
    std::cerr << "Usage: holding_lab SPAWNER MEGABYTES\n";
    return tare::exit_usage;
  }
  try {
    return serve(argv[1], static_cast<std::size_t>(*megabytes));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
