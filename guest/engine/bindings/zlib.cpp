// The binding `zlib`, as far as it is not in guest/compat/bindings/zlib.js: streams that JavaScript holds as
// objects without members, and calls that say what came of them.

#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <zlib.h>

#include "engine/bindings/codec.hpp"
#include "engine/bindings/support.hpp"
#include "engine/isolate/guest.hpp"
#include "engine/isolate/workers.hpp"

namespace tare::engine {
namespace {

using v8::Local;
using v8::Value;

constexpr char zlib_type = 0;       ///< its address stands for ZlibCodec
constexpr char parameter_type = 0;  ///< and this one for ParameterCodec

void refuse(v8::Isolate* isolate, std::string_view why) {
  throw_error(isolate, ErrorKind::error, "ERR_INVALID_STATE", why);
}

int int_at(const Arguments& args, int at) {
  return args[at]->Int32Value(args.GetIsolate()->GetCurrentContext()).FromMaybe(0);
}

/// The stream that is the first argument, whichever kind; null with an error thrown.
std::shared_ptr<Codec> codec_of(const Arguments& args) {
  Guest* guest = guest_of(args.GetIsolate());
  std::shared_ptr<NativeObject> found;
  if (guest != nullptr) {
    found = guest->objects().find(args[0], &zlib_type);
    if (found == nullptr) found = guest->objects().find(args[0], &parameter_type);
  }
  if (found == nullptr) refuse(args.GetIsolate(), "There is no such stream");
  return std::static_pointer_cast<Codec>(found);
}

std::shared_ptr<ZlibCodec> zlib_of(const Arguments& args) {
  Guest* guest = guest_of(args.GetIsolate());
  auto found = guest == nullptr ? nullptr : guest->objects().find(args[0], &zlib_type);
  if (found == nullptr) refuse(args.GetIsolate(), "There is no such stream");
  return std::static_pointer_cast<ZlibCodec>(std::move(found));
}

std::shared_ptr<ParameterCodec> parameter_codec_of(const Arguments& args) {
  Guest* guest = guest_of(args.GetIsolate());
  auto found = guest == nullptr ? nullptr : guest->objects().find(args[0], &parameter_type);
  if (found == nullptr) refuse(args.GetIsolate(), "There is no such stream");
  return std::static_pointer_cast<ParameterCodec>(std::move(found));
}

void tell_memory(Guest& guest) {
  guest.isolate().buffers().tell_others(guest.isolate().get());
}

void give_object(const Arguments& args, Guest& guest, std::shared_ptr<Codec> codec, const void* type) {
  Local<v8::Object> object;
  if (guest.objects().hold(std::move(codec), type).ToLocal(&object)) args.GetReturnValue().Set(object);
}

/// createZlib(mode): one of deflate, inflate and their like.
void create_zlib(const Arguments& args) {
  Guest* guest = guest_of(args.GetIsolate());
  const int mode = int_at(args, 0);
  if (guest == nullptr || mode < static_cast<int>(ZlibMode::deflate) ||
      mode > static_cast<int>(ZlibMode::unzip))
    return throw_error(args.GetIsolate(), ErrorKind::type, "ERR_INVALID_ARG_VALUE", "Bad argument");
  give_object(args, *guest, make_zlib(static_cast<ZlibMode>(mode), guest->isolate().shared_buffers()),
              &zlib_type);
}

/// createCodec(kind): 0 brotli's encoder, 1 its decoder, 2 and 3 zstd's.
void create_codec(const Arguments& args) {
  Guest* guest = guest_of(args.GetIsolate());
  const int kind = int_at(args, 0);
  if (guest == nullptr || kind < 0 || kind > static_cast<int>(ParameterKind::zstd_decompress))
    return throw_error(args.GetIsolate(), ErrorKind::type, "ERR_INVALID_ARG_VALUE", "Bad argument");
  give_object(args, *guest,
              make_parameter_codec(static_cast<ParameterKind>(kind), guest->isolate().shared_buffers()),
              &parameter_type);
}

Dictionary dictionary_at(const Arguments& args, int at) {
  const Bytes bytes(args[at]);
  return {bytes.span().begin(), bytes.span().end()};
}

/// [message, number, code], as onerror takes it.
Local<v8::Array> error_array(v8::Isolate* isolate, const CodecError& error) {
  Local<Value> parts[] = {to_v8(isolate, error.message), v8::Integer::New(isolate, error.number),
                          to_v8(isolate, error.code)};
  return v8::Array::New(isolate, parts, 3);
}

void give_error(const Arguments& args, const std::optional<CodecError>& error) {
  if (error) args.GetReturnValue().Set(error_array(args.GetIsolate(), *error));
}

/// initZlib(stream, windowBits, level, memLevel, strategy, dictionary, reject what follows?)
void init_zlib(const Arguments& args) {
  const auto codec = zlib_of(args);
  if (codec == nullptr) return;
  if (codec->ready || codec->closed) return refuse(args.GetIsolate(), "The stream is set up already");
  ZlibOptions options{int_at(args, 1),
                      int_at(args, 2),
                      int_at(args, 3),
                      int_at(args, 4),
                      dictionary_at(args, 5),
                      args[6]->IsTrue() ? ZlibOptions::Garbage::rejected : ZlibOptions::Garbage::ignored};
  if (!codec->init(std::move(options)))
    return throw_error(args.GetIsolate(), ErrorKind::range, "ERR_OUT_OF_RANGE", "Bad argument");
  codec->ready = true;
}

std::optional<CodecError> set_up(ParameterCodec& codec, const Arguments& args) {
  if (args[3]->IsNumber())
    codec.pledge_size(static_cast<std::uint64_t>(
        args[3]->IntegerValue(args.GetIsolate()->GetCurrentContext()).FromMaybe(0)));
  if (args[4]->IsTrue()) codec.reject_garbage();
  if (auto error = codec.init(dictionary_at(args, 2))) return error;
  const std::span<const std::uint8_t> bytes = memory_of(args[1]);
  for (std::size_t i = 0; (i + 1) * sizeof(std::uint32_t) <= bytes.size(); ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    if (value == static_cast<std::uint32_t>(-1)) continue;
    if (auto error = codec.set(static_cast<int>(i), value)) return error;
  }
  return std::nullopt;
}

/// initCodec(stream, parameters, dictionary, size or undefined, reject what follows?): an error, or nothing.
void init_codec(const Arguments& args) {
  const auto codec = parameter_codec_of(args);
  if (codec == nullptr) return;
  if (codec->ready || codec->closed) return refuse(args.GetIsolate(), "The stream is set up already");
  guest_of(args.GetIsolate())->isolate().buffers().make_room(args.GetIsolate());
  const std::optional<CodecError> error = set_up(*codec, args);
  if (error)
    codec->close();
  else
    codec->ready = true;
  tell_memory(*guest_of(args.GetIsolate()));
  give_error(args, error);
}

/// params(stream, level, strategy): an error, or nothing. While a worker has it: when that is done.
void set_zlib_params(const Arguments& args) {
  const auto codec = zlib_of(args);
  if (codec == nullptr) return;
  if (!codec->ready || codec->closed) return refuse(args.GetIsolate(), "The stream is not ready");
  if (codec->busy) {
    codec->params_next = {int_at(args, 1), int_at(args, 2)};
    return;
  }
  const auto error = codec->set_params(int_at(args, 1), int_at(args, 2), nullptr);
  tell_memory(*guest_of(args.GetIsolate()));
  give_error(args, error);
}

/// reset(stream): an error, or nothing. While a worker has it: when that is done.
void reset_codec(const Arguments& args) {
  const auto codec = codec_of(args);
  if (codec == nullptr) return;
  if (!codec->ready || codec->closed) return refuse(args.GetIsolate(), "The stream is not ready");
  if (codec->busy) {
    codec->reset_next = true;
    return;
  }
  const auto error = codec->reset();
  tell_memory(*guest_of(args.GetIsolate()));
  give_error(args, error);
}

/// close(stream): now, or when no worker has it any more.
void close_codec(const Arguments& args) {
  const auto codec = codec_of(args);
  if (codec == nullptr) return;
  codec->closed = true;
  if (codec->busy) return;
  codec->close();
  tell_memory(*guest_of(args.GetIsolate()));
}

/// A part of a view: its memory stays as long as this does.
struct Part {
  std::shared_ptr<v8::BackingStore> store;
  std::span<std::uint8_t> bytes;
  bool may_shrink = false;
};

/// Arguments `at` (a view, or null), `at + 1` (offset), `at + 2` (length); nothing when it is not within the
/// view.
std::optional<Part> part_at(const Arguments& args, int at) {
  if (args[at]->IsNullOrUndefined()) return Part{};
  if (!args[at]->IsArrayBufferView()) return std::nullopt;
  const Local<v8::ArrayBufferView> view = args[at].As<v8::ArrayBufferView>();
  const Local<v8::Context> context = args.GetIsolate()->GetCurrentContext();
  const std::int64_t offset = args[at + 1]->IntegerValue(context).FromMaybe(-1);
  const std::int64_t length = args[at + 2]->IntegerValue(context).FromMaybe(-1);
  const auto size = static_cast<std::int64_t>(view->ByteLength());
  if (offset < 0 || length < 0 || offset > size || length > size - offset) return std::nullopt;
  Part part{view->Buffer()->GetBackingStore(), {}, false};
  if (part.store == nullptr || length == 0) return part;
  part.bytes = {static_cast<std::uint8_t*>(part.store->Data()) + view->ByteOffset() + offset,
                static_cast<std::size_t>(length)};
  part.may_shrink = part.store->IsResizableByUserJavaScript() && !part.store->IsShared();
  return part;
}

/// What write(stream, flush, in, offset, length, out, offset, length) is asked for.
struct Write {
  std::shared_ptr<Codec> codec;
  int flush;
  Part in;
  Part out;
};

/// Nothing, with an error thrown, when it can't be done.
std::optional<Write> write_of(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  auto codec = codec_of(args);
  if (codec == nullptr) return std::nullopt;
  const int flush = int_at(args, 1);
  auto in = part_at(args, 2);
  auto out = part_at(args, 5);
  if (!in || !out || flush < Z_NO_FLUSH || flush > Z_BLOCK) {
    throw_error(isolate, ErrorKind::range, "ERR_OUT_OF_RANGE", "Bad argument");
    return std::nullopt;
  }
  if (!codec->ready || codec->closed || codec->busy) {
    refuse(isolate, codec->closed ? "The stream is closed" : "The stream is not ready");
    return std::nullopt;
  }
  return Write{std::move(codec), flush, std::move(*in), std::move(*out)};
}

/// [rest of out, rest of in], or an error.
Local<v8::Array> outcome(v8::Isolate* isolate, const std::optional<CodecError>& error, Codec::Left left) {
  if (error) return error_array(isolate, *error);
  Local<Value> parts[] = {v8::Number::New(isolate, static_cast<double>(left.out)),
                          v8::Number::New(isolate, static_cast<double>(left.in))};
  return v8::Array::New(isolate, parts, 2);
}

/// writeSync(…): what came of it.
void write_sync(const Arguments& args) {
  const auto write = write_of(args);
  if (!write) return;
  guest_of(args.GetIsolate())->isolate().buffers().make_room(args.GetIsolate());
  const Codec::Left left = write->codec->work(write->flush, write->in.bytes, write->out.bytes);
  tell_memory(*guest_of(args.GetIsolate()));
  args.GetReturnValue().Set(outcome(args.GetIsolate(), write->codec->error(), left));
}

/// What the worker has.
struct Job {
  std::shared_ptr<Codec> codec;
  int flush;
  Part in;
  Part out;
  std::vector<std::uint8_t> copy;  ///< of input that the guest might take away meanwhile
  Codec::Left left{};
};

void finish_write(Guest& guest, Job& job, Local<v8::Function> callback) {
  const std::shared_ptr<Codec> codec = std::move(job.codec);
  codec->busy = false;
  std::optional<CodecError> error = codec->error();
  const auto params = std::exchange(codec->params_next, std::nullopt);
  if (params && !error && !codec->closed) error = codec->set_params(params->first, params->second, &job.left);
  if (std::exchange(codec->reset_next, false) && !error && !codec->closed) error = codec->reset();
  job.in = {};
  job.out = {};
  Local<Value> result[] = {outcome(guest.isolate().get(), error, job.left)};
  (void)guest.realm().call(callback, result);
  if (codec->closed && !codec->busy) codec->close();
  tell_memory(guest);
}

/// write(…, callback): what came of it, later.
void write_async(const Arguments& args) {
  v8::Isolate* isolate = args.GetIsolate();
  Guest* guest = guest_of(isolate);
  auto write = write_of(args);
  if (!write) return;
  if (!args[8]->IsFunction() || write->out.may_shrink)
    return throw_error(isolate, ErrorKind::type, "ERR_INVALID_ARG_VALUE", "Bad argument");
  auto job = std::make_shared<Job>(
      Job{std::move(write->codec), write->flush, std::move(write->in), std::move(write->out), {}});
  if (job->in.may_shrink) {
    job->copy.assign(job->in.bytes.begin(), job->in.bytes.end());
    job->in = {nullptr, job->copy};
  }
  guest->isolate().buffers().make_room(isolate);
  job->codec->busy = true;
  auto callback = std::make_shared<v8::Global<v8::Function>>(isolate, args[8].As<v8::Function>());
  in_background(
      *guest, [job] { job->left = job->codec->work(job->flush, job->in.bytes, job->out.bytes); },
      [guest, job, callback] { finish_write(*guest, *job, callback->Get(guest->isolate().get())); });
}

/// crc32(data, value)
void checksum(const Arguments& args) {
  const auto value =
      static_cast<uLong>(args[1]->Uint32Value(args.GetIsolate()->GetCurrentContext()).FromMaybe(0));
  const auto over = [&](const void* data, std::size_t size) {
    args.GetReturnValue().Set(
        static_cast<std::uint32_t>(::crc32_z(value, static_cast<const Bytef*>(data), size)));
  };
  if (args[0]->IsString()) {
    const v8::String::Utf8Value text(args.GetIsolate(), args[0]);
    if (*text == nullptr) return;
    return over(*text, static_cast<std::size_t>(text.length()));
  }
  const Bytes bytes(args[0]);
  // Without data zlib would answer its initial value.
  if (bytes.size() == 0) return args.GetReturnValue().Set(static_cast<std::uint32_t>(value));
  over(bytes.data(), bytes.size());
}

const Native zlib_natives[] = {
    {"createZlib", create_zlib}, {"createCodec", create_codec}, {"initZlib", init_zlib},
    {"initCodec", init_codec},   {"params", set_zlib_params},   {"reset", reset_codec},
    {"close", close_codec},      {"writeSync", write_sync},     {"write", write_async},
    {"crc32", checksum},
};

}  // namespace

extern const Binding zlib_binding;
const Binding zlib_binding{"zlib", zlib_natives};

}  // namespace tare::engine
