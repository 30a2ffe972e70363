#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli.hpp"

/// Completions and the manual page, both made from the flags themselves, so that they cannot disagree with
/// them.
namespace tare::cli {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

std::vector<const CLI::Option*> flags(const CLI::App& app) {
  std::vector<const CLI::Option*> found = app.get_options();
  std::erase_if(found, [](const CLI::Option* option) { return option->get_lnames().empty(); });
  return found;
}

std::vector<std::string> words(const CLI::App& app) {
  std::vector<std::string> all;
  for (const CLI::App* sub : subcommands(app)) all.push_back(sub->get_name());
  for (const CLI::Option* option : flags(app)) all.push_back(name_of(*option));
  return all;
}

/// Calls `visit(path, app)` for an app and all its subcommands; the path of `tare targets install` is
/// "targets install", that of tare itself is empty.
template <class Visit>
void walk(const CLI::App& app, const std::string& path, const Visit& visit) {
  visit(path, app);
  for (const CLI::App* sub : subcommands(app))
    walk(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), visit);
}

std::string bash(const CLI::App& root) {
  std::string cases;
  walk(root, "", [&](const std::string& path, const CLI::App& app) {
    cases += fmt::format("    '{}') words='{}' ;;\n", path, text::join(words(app), " "));
  });
  return fmt::format(
      "# bash completion of tare: source it, or put it into /etc/bash_completion.d/\n"
      "_tare() {{\n"
      "  local path= word words=\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case $word in -*) ;; *) [ ${{#path}} -gt 0 ] && path=\"$path $word\" || path=$word ;; esac\n"
      "  done\n"
      "  case ${{COMP_WORDS[COMP_CWORD-1]}} in\n"
      "    "
      "--output|--output-dir|--export|--markdown|--resume|--node|--budgets|--baseline|--junit|--cpu-prof|--"
      "heap-prof) "
      "COMPREPLY=($(compgen -f -- \"${{COMP_WORDS[COMP_CWORD]}}\")); return ;;\n"
      "  esac\n"
      "  case $path in\n{}  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n"
      "}}\n"
      "complete -o default -F _tare tare\n",
      cases);
}

std::string zsh(const CLI::App& root) {
  return "#compdef tare\nautoload -U +X bashcompinit && bashcompinit\n" + bash(root);
}

std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2)
    text.replace(at, 1, "\\'");
  return "'" + text + "'";
}

std::string fish(const CLI::App& root) {
  std::string out =
      "# fish completion of tare: put it into ~/.config/fish/completions/tare.fish\ncomplete -c tare -f\n";
  walk(root, "", [&](const std::string& path, const CLI::App& app) {
    const std::string last = path.substr(path.rfind(' ') + 1);
    const std::string when = path.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + last;
    for (const CLI::App* sub : subcommands(app)) {
      out += fmt::format("complete -c tare -n '{}' -a {} -d {}\n", when, sub->get_name(),
                         quoted(sub->get_description()));
    }
    for (const CLI::Option* option : flags(app)) {
      out += fmt::format("complete -c tare -n '{}' -l {} -d {}\n", when, name_of(*option).substr(2),
                         quoted(option->get_description()));
    }
  });
  return out;
}

std::string roff(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("\\-", at)) != std::string::npos; at += 2) {
    text.replace(at, 1, text[at] == '-' ? "\\-" : "\\e");
  }
  if (text.starts_with(".") || text.starts_with("'")) text.insert(0, "\\&");
  return text;
}

std::string paragraph(const std::string& text) {
  std::string out;
  for (const std::string& line : text::split(text, '\n')) out += roff(line) + "\n";
  return out;
}

std::string manual(const CLI::App& root) {
  std::string out = fmt::format(
      ".TH TARE 1 \"\" \"tare {}\"\n.SH NAME\ntare \\- a performance lab for AI\\-agent runtimes\n",
      version());
  out += ".SH SYNOPSIS\n.B tare\n.I command\n.RI [ flags ]\n.SH DESCRIPTION\n" +
         paragraph(root.get_description());
  walk(root, "", [&](const std::string& path, const CLI::App& app) {
    if (!path.empty()) out += fmt::format(".SH \"TARE {}\"\n{}", path, paragraph(app.get_description()));
    for (const CLI::Option* option : flags(app)) {
      const std::string value = option->get_expected_max() == 0 ? "" : " " + option->get_type_name();
      out +=
          fmt::format(".TP\n.B {}\n{}", roff(name_of(*option) + value), paragraph(option->get_description()));
    }
    if (!path.empty() && !app.get_footer().empty())
      out += ".PP\n.nf\n" + paragraph(app.get_footer()) + ".fi\n";
  });
  return out + ".SH EXAMPLES AND EXIT CODES\n.nf\n" + paragraph(root.get_footer()) + ".fi\n";
}

}  // namespace

void add_completions(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completions", "Completions for a shell, or the manual page, on stdout");
  command->add_option("KIND", *shell, "bash, zsh, fish or man")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  command->footer("Example:\n  tare completions bash > /etc/bash_completion.d/tare");
  command->callback([shell, &app, &context] {
    context.action = [shell, &app] {
      const auto make = *shell == "bash" ? bash : *shell == "zsh" ? zsh : *shell == "fish" ? fish : manual;
      write_stdout(make(app));
      return static_cast<int>(exit_ok);
    };
  });
}

}  // namespace tare::cli
