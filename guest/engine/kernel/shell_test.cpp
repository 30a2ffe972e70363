#include "engine/kernel/shell.hpp"

#include <csignal>
#include <latch>

#include <gtest/gtest.h>

#include "engine/kernel/kernel_testing.hpp"
#include "engine/kernel/pipe.hpp"
#include "engine/kernel/shell_syntax.hpp"

namespace tare::kernel {
namespace {

using testing::bytes;
using testing::command;
using testing::read_all;
using testing::soon;
using testing::stream;
using testing::Threads;

/// `node cat`, `node args ...`, `node exit N`, `node err`, `node env NAME`, `node hang`.
class Shell : public ::testing::Test {
 protected:
  struct Output {
    std::string out;
    std::string err;
    Exit exit;
  };

  Shell() {
    const auto say = [](const auto& me, int fd, std::string_view text) {
      if (const auto to = me->fds().get(fd); to.ok()) (void)write_blocking(me->wait(), **to, bytes(text));
    };
    runner->add("cat", [=](const auto& me) {
      say(me, 1, read_all(**me->fds().get(0)));
      return Exit::with_code(0);
    });
    runner->add("args", [=](const auto& me) {
      for (std::size_t i = 2; i < me->argv().size(); ++i) say(me, 1, "[" + me->argv()[i] + "]");
      say(me, 1, "\n");
      return Exit::with_code(0);
    });
    runner->add("exit", [](const auto& me) { return Exit::with_code(std::stoi(me->argv()[2])); });
    runner->add("err", [=](const auto& me) {
      say(me, 1, "out\n");
      say(me, 2, "err\n");
      return Exit::with_code(0);
    });
    runner->add("env", [=](const auto& me) {
      const auto found = me->env().find(me->argv()[2]);
      say(me, 1, found == me->env().end() ? "unset\n" : found->second + "\n");
      return Exit::with_code(0);
    });
    runner->add("hang", [this](const auto& me) {
      hanging.count_down();
      (void)me->wait()->block(me->wait()->ticket());
      return Exit::with_code(0);
    });
  }
  ~Shell() override { runner->join(); }

  Output run_argv(std::vector<std::string> argv, std::string input = "") {
    auto in = make_pipe(nullptr);
    auto out = make_pipe(nullptr);
    auto err = make_pipe(nullptr);
    Output output;
    SpawnRequest request = command(std::move(argv));
    request.stdio = {stream(std::move(in.reader)), stream(std::move(out.writer)),
                     stream(std::move(err.writer))};
    request.env = {{"HOME", "/root"}, {"WORDS", "a  b"}};
    request.cwd = "/tmp";
    request.on_exit = [&](int, const Exit& exit) { output.exit = exit; };
    EXPECT_TRUE(vm->processes().create(nullptr, std::move(request)).ok());
    (void)in.writer->write(bytes(input));
    in.writer.reset();
    output.out = read_all(*out.reader);
    output.err = read_all(*err.reader);
    EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
    return output;
  }
  Output run(std::string_view text) { return run_argv({"sh", "-c", std::string(text)}); }
  std::string out(std::string_view text) {
    const Output output = run(text);
    EXPECT_EQ(output.err, "") << text;
    return output.out;
  }
  int code(std::string_view text) { return run(text).exit.code.value_or(-1); }

