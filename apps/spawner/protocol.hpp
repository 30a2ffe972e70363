#pragma once

#include "serve/serve.hpp"
#include "spawner/lane.hpp"

/// The driver's side of `tare.driver.v1`.
namespace tare::spawner {

/// What a lane answers. The lane must outlive it.
serve::Handlers handlers(const Lane& lane);

}  // namespace tare::spawner
