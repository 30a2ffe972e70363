#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"

/// The payloads of the frames, as structs: written with json::line, read with `parse`. Unknown members are
/// ignored, so that either side may learn more first.
namespace tare::guest {

/// A payload as a struct. Throws Error(input).
template <class T>
T parse(std::string_view payload) {
  return json::read<T>(json::parse(payload, "guest message"), "guest message");
}

// The names of enumerators are those of the wire.

enum class Access { deny, allow };
BOOST_DESCRIBE_ENUM(Access, deny, allow)

/// What the processes of a virtual machine may do. Of the host they see nothing either way.
struct Permissions {
  Access fs = Access::deny;             ///< use the machine's own files
  Access network = Access::deny;        ///< reach the host's network
  Access child_process = Access::deny;  ///< start processes in the machine
  Access env = Access::deny;            ///< see the variables that the machine or a spawn gives them
};
BOOST_DESCRIBE_STRUCT(Permissions, (), (fs, network, child_process, env))

/// Limits of a virtual machine (processes, files) and of each process in it (the rest). What is absent is the
/// engine's default.
struct Limits {
  std::optional<std::uint64_t> processes;           ///< that live at once
  std::optional<std::uint64_t> open_files;          ///< of a process
  std::optional<std::uint64_t> file_bytes;          ///< of all files together
  std::optional<std::uint64_t> inodes;              ///< files, folders and links
  std::optional<std::uint64_t> memory_bytes;        ///< of the JavaScript heap
  std::optional<std::uint64_t> array_buffer_bytes;  ///< of all ArrayBuffers together
  std::optional<std::uint64_t> output_bytes;        ///< written to stdout and stderr
  std::optional<std::uint64_t> wall_ms;             ///< from start to exit
  std::optional<std::uint64_t> cpu_ms;              ///< used by the process
};
BOOST_DESCRIBE_STRUCT(Limits, (),
                      (processes, open_files, file_bytes, inodes, memory_bytes, array_buffer_bytes,
                       output_bytes, wall_ms, cpu_ms))

enum class MountAccess { ro, rw };
BOOST_DESCRIBE_ENUM(MountAccess, ro, rw)

/// A folder of the host that the processes of a machine see.
struct Mount {
  std::string host;   ///< absolute
  std::string guest;  ///< absolute; made where it is missing, else an empty folder
  MountAccess access = MountAccess::ro;
};
BOOST_DESCRIBE_STRUCT(Mount, (), (host, guest, access))

struct CreateVm {
  Permissions permissions;
  Limits limits;
  std::map<std::string, std::string> env;
  std::string cwd = "/root";
  std::vector<Mount> mounts;
};
BOOST_DESCRIBE_STRUCT(CreateVm, (), (permissions, limits, env, cwd, mounts))

enum class Stdio { ignore, pipe };
BOOST_DESCRIBE_ENUM(Stdio, ignore, pipe)

/// What V8 can record of a process while it runs: where its time goes, or who allocates what lives.
enum class ProfileKind { cpu, heap };
BOOST_DESCRIBE_ENUM(ProfileKind, cpu, heap)

struct Spawn {
  std::uint32_t vm = 0;
  std::optional<std::uint32_t> context;
  std::vector<std::string> argv;                          ///< the first names the program
  std::optional<std::string> cwd;                         ///< instead of the machine's
  std::optional<std::map<std::string, std::string>> env;  ///< instead of the machine's
  Stdio stdio = Stdio::ignore;
  std::optional<std::uint64_t> timeout_ms;           ///< wall time of this process; reason wall_time
  std::optional<std::vector<ProfileKind>> profiles;  ///< of this process, not of its children
};
BOOST_DESCRIBE_STRUCT(Spawn, (), (vm, context, argv, cwd, env, stdio, timeout_ms, profiles))

/// The first line of a profile frame; a part of the profile's JSON follows its newline.
struct ProfilePart {
  ProfileKind kind = ProfileKind::cpu;
  bool last = false;                 ///< nothing more of this kind comes
  std::optional<std::string> error;  ///< there is no profile: why
};
BOOST_DESCRIBE_STRUCT(ProfilePart, (), (kind, last, error))

/// Of all parts of a profile together. A larger one is refused.
inline constexpr std::size_t profile_limit = std::size_t{256} << 20;

std::string encode_profile(const ProfilePart& part, std::string_view bytes);

struct ProfileFrame {
  ProfilePart part;
  std::string_view bytes;  ///< within the payload
};
/// Throws Error(input).
ProfileFrame decode_profile(std::string_view payload);

struct Kill {
  std::string signal = "SIGKILL";
};
BOOST_DESCRIBE_STRUCT(Kill, (), (signal))

/// The first line of a write_file; the bytes follow its newline.
struct WriteFile {
  std::string path;  ///< absolute; folders that are missing are made
  std::uint32_t mode = 0644;
};
BOOST_DESCRIBE_STRUCT(WriteFile, (), (path, mode))

std::string encode_write_file(const WriteFile& file, std::string_view content);

struct WriteFileParts {
  WriteFile file;
  std::string_view content;  ///< a part of the payload
};
/// Throws Error(input).
WriteFileParts decode_write_file(std::string_view payload);

/// Where the code that V8 makes of what guests bring is kept for those after them. The engine's own library
/// has a place of its own, always.
enum class CodeCacheMode {
  shared,  ///< in the engine's memory, with that of all others
  off,     ///< nowhere
  folder,  ///< in a folder of the host
};
BOOST_DESCRIBE_ENUM(CodeCacheMode, shared, off, folder)

struct CreateContext {
  std::uint32_t vm = 0;
  std::optional<std::string> bootstrap;  ///< a script that runs before each program
  CodeCacheMode code_cache = CodeCacheMode::shared;
  std::optional<std::string> compile_cache_dir;  ///< of the mode folder
};
BOOST_DESCRIBE_STRUCT(CreateContext, (), (vm, bootstrap, code_cache, compile_cache_dir))

/// How often code of a process's own scripts and modules was looked for. Counted by its own thread until its
/// end.
struct CodeCacheUse {
  std::uint64_t accepted = 0;  ///< V8 took what was there
  std::uint64_t rejected = 0;  ///< it did not
  std::uint64_t missed = 0;    ///< nothing was there
  std::uint64_t graphs = 0;    ///< imports that found all of their modules at once
};
BOOST_DESCRIBE_STRUCT(CodeCacheUse, (), (accepted, rejected, missed, graphs))

/// By name: userNamespace, mountNamespace, networkNamespace, ipcNamespace, capabilities, privateView,
/// landlock, noNewPrivs, seccomp.
/// True: active. False: not asked for. A text: why it is not active.
using Isolation = std::map<std::string, json::Value>;

struct Ready {
  std::int64_t pid = 0;
  std::string v8;    ///< "13.6.233.17-node.44"
  std::string node;  ///< "24.22.3"
  Isolation isolation;
  std::optional<bool> trace;  ///< it counts its stages
};
BOOST_DESCRIBE_STRUCT(Ready, (), (pid, v8, node, isolation, trace))

struct Started {
  std::int64_t pid = 0;  ///< in the virtual machine
};
BOOST_DESCRIBE_STRUCT(Started, (), (pid))

/// Why a process ended otherwise than by its own will.
namespace reason {
inline constexpr std::string_view refused = "refused";  ///< it was never started; detail is the errno's text
inline constexpr std::string_view memory = "memory";
inline constexpr std::string_view array_buffer = "arrayBuffer";
inline constexpr std::string_view cpu_time = "cpuTime";
inline constexpr std::string_view wall_time = "wallTime";
inline constexpr std::string_view output = "output";
inline constexpr std::string_view killed = "killed";
inline constexpr std::string_view crashed = "crashed";
}  // namespace reason

/// Exactly one a spawn, after its stdio socket was closed. Of code and signal at most one is there; neither
/// when the process was refused.
struct Exited {
  std::optional<std::int32_t> code;
  std::optional<std::string> signal;       ///< "SIGKILL"
  std::optional<std::string> reason;       ///< one of the names above
  std::optional<std::string> detail;       ///< more about the reason, for a person
  json::Value sync = "skipped";            ///< "skipped", or how many files were written back to the host
  std::uint64_t files_lost = 0;            ///< not written back, of its children's files, too
  std::vector<std::string> sync_problems;  ///< of all those, a line each for a person
  std::optional<std::uint64_t> cpu_ns;     ///< processor time of its thread; not of what never ran
  std::optional<CodeCacheUse> code_cache;  ///< not of what never ran
  std::optional<bool> pooled;              ///< its isolate was there before it
};
BOOST_DESCRIBE_STRUCT(Exited, (),
                      (code, signal, reason, detail, sync, files_lost, sync_problems, cpu_ns, code_cache,
                       pooled))

enum class Level { debug, info, warning, error };
BOOST_DESCRIBE_ENUM(Level, debug, info, warning, error)

struct Log {
  Level level = Level::info;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Log, (), (level, text))

/// How often the engine passed a stage of its work since it was started, and how long that took.
struct StageCount {
  std::uint64_t calls = 0;
  double total_us = 0;
  double max_us = 0;
};
BOOST_DESCRIBE_STRUCT(StageCount, (), (calls, total_us, max_us))

/// Those that were passed, by their names in kernel/trace.hpp, and others that a reader may look for.
struct StageReport {
  std::map<std::string, StageCount> stages;
  std::map<std::string, std::string> absent;  ///< why the engine has no such stage
};
BOOST_DESCRIBE_STRUCT(StageReport, (), (stages, absent))

/// The answer to create_vm, dispose_vm, write_file, stats, stages and create_context.
struct Reply {
  std::optional<std::string> error;
  /// Of stats, all since the engine's start or now: liveGuests, spawned, exited, poolHits, poolMisses,
  /// poolReady, vms, threads, abandoned, keptHeapPages.
  std::optional<std::map<std::string, std::int64_t>> counters;
  /// Of dispose_vm: how many processes still lived and were killed.
  std::optional<std::uint64_t> killed;
  std::optional<StageReport> stages;  ///< of stages
  /// Of dispose_vm: of files that were written and had not gone back yet, as in Exited.
  std::optional<std::uint64_t> files_lost;
  std::optional<std::vector<std::string>> sync_problems;
};
BOOST_DESCRIBE_STRUCT(Reply, (), (error, counters, killed, stages, files_lost, sync_problems))

/// The argument of engine.js.
/// How much of Node's library is loaded and compiled in a guest from its start.
enum class Library {
  small,    ///< what nearly every program needs
  modules,  ///< the loader of ES modules, too
  large,    ///< and what programs import most: they start faster, and hold 2 MB more each than with the small
            ///< one
};
BOOST_DESCRIBE_ENUM(Library, small, modules, large)

struct EngineConfig {
  std::optional<bool> build;          ///< make the snapshot and leave
  std::optional<Library> library;     ///< of the snapshot that is made; small without
  std::string pack;                   ///< path of the library's sources and tables
  std::string snapshot;               ///< path of the start-up snapshot; compiled code lies beside it
  std::optional<std::uint32_t> pool;  ///< isolates that wait for a process
  std::optional<std::uint64_t> memory_limit_bytes;  ///< of the whole engine process
  std::optional<bool> trace;                        ///< count the stages
};
BOOST_DESCRIBE_STRUCT(EngineConfig, (), (build, library, pack, snapshot, pool, memory_limit_bytes, trace))

/// "SIGKILL" of 9 and the reverse; nothing for what is not a signal.
std::optional<std::string> signal_name(int number);
std::optional<int> signal_number(std::string_view name);

}  // namespace tare::guest
