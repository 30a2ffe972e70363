#pragma once

#include <memory>

#include "engine/kernel/process.hpp"

namespace tare::kernel {

/// Runs a process whose program is the shell, on the calling thread, and says how it ended; the caller then
/// calls post_exit() with that. `sh -c COMMAND [NAME [ARG...]]`, `sh FILE`, or `sh` with commands on stdin.
///
/// It knows words, '...', "...", backslashes, $NAME, ${NAME}, $?, $$, $0 to $9, NAME=value before a command
/// and alone, pipes, < > >> 2> 2>> 2>&1 >&2, && || ; newlines and comments, and the builtins true, false, :,
/// echo, exit, cd, pwd, export. Everything else of a shell (globs, $(...), `...`, &, here-documents,
/// functions, if/for/while, subshells) is a syntax error on stderr that names it, and exit 2: nothing of the
/// command has run then. A command that does not exist is "sh: 1: NAME: not found" and 127, one that may not
/// run "Permission denied" and 126.
///
/// The children it starts are killed with it only when the whole tree is; a killed shell returns at once.
Exit run_shell(const std::shared_ptr<Process>& process);

}  // namespace tare::kernel
