// Brotli of the host Node. Its headers don't come with Node: what is used of it is declared here.

#include <csetjmp>
#include <utility>
#include <zlib.h>

#include "engine/bindings/codec.hpp"

// The names are the library's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
struct BrotliEncoderStateStruct;
struct BrotliDecoderStateStruct;
struct BrotliEncoderPreparedDictionaryStruct;
using BrotliAllocate = void* (*)(void* opaque, std::size_t size);
using BrotliFree = void (*)(void* opaque, void* address);

BrotliEncoderStateStruct* BrotliEncoderCreateInstance(BrotliAllocate, BrotliFree, void* opaque);
int BrotliEncoderSetParameter(BrotliEncoderStateStruct*, int parameter, std::uint32_t value);
int BrotliEncoderCompressStream(BrotliEncoderStateStruct*, int operation, std::size_t* available_in,
                                const std::uint8_t** next_in, std::size_t* available_out,
                                std::uint8_t** next_out, std::size_t* total_out);
BrotliEncoderPreparedDictionaryStruct* BrotliEncoderPrepareDictionary(int type, std::size_t size,
                                                                      const std::uint8_t* data, int quality,
                                                                      BrotliAllocate, BrotliFree,
                                                                      void* opaque);
int BrotliEncoderAttachPreparedDictionary(BrotliEncoderStateStruct*,
                                          const BrotliEncoderPreparedDictionaryStruct*);

BrotliDecoderStateStruct* BrotliDecoderCreateInstance(BrotliAllocate, BrotliFree, void* opaque);
int BrotliDecoderSetParameter(BrotliDecoderStateStruct*, int parameter, std::uint32_t value);
int BrotliDecoderAttachDictionary(BrotliDecoderStateStruct*, int type, std::size_t size,
                                  const std::uint8_t* data);
int BrotliDecoderDecompressStream(BrotliDecoderStateStruct*, std::size_t* available_in,
                                  const std::uint8_t** next_in, std::size_t* available_out,
                                  std::uint8_t** next_out, std::size_t* total_out);
int BrotliDecoderGetErrorCode(const BrotliDecoderStateStruct*);
const char* BrotliDecoderErrorString(int code);
}
// NOLINTEND(readability-identifier-naming)

namespace tare::engine {
namespace {

constexpr int brotli_finish = 2;          // BROTLI_OPERATION_FINISH
constexpr int brotli_raw_dictionary = 0;  // BROTLI_SHARED_DICTIONARY_RAW
constexpr int brotli_most_quality = 11;   // BROTLI_MAX_QUALITY
constexpr int brotli_needs_input = 2;     // BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT

CodecError brotli_no_instance() {
  return {"Could not initialize Brotli instance", "ERR_ZLIB_INITIALIZATION_FAILED"};
}

CodecError brotli_bad_parameter() {
  return {"Setting parameter failed", "ERR_BROTLI_PARAM_SET_FAILED"};
}

CodecError brotli_bad_dictionary() {
  return {"Failed to attach brotli dictionary", "ERR_ZLIB_DICTIONARY_LOAD_FAILED"};
}

/// The encoder ends the whole process when it gets no memory. So it is left by a jump, from the function that
/// has none to give, and never used again: it is C, holds no lock, and all of its memory is known.
class BrotliEncoder final : public ParameterCodec {
 public:
  using ParameterCodec::ParameterCodec;

  std::optional<CodecError> set(int parameter, std::uint32_t value) override {
    if (state_ == nullptr || BrotliEncoderSetParameter(state_, parameter, value) == 0)
      return brotli_bad_parameter();
    return std::nullopt;
  }

  Left work(int flush, Input in, Output out) override {
    left_ = {in.size(), out.size()};
    next_in_ = in.data();
    next_out_ = out.data();
    last_result_ = 0;
    if (state_ == nullptr) return left_;
    if (setjmp(escape_) != 0) {
      abandon_state();
      return left_;
    }
    last_result_ =
        BrotliEncoderCompressStream(state_, flush, &left_.in, &next_in_, &left_.out, &next_out_, nullptr);
    return left_;
  }

  std::optional<CodecError> error() const override {
    if (last_result_ != 0) return std::nullopt;
    return CodecError{"Compression failed", "ERR_BROTLI_COMPRESSION_FAILED"};
  }

  std::optional<CodecError> reset() override {
    dictionary_.clear();  // Node gives it but once
    return start();
  }

