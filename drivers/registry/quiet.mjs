// Import this before node:sqlite: its note that it is experimental would be in every log.

import process from "node:process";

const emit = process.emitWarning;

process.emitWarning = function (warning, ...rest) {
  const type = typeof rest[0] === "string" ? rest[0] : (rest[0]?.type ?? warning?.name);
  if (type === "ExperimentalWarning" && /sqlite/i.test(String(warning))) return;
  emit.call(process, warning, ...rest);
};
