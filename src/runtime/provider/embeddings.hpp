#pragma once

#include <string>
#include <string_view>

namespace tare::provider {

/// The answer of the mock server to `POST /v1/embeddings`: for each input a vector of length 1 that only its
/// text decides. Floats, or base64 of little-endian floats when `encoding_format` asks for that; 256
/// `dimensions` unless the request says 1 to 4096. Throws Error(input) for another body.
std::string embeddings_reply(std::string_view body);

}  // namespace tare::provider
