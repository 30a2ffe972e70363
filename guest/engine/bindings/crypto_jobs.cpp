#include "engine/bindings/crypto_jobs.hpp"

#include <algorithm>
#include <cstring>
#include <openssl/rand.h>
#include <utility>

#include <climits>

#include "engine/isolate/guest.hpp"
#include "engine/isolate/workers.hpp"

namespace tare::engine::crypto {
namespace {

/// OpenSSL can't be stopped within one step of its search, and a step with more bits takes minutes.
constexpr int most_prime_bits = 16384;
constexpr std::size_t job_weight = 512;

class HeldJob final : public Held {
 public:
  static constexpr Kind held_kind = Kind::job;
  explicit HeldJob(std::shared_ptr<Job> job) : Held(held_kind), job(std::move(job)) {}
  ~HeldJob() override {
    if (job != nullptr) job->cancel();
  }
  std::shared_ptr<Job> job;  ///< null once it is done
};

/// [error, result]
v8::Local<v8::Value> outcome(v8::Isolate* isolate, Job& job) {
  v8::Local<v8::Value> both[] = {v8::Undefined(isolate), v8::Undefined(isolate)};
  if (!job.good()) {
    both[0] = job_error(isolate, job.take_job_errors());
  } else {
    v8::Local<v8::ArrayBuffer> buffer;
    if (!make_memory(isolate, job.result().size()).ToLocal(&buffer)) return {};
    if (!job.result().empty()) std::memcpy(buffer->Data(), job.result().data(), job.result().size());
    both[1] = buffer;
  }
  return v8::Array::New(isolate, both, std::size(both));
}

/// jobRun(job): [error, result]
void job_run(const Arguments& args) {
  HeldJob* held = held_as<HeldJob>(args[0]);
  if (held == nullptr || held->job == nullptr) return throw_bad_call(args.GetIsolate());
  const std::shared_ptr<Job> job = std::move(held->job);
  job->work();
  const v8::Local<v8::Value> both = outcome(args.GetIsolate(), *job);
  held->weigh_nothing();
  if (!both.IsEmpty()) args.GetReturnValue().Set(both);
}

/// A job on a worker, as the guest's thread knows it. Once this is gone nobody waits for the job.
class InFlight {
 public:
  InFlight(v8::Isolate* isolate, v8::Local<v8::Value> handle, v8::Local<v8::Function> done)
      : job_(std::move(held_as<HeldJob>(handle)->job)), handle_(isolate, handle), done_(isolate, done) {}
  ~InFlight() { job_->cancel(); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  const std::shared_ptr<Job>& job() const { return job_; }

  void finish(Realm& realm) {
    v8::Isolate* isolate = realm.isolate();
    v8::Local<v8::Value> arguments[1];
    {
      const v8::TryCatch caught(isolate);
      arguments[0] = outcome(isolate, *job_);
      if (arguments[0].IsEmpty()) {
        if (!caught.HasCaught() || caught.HasTerminated()) return;
        v8::Local<v8::Value> only[] = {caught.Exception()};
        arguments[0] = v8::Array::New(isolate, only, 1);
      }
    }
    held_as<HeldJob>(handle_.Get(isolate))->weigh_nothing();
    realm.call(done_.Get(isolate), arguments);
  }

 private:
  const std::shared_ptr<Job> job_;
  const v8::Global<v8::Value> handle_;  ///< has the weight of the job
  const v8::Global<v8::Function> done_;
};

/// jobStart(job, done): done([error, result]) is called in a later turn of the loop.
void job_start(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  const HeldJob* held = held_as<HeldJob>(args[0]);
  Guest* guest = guest_of(isolate);
  if (held == nullptr || held->job == nullptr || guest == nullptr || !args[1]->IsFunction())
    return throw_bad_call(isolate);
  const auto flight = std::make_shared<InFlight>(isolate, args[0], args[1].As<v8::Function>());
  in_background(
      *guest, [job = flight->job()] { job->work(); }, [flight, guest] { flight->finish(guest->realm()); });
}

// --- Random bytes
// -----------------------------------------------------------------------------------------------

/// In pieces, so that a kill is heard.
template <class Wanted>
bool fill_random(std::span<std::uint8_t> to, const Wanted& wanted) {
  constexpr std::size_t piece = std::size_t{1} << 20;
  while (!to.empty() && wanted()) {
    const std::size_t size = std::min(to.size(), piece);
    if (RAND_bytes(to.data(), static_cast<int>(size)) != 1) return false;
    to = to.subspan(size);
  }
  return true;
}

class RandomJob final : public Job {
 public:
  RandomJob(v8::Isolate* isolate, std::size_t size, std::string_view failure)
      : Job(isolate, failure), size_(size) {}

 protected:
  bool run(ByteVector& result) override {
    result.resize(size_);
    return fill_random(result, [this] { return wanted(); });
  }

