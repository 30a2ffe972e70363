#pragma once

#include "lab/report/document.hpp"

namespace tare::report {

/// The summary of a gateway, of its rows and of its record's runs. Budget violations are not computed: those
/// of the record are kept.
GatewaySummary summarise_gateway(const Document& document, const GatewayRecord& record);

/// Brings the summaries of all records up to date, once the rows and runs are there.
void finish_gateway_records(Document& document);

}  // namespace tare::report
