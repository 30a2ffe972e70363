#include "runtime/provider/embeddings.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"
#include "runtime/provider/dig.hpp"
#include "runtime/provider/render.hpp"

namespace tare::provider {
namespace {

constexpr std::size_t usual_dimensions = 256;
constexpr std::size_t most_dimensions = 4'096;
constexpr std::size_t most_inputs = 2'048;

std::vector<float> embed(std::string_view text, std::size_t dimensions) {
  std::uint64_t state = 14695981039346656037U;  // FNV-1a of the text, then a generator that starts there
  for (const char c : text) state = (state ^ static_cast<unsigned char>(c)) * 1099511628211U;
  std::vector<float> vector(dimensions);
  double squares = 0;
  for (float& x : vector) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    x = static_cast<float>(static_cast<double>(state >> 40) / 8388608.0 - 1.0);
    squares += static_cast<double>(x) * x;
  }
  const auto length = static_cast<float>(std::sqrt(squares));
  for (float& x : vector) x /= length > 0 ? length : 1;
  return vector;
}

std::string base64(const std::vector<float>& vector) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  for (const float x : vector) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
  }
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t rest = bytes.size() - i;
    const auto byte = [&](std::size_t k) {
      return k < rest ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i + k])) : 0U;
    };
    const unsigned group = byte(0) << 16 | byte(1) << 8 | byte(2);
    out += digits[group >> 18];
    out += digits[group >> 12 & 63];
    out += rest > 1 ? digits[group >> 6 & 63] : '=';
    out += rest > 2 ? digits[group & 63] : '=';
  }
  return out;
}

std::vector<std::string> inputs_of(const json::Object* body) {
  if (const auto text = text_in(body, "input")) return {std::string(*text)};
  const json::Array* list = array_in(body, "input");
  if (list == nullptr || list->empty() || list->size() > most_inputs)
    throw Error(ErrorCode::input, fmt::format("input is not a text or a list of 1 to {}", most_inputs));
  std::vector<std::string> inputs;
  for (const json::Value& item : *list) {
    if (!item.is_string()) throw Error(ErrorCode::input, "an input is not a text");
    inputs.emplace_back(item.get_string());
  }
  return inputs;
}

std::string written(const std::vector<float>& vector, std::string_view format) {
  if (format == "base64") return json_text(base64(vector));
  return fmt::format("[{}]", fmt::join(vector, ","));
}

}  // namespace

std::string embeddings_reply(std::string_view body) {
  const json::Value value = json::parse(body, "the body");
  const json::Object* object = value.if_object();
  const std::size_t dimensions = count_in(object, "dimensions").value_or(usual_dimensions);
  if (dimensions < 1 || dimensions > most_dimensions)
    throw Error(ErrorCode::input, fmt::format("dimensions must be 1 to {}", most_dimensions));
  const std::string_view format = text_in(object, "encoding_format").value_or("float");
  std::string data;
  const std::vector<std::string> inputs = inputs_of(object);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    data += fmt::format(R"({}{{"object":"embedding","index":{},"embedding":{}}})", i == 0 ? "" : ",", i,
                        written(embed(inputs[i], dimensions), format));
  }
  const std::size_t tokens = (body.size() + 3) / 4;
  return fmt::format(
      R"({{"object":"list","data":[{}],"model":{},"usage":{{"prompt_tokens":{},"total_tokens":{}}}}})", data,
      json_text(text_in(object, "model").value_or("")), tokens, tokens);
}

}  // namespace tare::provider
