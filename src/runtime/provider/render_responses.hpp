#pragma once

#include "runtime/provider/render.hpp"

namespace tare::provider {

/// `POST /v1/responses`: one message item, which is commentary when calls follow, then an item for each call.
class ResponsesRenderer final : public Renderer {
 public:
  using Renderer::Renderer;
  std::string begin() override;
  std::string end() override;
  std::string whole() override;

 protected:
  std::string render_delta(std::string_view text, std::string_view stamp) override;

 private:
  std::string message(std::string_view status, std::string_view content) const;
  std::string finished_message(std::string_view text) const;
  std::string response(std::string_view text) const;
};

}  // namespace tare::provider
