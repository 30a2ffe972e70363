#pragma once

#include <string>
#include <vector>

#include "lab/gate/gate.hpp"
#include "lab/report/terminal.hpp"

/// What every report of a gate says in the same words. Names are foreign text: escape them where they go.
namespace tare::gate {

/// "2 of 9 figures failed, 1 unmeasured, 1 inconclusive (3 budgets)", "all 9 figures passed (3 budgets)"
std::string gate_line(const GateDocument& gate);

/// "fail – 2 of 9 figures failed, 1 unmeasured (3 budgets)"
std::string gate_title(const GateDocument& gate);

/// "total p50", "emulation tax, total p50", "syncFiles", "failed samples"
std::string figure_name(const BudgetResult& result);

/// "node_exit_1 on agentos, total p50"
std::string full_name(const BudgetResult& result);

/// "43.2 ms (42.8–43.9 ms)", "43.2 ms", or "n/a"
std::string measured_text(const BudgetResult& result);
std::string point_text(const BudgetResult& result);
std::string interval_text(const BudgetResult& result);

/// "node_exit_1 on agentos, total p50: 43.2 ms (42.8–43.9 ms), limit ≤ 40 ms; the whole interval is past …"
std::string sentence(const BudgetResult& result);

/// Results with the worst verdicts first, else in the order of the gate.
std::vector<const BudgetResult*> worst_first(const GateDocument& gate);

report::Tone tone_of(report::Verdict verdict);

/// "out/run.json · 2026-01-31T12:00:00Z · tare 0.1.0 (…) · 2 × Example CPU"
std::string side_text(const Side& side);

}  // namespace tare::gate