 private:
  const std::size_t size_;
};

/// The part of a buffer that two numbers name; nothing, with an error thrown, if there is no such part.
std::optional<std::span<std::uint8_t>> part_of(const Arguments& args, int at) {
  const std::span<std::uint8_t> memory = memory_of(args[at]);
  if (args[at + 1]->IsUint32() && args[at + 2]->IsUint32()) {
    const std::size_t offset = args[at + 1].As<v8::Uint32>()->Value();
    const std::size_t size = args[at + 2].As<v8::Uint32>()->Value();
    if (offset <= memory.size() && size <= memory.size() - offset) return memory.subspan(offset, size);
  }
  throw_out_of_range(args.GetIsolate(), "buffer is too large");
  return std::nullopt;
}

/// randomFill(buffer, offset, size): at once. Undefined, or the error.
void random_fill(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  const auto part = part_of(args, 0);
  if (!part.has_value()) return;
  if (!fill_random(*part, [isolate] { return !at_end(isolate); }))
    args.GetReturnValue().Set(job_error(isolate, take_errors()));
}

/// copyTo(buffer, offset, size, bytes): as many as fit; the buffer may have become shorter, or nothing.
void copy_to(const Arguments& args) {
  const std::span<std::uint8_t> memory = memory_of(args[0]);
  const Bytes bytes(args[3]);
  if (!args[1]->IsUint32() || memory.size() <= args[1].As<v8::Uint32>()->Value()) return;
  const std::span<std::uint8_t> to = memory.subspan(args[1].As<v8::Uint32>()->Value());
  std::ranges::copy(bytes.span().first(std::min(bytes.size(), to.size())), to.begin());
}

/// jobRandom(size, isKey)
void job_random(const Arguments& args) {
  if (!args[0]->IsUint32()) return throw_bad_call(args.GetIsolate());
  const std::uint32_t size = args[0].As<v8::Uint32>()->Value();
  if (size > INT_MAX) return throw_out_of_range(args.GetIsolate(), "buffer is too large");
  give_job(args,
           std::make_shared<RandomJob>(args.GetIsolate(), size,
                                       args[1]->IsTrue() ? "Key generation job failed" : deriving_failed),
           size);
}

// --- Primes
// -----------------------------------------------------------------------------------------------------

Bignum to_bignum(v8::Local<v8::Value> value) {
  const Bytes bytes(value);
  if (bytes.size() > most_prime_bits / CHAR_BIT * 2) return {};
  static constexpr std::uint8_t nothing = 0;
  return Bignum(
      BN_bin2bn(bytes.size() == 0 ? &nothing : bytes.data(), static_cast<int>(bytes.size()), nullptr));
}

using BignumContext = std::unique_ptr<BN_CTX, Free<BN_CTX_free>>;
using Callback = std::unique_ptr<BN_GENCB, Free<BN_GENCB_free>>;

/// OpenSSL asks it between two steps whether to go on.
Callback stopper(Job* job) {
  Callback callback(BN_GENCB_new());
  if (callback != nullptr) {
    BN_GENCB_set(
        callback.get(),
        [](int, int, BN_GENCB* self) { return static_cast<Job*>(BN_GENCB_get_arg(self))->wanted() ? 1 : 0; },
        job);
  }
  return callback;
}

enum class Safe : std::uint8_t { no, yes };

class PrimeJob final : public Job {
 public:
  PrimeJob(v8::Isolate* isolate, int bits, Safe safe, Bignum add, Bignum rem)
      : Job(isolate, deriving_failed), bits_(bits), safe_(safe), add_(std::move(add)), rem_(std::move(rem)) {}

 protected:
  bool run(ByteVector& result) override {
    const Bignum prime(BN_new());
    const Callback callback = stopper(this);
    const BignumContext context(BN_CTX_new());
    if (prime == nullptr || callback == nullptr || context == nullptr ||
        BN_generate_prime_ex2(prime.get(), bits_, safe_ == Safe::yes ? 1 : 0, add_.get(), rem_.get(),
                              callback.get(), context.get()) != 1)
      return false;
    result.resize(static_cast<std::size_t>(BN_num_bytes(prime.get())));
    return BN_bn2binpad(prime.get(), result.data(), static_cast<int>(result.size())) >= 0;
  }

