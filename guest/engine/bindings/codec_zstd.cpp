// Zstandard of the host Node. Its headers don't come with Node: what is used of it is declared here.

#include <utility>
#include <zlib.h>

#include "engine/bindings/codec.hpp"

// The names are the library's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;
struct ZSTD_inBuffer_s {
  const void* src;
  std::size_t size;
  std::size_t pos;
};
struct ZSTD_outBuffer_s {
  void* dst;
  std::size_t size;
  std::size_t pos;
};
struct ZSTD_customMem_s {
  void* (*allocate)(void* opaque, std::size_t size);
  void (*release)(void* opaque, void* address);
  void* opaque;
};

ZSTD_CCtx_s* ZSTD_createCCtx_advanced(ZSTD_customMem_s);
std::size_t ZSTD_CCtx_setParameter(ZSTD_CCtx_s*, int parameter, int value);
std::size_t ZSTD_CCtx_setPledgedSrcSize(ZSTD_CCtx_s*, unsigned long long size);
std::size_t ZSTD_CCtx_loadDictionary(ZSTD_CCtx_s*, const void* data, std::size_t size);
std::size_t ZSTD_compressStream2(ZSTD_CCtx_s*, ZSTD_outBuffer_s*, ZSTD_inBuffer_s*, int operation);
std::size_t ZSTD_CCtx_reset(ZSTD_CCtx_s*, int what);

ZSTD_DCtx_s* ZSTD_createDCtx_advanced(ZSTD_customMem_s);
std::size_t ZSTD_DCtx_setParameter(ZSTD_DCtx_s*, int parameter, int value);
std::size_t ZSTD_DCtx_loadDictionary(ZSTD_DCtx_s*, const void* data, std::size_t size);
std::size_t ZSTD_decompressStream(ZSTD_DCtx_s*, ZSTD_outBuffer_s*, ZSTD_inBuffer_s*);
std::size_t ZSTD_DCtx_reset(ZSTD_DCtx_s*, int what);

unsigned ZSTD_isError(std::size_t code);
int ZSTD_getErrorCode(std::size_t result);
const char* ZSTD_getErrorString(int code);
}
// NOLINTEND(readability-identifier-naming)

namespace tare::engine {
namespace {

constexpr int zstd_end = 2;        // ZSTD_e_end
constexpr int zstd_workers = 400;  // ZSTD_c_nbWorkers
constexpr int zstd_prefix_unknown = 10;
constexpr int zstd_size_wrong = 72;
constexpr int zstd_session = 1;  // ZSTD_reset_session_only
constexpr std::size_t zstd_magic_bytes = 4;
constexpr auto zstd_unknown_size = static_cast<unsigned long long>(-1);

void* zstd_allocate(void* memory, std::size_t size) {
  return static_cast<CodecMemory*>(memory)->allocate(size);
}

void zstd_free(void* memory, void* block) {
  static_cast<CodecMemory*>(memory)->release(block);
}

/// The name that Node has for the number of an error.
const char* zstd_code(int number) {
  switch (number) {
    case 0:
      return "ZSTD_error_no_error";
    case 10:
      return "ZSTD_error_prefix_unknown";
    case 12:
      return "ZSTD_error_version_unsupported";
    case 14:
      return "ZSTD_error_frameParameter_unsupported";
    case 16:
      return "ZSTD_error_frameParameter_windowTooLarge";
    case 20:
      return "ZSTD_error_corruption_detected";
    case 22:
      return "ZSTD_error_checksum_wrong";
    case 24:
      return "ZSTD_error_literals_headerWrong";
    case 30:
      return "ZSTD_error_dictionary_corrupted";
    case 32:
      return "ZSTD_error_dictionary_wrong";
    case 34:
      return "ZSTD_error_dictionaryCreation_failed";
    case 40:
      return "ZSTD_error_parameter_unsupported";
    case 41:
      return "ZSTD_error_parameter_combination_unsupported";
    case 42:
      return "ZSTD_error_parameter_outOfBound";
    case 44:
      return "ZSTD_error_tableLog_tooLarge";
    case 46:
      return "ZSTD_error_maxSymbolValue_tooLarge";
    case 48:
      return "ZSTD_error_maxSymbolValue_tooSmall";
    case 50:
      return "ZSTD_error_stabilityCondition_notRespected";
    case 60:
      return "ZSTD_error_stage_wrong";
    case 62:
      return "ZSTD_error_init_missing";
    case 64:
      return "ZSTD_error_memory_allocation";
    case 66:
      return "ZSTD_error_workSpace_tooSmall";
    case 70:
      return "ZSTD_error_dstSize_tooSmall";
    case 72:
      return "ZSTD_error_srcSize_wrong";
    case 74:
      return "ZSTD_error_dstBuffer_null";
    case 80:
      return "ZSTD_error_noForwardProgress_destFull";
    case 82:
      return "ZSTD_error_noForwardProgress_inputEmpty";
    default:
      return "ZSTD_error_GENERIC";
  }
}

CodecError zstd_no_instance() {
  return {"Could not initialize zstd instance", "ERR_ZLIB_INITIALIZATION_FAILED"};
}

CodecError zstd_bad_parameter() {
  return {"Setting parameter failed", "ERR_ZSTD_PARAM_SET_FAILED"};
}

CodecError zstd_bad_dictionary() {
  return {"Failed to load zstd dictionary", "ERR_ZLIB_DICTIONARY_LOAD_FAILED"};
}

CodecError zstd_failure(int number) {
  return {ZSTD_getErrorString(number), zstd_code(number), number};
}

class ZstdCompress final : public ParameterCodec {
 public:
  using ParameterCodec::ParameterCodec;

