#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/describe.hpp>

#include "base/error.hpp"
#include "serve/serve.hpp"
#include "spawner/operation.hpp"

namespace tare::spawner {

/// The parameters of a row, each needed by some rows only.
struct Params {
  std::optional<std::uint32_t> timeout_ms;
  std::optional<std::uint32_t> fanout;
  std::optional<std::string> nonce;
  std::optional<std::uint64_t> bytes;
  std::optional<std::string> input;
  std::optional<std::string> dir;
  std::optional<std::string> file;
  std::optional<std::string> content;
};
BOOST_DESCRIBE_STRUCT(Params, (), (timeout_ms, fanout, nonce, bytes, input, dir, file, content))

/// One of the floor lanes: which rows it has and how it carries them out.
class Lane {
 public:
  /// `kind` is native, sh or cmd. Throws Error(usage) when the words do not fit it.
  Lane(std::string_view kind, std::vector<std::string> words);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& rows() const { return rows_; }
  const std::map<std::string, std::string>& unavailable() const { return unavailable_; }

  /// One sample of a row. Throws serve::Refusal for a row that this lane does not have and for missing
  /// parameters, LabVanished when the lab is gone.
  Sample sample(const std::string& row, const Params& params) const;

 private:
  void offer_scripts();
  process::SpawnOptions script(std::string_view text) const;
  Sample scripted(const std::string& row, const Params& params, Nanoseconds timeout) const;

  std::string name_;
  std::vector<std::string> words_;
  std::vector<std::string> rows_;
  std::map<std::string, std::string> unavailable_;
};

/// The n of "fanout_<n>", 1 to 10,000; nothing for any other row.
std::optional<unsigned> fanout_of(std::string_view row);

}  // namespace tare::spawner
