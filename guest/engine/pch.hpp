// The headers that nearly every file of the engine includes; each file still names its own.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <node.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <v8.h>
#include <vector>

#include <fmt/format.h>