  void close() override { abandon_state(); }

 private:
  static void* allocate(void* self, std::size_t size) {
    auto* encoder = static_cast<BrotliEncoder*>(self);
    void* memory = encoder->memory_.allocate(size);
    if (memory == nullptr) std::longjmp(encoder->escape_, 1);
    return memory;
  }
  static void release(void* self, void* memory) {
    static_cast<BrotliEncoder*>(self)->memory_.release(memory);
  }

  void abandon_state() {
    memory_.clear();
    state_ = nullptr;
    last_result_ = 0;
  }

  std::optional<CodecError> start() override {
    abandon_state();
    if (setjmp(escape_) != 0) {
      abandon_state();
      return brotli_no_instance();
    }
    state_ = BrotliEncoderCreateInstance(allocate, release, this);
    if (state_ == nullptr) return brotli_no_instance();
    if (dictionary_.empty()) return std::nullopt;
    const auto* prepared =
        BrotliEncoderPrepareDictionary(brotli_raw_dictionary, dictionary_.size(), dictionary_.data(),
                                       brotli_most_quality, allocate, release, this);
    if (prepared == nullptr || BrotliEncoderAttachPreparedDictionary(state_, prepared) == 0)
      return brotli_bad_dictionary();
    return std::nullopt;
  }

  BrotliEncoderStateStruct* state_ = nullptr;
  std::jmp_buf escape_;
  Left left_{};
  const std::uint8_t* next_in_ = nullptr;
  std::uint8_t* next_out_ = nullptr;
  int last_result_ = 1;
};

void* brotli_allocate(void* memory, std::size_t size) {
  return static_cast<CodecMemory*>(memory)->allocate(size);
}

void brotli_free(void* memory, void* block) {
  static_cast<CodecMemory*>(memory)->release(block);
}

class BrotliDecoder final : public ParameterCodec {
 public:
  using ParameterCodec::ParameterCodec;

  std::optional<CodecError> set(int parameter, std::uint32_t value) override {
    if (state_ == nullptr || BrotliDecoderSetParameter(state_, parameter, value) == 0)
      return brotli_bad_parameter();
    return std::nullopt;
  }

  Left work(int flush, Input in, Output out) override {
    Left left{in.size(), out.size()};
    flush_ = flush;
    if (state_ == nullptr) return left;
    const std::uint8_t* next_in = in.data();
    std::uint8_t* next_out = out.data();
    last_result_ = BrotliDecoderDecompressStream(state_, &left.in, &next_in, &left.out, &next_out, nullptr);
    if (last_result_ == 0) {
      number_ = BrotliDecoderGetErrorCode(state_);
      failed_ = std::string("ERR_") + BrotliDecoderErrorString(number_);
    }
    return left;
  }

  std::optional<CodecError> error() const override {
    if (!failed_.empty()) return CodecError{"Decompression failed", failed_, number_};
    if (flush_ == brotli_finish && last_result_ == brotli_needs_input)
      return CodecError{"unexpected end of file", "Z_BUF_ERROR", Z_BUF_ERROR};
    return std::nullopt;
  }

  std::optional<CodecError> reset() override {
    dictionary_.clear();  // Node gives it but once
    return start();
  }

  void close() override {
    memory_.clear();
    state_ = nullptr;
  }

 private:
  std::optional<CodecError> start() override {
    close();
    state_ = BrotliDecoderCreateInstance(brotli_allocate, brotli_free, &memory_);
    if (state_ == nullptr) return brotli_no_instance();
    if (!dictionary_.empty() && BrotliDecoderAttachDictionary(state_, brotli_raw_dictionary,
                                                              dictionary_.size(), dictionary_.data()) == 0)
      return brotli_bad_dictionary();
    return std::nullopt;
  }

  BrotliDecoderStateStruct* state_ = nullptr;
  int flush_ = 0;
  int last_result_ = 1;
  int number_ = 0;
  std::string failed_;
};

}  // namespace

std::shared_ptr<ParameterCodec> make_brotli_encoder(std::shared_ptr<Buffers> budget) {
  return std::make_shared<BrotliEncoder>(std::move(budget));
}

std::shared_ptr<ParameterCodec> make_brotli_decoder(std::shared_ptr<Buffers> budget) {
  return std::make_shared<BrotliDecoder>(std::move(budget));
}

}  // namespace tare::engine