  void pledge_size(std::uint64_t size) override { pledged_ = size; }

  std::optional<CodecError> set(int parameter, std::uint32_t value) override {
    // Threads of its own would be nobody's. What comes out is the same format.
    if (parameter == zstd_workers && static_cast<int>(value) > 0) value = 0;
    if (ZSTD_isError(ZSTD_CCtx_setParameter(state_, parameter, static_cast<int>(value))) != 0)
      return zstd_bad_parameter();
    return std::nullopt;
  }

  Left work(int flush, Input in, Output out) override {
    ZSTD_inBuffer_s input{in.data(), in.size(), 0};
    ZSTD_outBuffer_s output{out.data(), out.size(), 0};
    // All in one call, zstd would take the size of the input in place of what was pledged.
    const bool whole = flush == zstd_end && !begun_ && pledged_ != zstd_unknown_size;
    begun_ = true;
    if (whole && in.size() != pledged_) {
      error_ = zstd_failure(zstd_size_wrong);
    } else if (state_ != nullptr) {
      const std::size_t result = ZSTD_compressStream2(state_, &output, &input, flush);
      if (ZSTD_isError(result) != 0) error_ = zstd_failure(ZSTD_getErrorCode(result));
    }
    return {input.size - input.pos, output.size - output.pos};
  }

  std::optional<CodecError> error() const override { return error_; }
  std::optional<CodecError> reset() override {
    error_.reset();
    if (state_ == nullptr || ZSTD_isError(ZSTD_CCtx_reset(state_, zstd_session)) != 0)
      return zstd_no_instance();
    return pledge();
  }

  void close() override {
    memory_.clear();
    state_ = nullptr;
  }

 private:
  std::optional<CodecError> start() override {
    state_ = ZSTD_createCCtx_advanced({zstd_allocate, zstd_free, &memory_});
    if (state_ == nullptr) return zstd_no_instance();
    if (!dictionary_.empty() &&
        ZSTD_isError(ZSTD_CCtx_loadDictionary(state_, dictionary_.data(), dictionary_.size())) != 0)
      return zstd_bad_dictionary();
    return pledge();
  }

  std::optional<CodecError> pledge() {
    begun_ = false;
    if (ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(state_, pledged_)) != 0)
      return CodecError{"Could not set pledged src size", "ERR_ZLIB_INITIALIZATION_FAILED"};
    return std::nullopt;
  }

