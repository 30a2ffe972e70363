#pragma once

#include "engine/bindings/crypto.hpp"
#include "engine/kernel/process.hpp"

/// Work that may take long: it is prepared on the guest's thread, where it is refused if it makes no sense,
/// then done there or on a worker, without V8.
namespace tare::engine::crypto {

class Job {
 public:
  /// `failure` is what is said when OpenSSL says nothing.
  Job(v8::Isolate* isolate, std::string_view failure);
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Any thread, once. Ends early when nobody wants the result any more.
  void work();

  /// The guest is gone, or has forgotten it.
  void cancel() { cancelled_.store(true); }
  bool wanted() const { return !cancelled_.load() && (process_ == nullptr || !process_->kill_requested()); }

  bool good() const { return good_; }
  const ByteVector& result() const { return result_; }
  std::vector<std::string> take_job_errors() { return std::move(errors_); }

 protected:
  /// Fills result(). False when it went wrong; OpenSSL's errors are kept.
  virtual bool run(ByteVector& result) = 0;

 private:
  const std::string failure_;
  const std::shared_ptr<kernel::Process> process_;
  std::atomic<bool> cancelled_{false};
  bool good_ = false;
  ByteVector result_;
  std::vector<std::string> errors_;
};

/// Gives JavaScript the job, which weighs as much as the memory that it has and will need.
void give_job(const Arguments& args, std::shared_ptr<Job> job, std::size_t weight);

/// HMAC of one message; empty when it fails.
ByteVector hmac(const EVP_MD* digest, ByteSpan key, std::initializer_list<ByteSpan> message);

constexpr std::string_view deriving_failed = "Deriving bits failed";
constexpr std::string_view cipher_failed = "Cipher job failed";

}  // namespace tare::engine::crypto
