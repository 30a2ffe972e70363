// node_exit_1 in a loop on agentOS's own SDK, written by hand: what the driver's figures are compared with.
//
//   node agentos_loop.mjs FOLDER ITERATIONS    FOLDER holds node_modules
//
// For every line on stdin one guest is started and waited for; its nanoseconds are printed as one line.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, iterations] = process.argv.slice(2);
const dist = join(resolve(folder), "node_modules/@rivet-dev/agentos-runtime-core/dist");
const { NodeRuntime, SidecarProcess } = await import(pathToFileURL(join(dist, "index.js")));
const { createInMemoryFileSystem } = await import(pathToFileURL(join(dist, "test-runtime.js")));

const scratch = (process.env.TMPDIR = mkdtempSync(join(tmpdir(), "agentos-loop-"))); // a killed sidecar leaves files
const sidecar = SidecarProcess.spawn();
const vm = await NodeRuntime.create({
  filesystem: createInMemoryFileSystem(),
  permissions: { fs: "allow", network: "allow", childProcess: "allow", process: "allow", env: "allow" },
  jsRuntime: { highResolutionTime: true },
  sidecar,
});

let left = Number(iterations);
for await (const _ of createInterface({ input: process.stdin })) {
  const start = process.hrtime.bigint();
  const code = await vm.spawnCommand("node", ["-e", "process.exit(0)"]).wait();
  const elapsed = process.hrtime.bigint() - start;
  if (code !== 0) throw new Error(`the guest exited with ${code}`);
  console.log(String(elapsed));
  left -= 1;
  if (left === 0) break;
}
sidecar.protocolClient.child.kill("SIGKILL"); // its own way can take seconds
await new Promise((resolve) => sidecar.protocolClient.child.once("exit", resolve));
rmSync(scratch, { recursive: true, force: true });
process.exit(0);
