// deflate and inflate in their wrappings, behaving as Node's binding does.

#include <limits>
#include <utility>
#include <zlib.h>

#include "engine/bindings/codec.hpp"

namespace tare::engine {
namespace {

constexpr std::uint8_t gzip_first = 0x1f;
constexpr std::uint8_t gzip_second = 0x8b;

const char* zlib_code(int error) {
  switch (error) {
    case Z_OK:
      return "Z_OK";
    case Z_STREAM_END:
      return "Z_STREAM_END";
    case Z_NEED_DICT:
      return "Z_NEED_DICT";
    case Z_ERRNO:
      return "Z_ERRNO";
    case Z_STREAM_ERROR:
      return "Z_STREAM_ERROR";
    case Z_DATA_ERROR:
      return "Z_DATA_ERROR";
    case Z_MEM_ERROR:
      return "Z_MEM_ERROR";
    case Z_BUF_ERROR:
      return "Z_BUF_ERROR";
    case Z_VERSION_ERROR:
      return "Z_VERSION_ERROR";
    default:
      return "Z_UNKNOWN_ERROR";
  }
}

void* zlib_allocate(void* memory, unsigned items, unsigned size) {
  return static_cast<CodecMemory*>(memory)->allocate(std::size_t{items} * size);
}

void zlib_free(void* memory, void* block) {
  static_cast<CodecMemory*>(memory)->release(block);
}

class Deflation final : public ZlibCodec {
 public:
  Deflation(ZlibMode mode, std::shared_ptr<Buffers> budget) : ZlibCodec(std::move(budget)), mode_(mode) {
    stream_.zalloc = zlib_allocate;
    stream_.zfree = zlib_free;
    stream_.opaque = &memory_;
  }

  bool init(ZlibOptions options) override {
    const int bits = options.window_bits;
    const bool by_header =
        bits == 0 && (mode_ == ZlibMode::inflate || mode_ == ZlibMode::gunzip || mode_ == ZlibMode::unzip);
    if (!by_header && (bits < 8 || bits > MAX_WBITS)) return false;
    if (options.level < -1 || options.level > 9 || options.memory_level < 1 || options.memory_level > 9 ||
        options.strategy < Z_DEFAULT_STRATEGY || options.strategy > Z_FIXED)
      return false;
    options_ = std::move(options);
    if (mode_ == ZlibMode::gzip || mode_ == ZlibMode::gunzip) options_.window_bits += 16;
    if (mode_ == ZlibMode::unzip) options_.window_bits += 32;
    if (mode_ == ZlibMode::deflate_raw || mode_ == ZlibMode::inflate_raw) options_.window_bits *= -1;
    return true;
  }

  Left work(int flush, Input in, Output out) override {
    constexpr std::size_t most = std::numeric_limits<unsigned>::max();
    stream_.next_in = const_cast<Bytef*>(in.data());
    stream_.avail_in = static_cast<unsigned>(std::min(in.size(), most));
    stream_.next_out = out.data();
    stream_.avail_out = static_cast<unsigned>(std::min(out.size(), most));
    flush_ = flush;
    if (begin()) {
      if (is_deflate())
        error_ = ::deflate(&stream_, flush_);
      else
        inflate_some();
    }
    return left();
  }

  std::optional<CodecError> error() const override {
    switch (error_) {
      case Z_OK:
      case Z_BUF_ERROR:
        if (stream_.avail_out != 0 && flush_ == Z_FINISH) return failure("unexpected end of file");
        return std::nullopt;
      case Z_STREAM_END:
        return std::nullopt;
      case Z_NEED_DICT:
        return failure(options_.dictionary.empty() ? "Missing dictionary" : "Bad dictionary");
      default:
        return failure("Zlib error");
    }
  }

  std::optional<CodecError> reset() override {
    if (!begin()) return failure("Failed to init stream before reset");
    restart();
    if (error_ != Z_OK) return failure("Failed to reset stream");
    set_dictionary();
    if (error_ != Z_OK) return failure("Failed to set dictionary");
    return std::nullopt;
  }

  std::optional<CodecError> set_params(int level, int strategy, Left* rest) override {
    if (rest == nullptr) {
      stream_.next_in = stream_.next_out = nowhere_;
      stream_.avail_in = stream_.avail_out = 0;
    }
    if (!begin()) return failure("Failed to init stream before set parameters");
    error_ = Z_OK;
    if (mode_ == ZlibMode::deflate || mode_ == ZlibMode::deflate_raw)
      error_ = ::deflateParams(&stream_, level, strategy);
    if (rest != nullptr) *rest = left();
    if (error_ != Z_OK && error_ != Z_BUF_ERROR) return failure("Failed to set parameters");
    return std::nullopt;
  }

