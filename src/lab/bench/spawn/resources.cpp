#include "lab/bench/spawn/resources.hpp"

#include <algorithm>
#include <string>

#include "lab/process/tree.hpp"

namespace tare::spawn {
namespace {

constexpr std::chrono::milliseconds look_every{1};

template <class T>
void raise(std::optional<T>& peak, const std::optional<T>& value) {
  if (value) peak = std::max(peak.value_or(*value), *value);
}

std::optional<Cpu> tree_cpu(pid_t root) {
  const auto usage = process::read_tree(root, process::TreeFields::cpu);
  if (!usage || !usage->cpu_user || !usage->cpu_system) return std::nullopt;
  return Cpu{*usage->cpu_user, *usage->cpu_system, 0};
}

double mean_ms(std::optional<double> earlier_mean, std::uint64_t earlier, std::chrono::microseconds sum,
               std::uint64_t count) {
  const double before = earlier_mean.value_or(0) * (earlier_mean ? static_cast<double>(earlier) : 0.0);
  const auto n = static_cast<double>(count + (earlier_mean ? earlier : 0));
  return (before + static_cast<double>(sum.count()) / 1000) / n;
}

void note(report::Resources& resources, const std::string& method) {
  auto& methods = resources.methods;
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) methods.push_back(method);
}

}  // namespace

void Costs::begin(pid_t driver) {
  at_begin_ = tree_cpu(driver);
  since_begin_ = 0;
}

void Costs::end(pid_t driver) {
  const std::optional<Cpu> now = tree_cpu(driver);
  if (!now || !at_begin_) {
    tree_readable_ = false;
    return;
  }
  tree_.operations += since_begin_;
  tree_.user += now->user - at_begin_->user;
  tree_.system += now->system - at_begin_->system;
}

void Costs::add(const driver::Sample& sample) {
  since_begin_ += 1;
  if (sample.resources) raise(max_rss_, sample.resources->max_rss_bytes);
  const bool known = sample.resources && sample.resources->cpu_user_us && sample.resources->cpu_system_us;
  if (!known) {
    samples_complete_ = false;
    return;
  }
  samples_.operations += 1;
  samples_.user += std::chrono::microseconds(*sample.resources->cpu_user_us);
  samples_.system += std::chrono::microseconds(*sample.resources->cpu_system_us);
}

void Costs::write(report::Resources& resources, std::uint64_t earlier) const {
  if (max_rss_) {
    raise(resources.max_rss_bytes, max_rss_);
    note(resources, "max RSS: largest ru_maxrss of wait4");
  }
  const bool exact = samples_complete_ && samples_.operations > 0;
  if (!exact && (!tree_readable_ || tree_.operations == 0)) {
    note(resources, "CPU n/a: the driver's process tree could not be read before and after the timed rounds");
    return;
  }
  const Cpu& cpu = exact ? samples_ : tree_;
  resources.cpu_user_ms = mean_ms(resources.cpu_user_ms, earlier, cpu.user, cpu.operations);
  resources.cpu_system_ms = mean_ms(resources.cpu_system_ms, earlier, cpu.system, cpu.operations);
  note(resources,
       exact
           ? "CPU: wait4 of every child, and the driver's own, mean per operation"
           : "CPU: /proc stat of the driver's tree over the timed rounds (10 ms ticks), mean per operation");
}

PeakWatch::PeakWatch(pid_t root)
    : root_(root), thread_([this](const std::stop_token& stop) {
        do {
          look();
          std::this_thread::sleep_for(look_every);
        } while (!stop.stop_requested());
      }) {}

void PeakWatch::look() {
  const auto usage = process::read_tree(root_, process::TreeFields::all);
  if (!usage) return;
  raise(peaks_.max_rss_bytes, usage->largest_child_peak_bytes);
  raise(peaks_.pss_bytes, usage->pss_bytes);
  raise(peaks_.threads, std::optional(usage->threads));
  raise(peaks_.fds, usage->fds);
}

void PeakWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void PeakWatch::write(report::Resources& resources) const {
  raise(resources.pss_bytes, peaks_.pss_bytes);
  raise(resources.threads, peaks_.threads);
  raise(resources.fds, peaks_.fds);
  note(resources,
       "PSS, threads, fds: peaks of the driver's process tree in untimed operations, read every 1 ms");
  if (resources.max_rss_bytes) return;  // the driver knew it exactly
  resources.max_rss_bytes = peaks_.max_rss_bytes;
  note(resources, peaks_.max_rss_bytes
                      ? "max RSS: largest VmHWM below the driver in untimed operations, read every 1 ms"
                      : "max RSS n/a: no process of the operation was seen; it had none, or each ended "
                        "between two looks");
}

}  // namespace tare::spawn