  SystemClock clock;
  std::latch hanging{1};
  std::shared_ptr<Threads> runner = std::make_shared<Threads>();
  std::shared_ptr<Vm> vm = Vm::create({.permissions = allow_all}, clock, runner);
};

TEST_F(Shell, quotes_words_as_sh_does) {
  EXPECT_EQ(out(R"(node args a 'b  c' "d e" f\ g "" '' x"y"'z')"), "[a][b  c][d e][f g][][][xyz]\n");
  EXPECT_EQ(out(R"(node args "\$x \" \\ \n" '\n' \$)"), "[$x \" \\ \\n][\\n][$]\n");
  EXPECT_EQ(out("node args a \\\n b # comment\n"), "[a][b]\n");
  EXPECT_EQ(out("node args a#b 'c'#d"), "[a#b][c#d]\n");
}

TEST_F(Shell, expands_variables) {
  EXPECT_EQ(out(R"(node args $WORDS "$WORDS" ${WORDS}x '$WORDS' $NONE "$NONE" $ 5$)"),
            "[a][b][a  b][a][bx][$WORDS][][$][5$]\n");
  EXPECT_EQ(out("X=1; Y=$X$X; node args $Y; node env X"), "[11]\nunset\n");
  EXPECT_EQ(out("X=1 node env X; node args $X"), "1\n\n");
  EXPECT_EQ(out("export X=1 Z; node env X; node env Z"), "1\nunset\n");
  EXPECT_EQ(out("false; echo $?; true; echo $?"), "1\n0\n");
  EXPECT_EQ(run_argv({"sh", "-c", "echo $0 $1 $2 $#", "me", "one"}).out, "me one 1\n");
}

TEST_F(Shell, joins_commands_by_their_status) {
  EXPECT_EQ(out("true && echo a || echo b; false && echo c || echo d\necho e"), "a\nd\ne\n");
  EXPECT_EQ(out("false ||\n echo next"), "next\n");
  EXPECT_EQ(code("node exit 3"), 3);
  EXPECT_EQ(code("node exit 3; true"), 0);
  EXPECT_EQ(code("true && node exit 4"), 4);
  EXPECT_EQ(code("false || exit 5; echo not this"), 5);
  EXPECT_EQ(code(""), 0);
  EXPECT_EQ(code("exit"), 0);
  EXPECT_EQ(code("false; exit"), 1);
}

TEST_F(Shell, connects_pipes) {
  EXPECT_EQ(out("echo hello | node cat | node cat"), "hello\n");
  EXPECT_EQ(code("node exit 3 | true"), 0);
  EXPECT_EQ(code("true | node exit 6"), 6);
  EXPECT_EQ(out("node args lost | echo kept"), "kept\n");
  EXPECT_EQ(out("echo a | cd / | pwd; pwd"), "/tmp\n/tmp\n");
  EXPECT_EQ(out("X=1 | true; echo \"[$X]\""), "[]\n");
}

TEST_F(Shell, redirects_streams) {
  EXPECT_EQ(out("echo one > f; echo two >> f; node cat < f"), "one\ntwo\n");
  EXPECT_EQ(out("node err 2>&1"), "out\nerr\n");
  EXPECT_EQ(out("node err 2> e; node cat < e"), "out\nerr\n");
  EXPECT_EQ(out("node err > both 2>&1; node cat <both"), "out\nerr\n");
  EXPECT_EQ(run("echo oops >&2").err, "oops\n");
  EXPECT_EQ(out("node err 2>/dev/null"), "out\n");
  EXPECT_EQ(out("> empty; node cat < empty"), "");
  EXPECT_EQ(run("node cat < none; echo $?").out, "2\n");
  EXPECT_EQ(run("node cat < none").err, "sh: 1: cannot open none: No such file\n");
  EXPECT_EQ(run("echo x > no/such").err, "sh: 1: cannot create no/such: Directory nonexistent\n");
}

TEST_F(Shell, has_its_builtins) {
  EXPECT_EQ(out("pwd; cd /usr/bin; pwd; cd ..; pwd; cd; pwd; cd -"), "/tmp\n/usr/bin\n/usr\n/root\n/usr\n");
  EXPECT_EQ(out("cd /usr && node env PWD"), "unset\n");
  EXPECT_EQ(out("echo -n a; echo 'b\\tc\\n'; echo a  b"), "ab\tc\n\na b\n");
  EXPECT_EQ(run("cd /none").err, "sh: 1: cd: can't cd to /none\n");
  EXPECT_EQ(out("echo 'c\\0101' 'x\\cy' z"), "cA x");
  EXPECT_EQ(code("export 1a; true"), 2);
  EXPECT_EQ(code("exit 300"), 44);
  EXPECT_EQ(code("exit x"), 2);
}

TEST_F(Shell, names_what_it_cannot_find) {
  EXPECT_EQ(run("nosuch").err, "sh: 1: nosuch: not found\n");
  EXPECT_EQ(code("nosuch"), 127);
  EXPECT_EQ(run("true\n\nnosuch 2>/dev/null; nosuch2").err, "sh: 3: nosuch2: not found\n");
  EXPECT_EQ(run_argv({"/bin/sh", "-c", "nosuch; true"}).err, "/bin/sh: 1: nosuch: not found\n");
  EXPECT_TRUE(vm->files().write_file({}, "/tmp/plain", "text", 0644).ok());
  EXPECT_EQ(run("./plain").err, "sh: 1: ./plain: Permission denied\n");
  EXPECT_EQ(code("./plain"), 126);
}

TEST_F(Shell, refuses_what_it_does_not_know_before_anything_runs) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"echo *", "globs"},
      {"echo a?", "globs"},
      {"echo $(date)", "command substitutions"},
      {"echo `date`", "command substitutions"},
      {"echo \"$(date)\"", "command substitutions"},
      {"sleep 1 &", "background commands"},
      {"cat <<E\nE", "here-documents"},
      {"(true)", "subshells"},
      {"f() { true; }", "functions"},
      {"if true; then true; fi", "compound commands"},
      {"! true", "compound commands"},
      {"echo ${X:-1}", "expansions"},
      {"echo $@", "expansions"},
      {"echo ~", "home directories"},
      {"echo 3> x", "descriptors above 2"},
      {"echo 'open", "Unterminated quoted string"},
      {"echo \"open", "Unterminated quoted string"},
      {"| true", "\"|\" unexpected"},
      {"true &&", "end of file unexpected"},
      {"true ;; true", "\";;\" unexpected"},
      {"; true", "\";\" unexpected"},
      {"echo >", "end of file unexpected"},
      {"echo >&9", "Bad fd number"},
  };
  for (const auto& [text, message] : cases) {
    const Output output = run("echo before; true\n" + std::string(text));
    EXPECT_EQ(output.exit, Exit::with_code(2)) << text;
    EXPECT_EQ(output.out, "") << text;
    EXPECT_TRUE(output.err.starts_with("sh: 2: Syntax error: ")) << text << ": " << output.err;
    EXPECT_NE(output.err.find(message), std::string::npos) << text << ": " << output.err;
  }
}