  std::uint64_t pledged_ = zstd_unknown_size;
  bool begun_ = false;
  ZSTD_CCtx_s* state_ = nullptr;
  std::optional<CodecError> error_;
};

class ZstdDecompress final : public ParameterCodec {
 public:
  using ParameterCodec::ParameterCodec;

  void reject_garbage() override { rejects_ = true; }

  std::optional<CodecError> set(int parameter, std::uint32_t value) override {
    if (ZSTD_isError(ZSTD_DCtx_setParameter(state_, parameter, static_cast<int>(value))) != 0)
      return zstd_bad_parameter();
    return std::nullopt;
  }

  Left work(int flush, Input in, Output out) override {
    ZSTD_inBuffer_s input{in.data(), in.size(), 0};
    ZSTD_outBuffer_s output{out.data(), out.size(), 0};
    std::size_t result = 1;
    while (state_ != nullptr && !error_) {
      const std::size_t before = input.pos;
      result = ZSTD_decompressStream(state_, &output, &input);
      if (ZSTD_isError(result) != 0) {
        note_error(ZSTD_getErrorCode(result));
        if (!error_) input.pos = before;
        break;
      }
      of_frame_ += input.pos - before;
      if (result != 0) break;
      // Frames may follow one another.
      any_frame_ = true;
      of_frame_ = 0;
      if (input.pos == input.size || output.pos == output.size) break;
    }
    const Left left{input.size - input.pos, output.size - output.pos};
    if (flush == zstd_end && result != 0 && left.in == 0 && left.out > 0 && !error_) note_end();
    return left;
  }

  std::optional<CodecError> error() const override { return error_; }
  std::optional<CodecError> reset() override {
    error_.reset();
    any_frame_ = false;
    of_frame_ = 0;
    if (state_ == nullptr || ZSTD_isError(ZSTD_DCtx_reset(state_, zstd_session)) != 0)
      return zstd_no_instance();
    return std::nullopt;
  }

  void close() override {
    memory_.clear();
    state_ = nullptr;
  }

 private:
  static CodecError garbage() {
    return {"Trailing junk found after the end of the compressed stream",
            "ERR_TRAILING_JUNK_AFTER_STREAM_END", -1};
  }

  /// What is behind a whole frame and isn't one is no error, unless that is asked for.
  void note_error(int number) {
    const bool behind = any_frame_ && of_frame_ < zstd_magic_bytes;
    if (!behind || number != zstd_prefix_unknown)
      error_ = zstd_failure(number);
    else if (rejects_)
      error_ = garbage();
  }

  void note_end() {
    if (!any_frame_ || of_frame_ >= zstd_magic_bytes)
      error_ = CodecError{"unexpected end of file", "Z_BUF_ERROR", Z_BUF_ERROR};
    else if (of_frame_ > 0 && rejects_)
      error_ = garbage();
  }

  std::optional<CodecError> start() override {
    state_ = ZSTD_createDCtx_advanced({zstd_allocate, zstd_free, &memory_});
    if (state_ == nullptr) return zstd_no_instance();
    if (!dictionary_.empty() &&
        ZSTD_isError(ZSTD_DCtx_loadDictionary(state_, dictionary_.data(), dictionary_.size())) != 0)
      return zstd_bad_dictionary();
    return std::nullopt;
  }

  ZSTD_DCtx_s* state_ = nullptr;
  bool rejects_ = false;
  bool any_frame_ = false;    ///< a whole one is behind us
  std::size_t of_frame_ = 0;  ///< bytes of the one that has begun
  std::optional<CodecError> error_;
};

}  // namespace

std::shared_ptr<ParameterCodec> make_zstd_compress(std::shared_ptr<Buffers> budget) {
  return std::make_shared<ZstdCompress>(std::move(budget));
}

std::shared_ptr<ParameterCodec> make_zstd_decompress(std::shared_ptr<Buffers> budget) {
  return std::make_shared<ZstdDecompress>(std::move(budget));
}

}  // namespace tare::engine
