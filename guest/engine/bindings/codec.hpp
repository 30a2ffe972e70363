#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/isolate/isolate.hpp"
#include "engine/isolate/native_objects.hpp"

/// Streams of the binding `zlib`: zlib, brotli and zstd as the host Node has them, without V8.
namespace tare::engine {

/// The memory of one stream, out of the budget of the process. On one thread at a time; what is left is freed
/// with it.
class CodecMemory {
 public:
  explicit CodecMemory(std::shared_ptr<Buffers> budget) : budget_(std::move(budget)) {}
  ~CodecMemory() { clear(); }
  CodecMemory(const CodecMemory&) = delete;
  CodecMemory& operator=(const CodecMemory&) = delete;

  /// Null beyond the budget.
  void* allocate(std::size_t size);
  void release(void* memory);
  void clear();
  std::size_t used() const { return used_; }

 private:
  struct Block;

  const std::shared_ptr<Buffers> budget_;
  Block* first_ = nullptr;
  std::size_t used_ = 0;
};

/// What the library reports to the program.
struct CodecError {
  std::string message;
  std::string code;
  int number = -1;
};

/// One stream. Used by one thread at a time: the guest's, or a worker while `busy`.
class Codec : public NativeObject {
 public:
  explicit Codec(std::shared_ptr<Buffers> budget) : memory_(std::move(budget)) {}

  using Input = std::span<const std::uint8_t>;
  using Output = std::span<std::uint8_t>;

  /// Takes what it can of `in` and writes to `out`, as far as that goes; then says what is left of both.
  struct Left {
    std::size_t in;
    std::size_t out;
  };
  virtual Left work(int flush, Input in, Output out) = 0;
  /// What was wrong with the last work().
  virtual std::optional<CodecError> error() const = 0;
  virtual std::optional<CodecError> reset() = 0;
  /// Changes what zlib calls level and strategy. `left` is of the last work() when its output is still there
  /// and takes what has to be written first; null when it isn't.
  virtual std::optional<CodecError> set_params(int, int, Left*) { return std::nullopt; }
  /// Gives back its memory. Nothing but close() may follow.
  virtual void close() = 0;

  CodecMemory& memory() { return memory_; }

  // The guest's thread.
  bool ready = false;   ///< was set up
  bool busy = false;    ///< a worker has it
  bool closed = false;  ///< or will be, when it is no longer busy
  // To be done when it is no longer busy.
  bool reset_next = false;
  std::optional<std::pair<int, int>> params_next;

 protected:
  CodecMemory memory_;
};

using Dictionary = std::vector<std::uint8_t>;

/// The modes of Node's binding.
enum class ZlibMode : std::uint8_t {
  none,
  deflate,
  inflate,
  gzip,
  gunzip,
  deflate_raw,
  inflate_raw,
  unzip,
};

struct ZlibOptions {
  int window_bits;
  int level;
  int memory_level;
  int strategy;
  Dictionary dictionary;
  enum class Garbage : std::uint8_t { ignored, rejected } garbage = Garbage::ignored;
};

class ZlibCodec : public Codec {
 public:
  using Codec::Codec;
  /// False when a value is out of its bounds.
  virtual bool init(ZlibOptions options) = 0;
};

std::shared_ptr<ZlibCodec> make_zlib(ZlibMode mode, std::shared_ptr<Buffers> budget);

/// Brotli and zstd, which are made up of parameters by number.
class ParameterCodec : public Codec {
 public:
  using Codec::Codec;
  std::optional<CodecError> init(Dictionary dictionary) {
    dictionary_ = std::move(dictionary);
    return start();
  }
  virtual std::optional<CodecError> set(int parameter, std::uint32_t value) = 0;
  /// zstd only.
  virtual void pledge_size(std::uint64_t) {}
  virtual void reject_garbage() {}

 protected:
  /// Makes its state anew, with the dictionary if there is one.
  virtual std::optional<CodecError> start() = 0;

  Dictionary dictionary_;
};

enum class ParameterKind : std::uint8_t { brotli_encoder, brotli_decoder, zstd_compress, zstd_decompress };

std::shared_ptr<ParameterCodec> make_parameter_codec(ParameterKind kind, std::shared_ptr<Buffers> budget);
std::shared_ptr<ParameterCodec> make_brotli_encoder(std::shared_ptr<Buffers> budget);
std::shared_ptr<ParameterCodec> make_brotli_decoder(std::shared_ptr<Buffers> budget);
std::shared_ptr<ParameterCodec> make_zstd_compress(std::shared_ptr<Buffers> budget);
std::shared_ptr<ParameterCodec> make_zstd_decompress(std::shared_ptr<Buffers> budget);

}  // namespace tare::engine
