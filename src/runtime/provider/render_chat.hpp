#pragma once

#include "runtime/provider/render.hpp"

namespace tare::provider {

/// `POST /v1/chat/completions`: a first chunk with the role only, the text, the calls (each in two pieces),
/// the reason why it ends, usage.
class ChatRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  std::string begin() override;
  std::string end() override;
  std::string whole() override;

 protected:
  std::string render_delta(std::string_view text, std::string_view stamp) override;

 private:
  std::string chunk(std::string_view delta, std::string_view finish_reason, std::string_view stamp) const;
  std::string head(std::string_view object) const;
  std::string usage() const;
  std::string_view finish_reason() const;
};

}  // namespace tare::provider
