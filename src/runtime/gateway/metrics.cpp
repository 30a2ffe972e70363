#include "runtime/gateway/metrics.hpp"

#include "runtime/gateway/json_text.hpp"

namespace tare::gateway {

void MetricsText::family(std::string_view name, Type type, std::string_view help) {
  name_ = "tare_gateway_";
  name_ += name;
  out_ += "# HELP " + name_ + ' ';
  out_ += help;
  out_ += "\n# TYPE " + name_ + (type == Type::counter ? " counter\n" : " gauge\n");
}

void MetricsText::sample(double value, const Labels& labels) {
  out_ += name_;
  char open = '{';
  for (const auto& [key, text] : labels) {
    out_ += open;
    open = ',';
    out_ += key;
    out_ += '=';
    append_string(out_, text);  // quotes, backslashes and line ends are escaped alike
  }
  if (open == ',') out_ += '}';
  out_ += ' ';
  append_number(out_, value);
  out_ += '\n';
}

}  // namespace tare::gateway