TEST_F(Shell, reads_files_and_stdin) {
  EXPECT_TRUE(vm->files().write_file({}, "/tmp/s.sh", "#!/bin/sh\necho $0 $1\n", 0755).ok());
  EXPECT_EQ(out("./s.sh a"), "./s.sh a\n");
  EXPECT_EQ(run_argv({"sh", "s.sh", "b"}).out, "s.sh b\n");
  EXPECT_EQ(run_argv({"sh"}, "echo from stdin\nexit 3").out, "from stdin\n");
  EXPECT_EQ(run_argv({"sh", "none"}).err, "sh: 0: cannot open none: No such file\n");
  EXPECT_EQ(run_argv({"sh", "-x"}).exit, Exit::with_code(2));
}

TEST_F(Shell, gives_its_signals_to_what_it_runs_last) {
  std::optional<Exit> seen;
  SpawnRequest request = command({"sh", "-c", "true; node hang"});
  request.on_exit = [&](int, const Exit& exit) { seen = exit; };
  const auto shell = *vm->processes().create(nullptr, std::move(request));
  hanging.wait();
  EXPECT_TRUE(shell->signal(SIGTERM).ok());
  EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
  EXPECT_EQ(seen, Exit::by_signal(SIGTERM));
}

TEST_F(Shell, killed_takes_what_it_runs_last_along) {
  std::optional<Exit> seen;
  SpawnRequest request = command({"sh", "-c", "node hang"});
  request.on_exit = [&](int, const Exit& exit) { seen = exit; };
  const auto shell = *vm->processes().create(nullptr, std::move(request));
  hanging.wait();
  EXPECT_TRUE(shell->signal(SIGKILL, "limit").ok());
  EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
  EXPECT_EQ(seen, Exit::by_signal(SIGKILL, "limit"));
}

TEST_F(Shell, killed_while_it_waits_returns_at_once) {
  std::optional<Exit> seen;
  SpawnRequest request = command({"sh", "-c", "node hang; echo never"});
  request.on_exit = [&](int, const Exit& exit) { seen = exit; };
  const auto shell = *vm->processes().create(nullptr, std::move(request));
  hanging.wait();
  EXPECT_EQ(vm->processes().kill_tree(shell->pid(), "tree"), 2u);
  EXPECT_TRUE(vm->processes().wait_until_empty(soon()));
  EXPECT_EQ(seen, Exit::by_signal(SIGKILL, "tree"));
}

TEST_F(Shell, says_what_killed_a_command) {
  runner->add("suicide", [](const auto& me) {
    (void)me->signal(SIGKILL);
    return Exit::with_code(0);
  });
  const Output output = run("node suicide; echo $?");
  EXPECT_EQ(output.err, "Killed\n");
  EXPECT_EQ(output.out, "137\n");
  EXPECT_EQ(run("node suicide").exit, Exit::by_signal(SIGKILL));
}

TEST_F(Shell, says_when_no_process_is_left) {
  vm = Vm::create({.limits = {.processes = 1}, .permissions = allow_all}, clock, runner);
  const Output output = run("node cat; true");
  EXPECT_EQ(output.err, "sh: 1: Cannot fork\n");
  EXPECT_EQ(output.exit, Exit::with_code(0));
}

}  // namespace
}  // namespace tare::kernel