 private:
  const int bits_;
  const Safe safe_;
  const Bignum add_;
  const Bignum rem_;
};

/// Whether there can be a prime that is rem modulo add; OpenSSL would search for ever.
bool can_be_prime(const BIGNUM* add, const BIGNUM* rem, Safe safe) {
  const BignumContext context(BN_CTX_new());
  const Bignum common(BN_new());
  const Bignum rest(BN_new());
  if (context == nullptr || common == nullptr || rest == nullptr) return false;
  if (rem != nullptr ? BN_copy(rest.get(), rem) == nullptr
                     : BN_set_word(rest.get(), safe == Safe::yes ? 3 : 1) != 1)
    return false;
  if (BN_gcd(common.get(), add, rest.get(), context.get()) != 1 || !BN_is_one(common.get())) return false;
  if (safe == Safe::no) return true;
  // Half of what is one less must be a prime, too.
  if (BN_sub_word(rest.get(), 1) != 1 || BN_gcd(common.get(), add, rest.get(), context.get()) != 1)
    return false;
  while (!BN_is_zero(common.get()) && !BN_is_odd(common.get())) BN_rshift1(common.get(), common.get());
  return BN_is_one(common.get());
}

/// jobPrime(bits, safe, add, rem)
void job_prime(const Arguments& args) {
  const CleanErrors clean;
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[0]->IsUint32()) return throw_bad_call(isolate);
  const std::uint32_t bits = args[0].As<v8::Uint32>()->Value();
  Bignum add;
  Bignum rem;
  if (!args[2]->IsUndefined() && (add = to_bignum(args[2])) == nullptr)
    return throw_out_of_range(isolate, "invalid options.add");
  if (!args[3]->IsUndefined() && (rem = to_bignum(args[3])) == nullptr)
    return throw_out_of_range(isolate, "invalid options.rem");
  if (bits > INT_MAX) return throw_out_of_range(isolate, "invalid size");
  const Safe safe = args[1]->IsTrue() ? Safe::yes : Safe::no;
  if (add != nullptr) {
    if (static_cast<std::uint32_t>(BN_num_bits(add.get())) > bits)
      return throw_out_of_range(isolate, "invalid options.add");
    if (rem != nullptr && BN_cmp(add.get(), rem.get()) != 1)
      return throw_out_of_range(isolate, "invalid options.rem");
    if (!can_be_prime(add.get(), rem.get(), safe)) return throw_out_of_range(isolate, "invalid options.rem");
  }
  if (bits > most_prime_bits) return throw_out_of_range(isolate, "invalid size");
  give_job(args,
           std::make_shared<PrimeJob>(isolate, static_cast<int>(bits), safe, std::move(add), std::move(rem)),
           std::size_t{bits} / 2);
}

class PrimeCheck final : public Job {
 public:
  PrimeCheck(v8::Isolate* isolate, Bignum candidate, int checks)
      : Job(isolate, deriving_failed), candidate_(std::move(candidate)), checks_(checks) {}

 protected:
  bool run(ByteVector& result) override {
    const BignumContext context(BN_CTX_new());
    const Callback callback = stopper(this);
    if (context == nullptr || callback == nullptr) return false;
    const int answer = BN_is_prime_ex(candidate_.get(), checks_, context.get(), callback.get());
    result.push_back(answer == 1 ? 1 : 0);
    return answer >= 0;
  }

 private:
  const Bignum candidate_;
  const int checks_;
};

/// jobPrimeCheck(candidate, checks): the result is one byte, 1 for a prime.
void job_prime_check(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  if (!args[1]->IsUint32() || args[1].As<v8::Uint32>()->Value() > INT_MAX)
    return throw_out_of_range(isolate, "invalid options.checks");
  const Bytes bytes(args[0]);
  if (bytes.size() > most_prime_bits / CHAR_BIT) return throw_out_of_range(isolate, "invalid candidate");
  Bignum candidate = to_bignum(args[0]);
  if (candidate == nullptr) return throw_out_of_range(isolate, "invalid candidate");
  give_job(args,
           std::make_shared<PrimeCheck>(isolate, std::move(candidate),
                                        static_cast<int>(args[1].As<v8::Uint32>()->Value())),
           bytes.size());
}

constexpr Native crypto_jobs_natives[] = {
    {"jobRun", job_run},
    {"jobStart", job_start},
    {"randomFill", random_fill},
    {"copyTo", copy_to},
    {"jobRandom", job_random},
    {"jobPrime", job_prime},
    {"jobPrimeCheck", job_prime_check},
};

}  // namespace

Job::Job(v8::Isolate* isolate, std::string_view failure)
    : failure_(failure),
      process_(guest_of(isolate) == nullptr ? nullptr : guest_of(isolate)->shared_process()) {}

void Job::work() {
  const CleanErrors clean;
  try {
    good_ = run(result_);
  } catch (const std::exception&) {
    good_ = false;  // no memory
  }
  if (good_) return;
  errors_ = take_errors();
  if (errors_.empty()) errors_.push_back(failure_);
}

void give_job(const Arguments& args, std::shared_ptr<Job> job, std::size_t weight) {
  v8::Local<v8::ArrayBuffer> handle;
  if (hold(args.GetIsolate(), std::make_unique<HeldJob>(std::move(job)), weight + job_weight)
          .ToLocal(&handle))
    args.GetReturnValue().Set(handle);
}

ByteVector hmac(const EVP_MD* digest, ByteSpan key, std::initializer_list<ByteSpan> message) {
  const HmacContext context(HMAC_CTX_new());
  const void* bytes = key.empty() ? static_cast<const void*>("") : key.data();
  if (context == nullptr ||
      HMAC_Init_ex(context.get(), bytes, static_cast<int>(key.size()), digest, nullptr) != 1)
    return {};
  for (const ByteSpan part : message) {
    if (!part.empty() && HMAC_Update(context.get(), part.data(), part.size()) != 1) return {};
  }
  ByteVector result(EVP_MAX_MD_SIZE);
  unsigned int length = 0;
  if (HMAC_Final(context.get(), result.data(), &length) != 1) return {};
  result.resize(length);
  return result;
}

std::span<const Native> job_natives() {
  return crypto_jobs_natives;
}

}  // namespace tare::engine::crypto