  void close() override {
    memory_.clear();
    stream_.state = nullptr;
    begun_ = true;
    mode_ = ZlibMode::none;
    options_.dictionary.clear();
  }

 private:
  Left left() const { return {stream_.avail_in, stream_.avail_out}; }

  bool is_deflate() const {
    return mode_ == ZlibMode::deflate || mode_ == ZlibMode::gzip || mode_ == ZlibMode::deflate_raw;
  }

  CodecError failure(const char* message) const {
    return {stream_.msg != nullptr ? stream_.msg : message, zlib_code(error_), error_};
  }

  /// The stream takes its memory when it is first used. False when it has none.
  bool begin() {
    if (begun_) return mode_ != ZlibMode::none;
    error_ = is_deflate() ? deflateInit2(&stream_, options_.level, Z_DEFLATED, options_.window_bits,
                                         options_.memory_level, options_.strategy)
                          : inflateInit2(&stream_, options_.window_bits);
    begun_ = true;
    if (error_ != Z_OK) {
      mode_ = ZlibMode::none;
      options_.dictionary.clear();
      return false;
    }
    set_dictionary();
    return true;
  }

  void set_dictionary() {
    if (options_.dictionary.empty()) return;
    error_ = Z_OK;
    const auto size = static_cast<unsigned>(options_.dictionary.size());
    if (mode_ == ZlibMode::deflate || mode_ == ZlibMode::deflate_raw)
      error_ = ::deflateSetDictionary(&stream_, options_.dictionary.data(), size);
    else if (mode_ == ZlibMode::inflate_raw)
      error_ = ::inflateSetDictionary(&stream_, options_.dictionary.data(), size);
    // The other streams say when they want it.
  }

  void restart() {
    error_ = Z_OK;
    if (is_deflate())
      error_ = ::deflateReset(&stream_);
    else if (mode_ != ZlibMode::unzip && mode_ != ZlibMode::none)
      error_ = ::inflateReset(&stream_);
  }

  /// Whether a stream of unknown kind is gzip: its first two bytes, which may come one by one.
  void look_at_header() {
    if (stream_.avail_in == 0) return;
    const Bytef* next = stream_.next_in;
    if (header_bytes_ == 0) {
      if (*next != gzip_first) {
        mode_ = ZlibMode::inflate;
        return;
      }
      header_bytes_ = 1;
      ++next;
      if (stream_.avail_in == 1) return;
    }
    if (*next == gzip_second) {
      header_bytes_ = 2;
      mode_ = ZlibMode::gunzip;
    } else {
      mode_ = ZlibMode::inflate;
    }
  }

  void inflate_some() {
    if (mode_ == ZlibMode::unzip) look_at_header();
    error_ = ::inflate(&stream_, flush_);
    if (mode_ != ZlibMode::inflate_raw && error_ == Z_NEED_DICT && !options_.dictionary.empty()) {
      error_ = ::inflateSetDictionary(&stream_, options_.dictionary.data(),
                                      static_cast<unsigned>(options_.dictionary.size()));
      if (error_ == Z_OK)
        error_ = ::inflate(&stream_, flush_);
      else if (error_ == Z_DATA_ERROR)
        error_ = Z_NEED_DICT;  // the dictionary is the wrong one, not the data
    }
    // A gzip file may have several members; zeros behind them are padding.
    while (options_.garbage == ZlibOptions::Garbage::ignored && stream_.avail_in > 0 &&
           mode_ == ZlibMode::gunzip && error_ == Z_STREAM_END && stream_.next_in[0] != 0) {
      restart();
      error_ = ::inflate(&stream_, flush_);
    }
  }

  ZlibMode mode_;
  ZlibOptions options_{};
  z_stream stream_{};
  int error_ = Z_OK;
  int flush_ = Z_NO_FLUSH;
  bool begun_ = false;
  Bytef nowhere_[1] = {};
  int header_bytes_ = 0;
};

}  // namespace

std::shared_ptr<ZlibCodec> make_zlib(ZlibMode mode, std::shared_ptr<Buffers> budget) {
  return std::make_shared<Deflation>(mode, std::move(budget));
}

}  // namespace tare::engine
