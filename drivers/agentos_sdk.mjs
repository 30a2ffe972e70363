// The installed agentOS SDK: found, checked against the version that is pinned, and loaded.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const SDK = "@rivet-dev/agentos-runtime-core";

/** What the sidecar of the pinned version embeds, as `process.versions.v8` of a guest says. */
const ENGINE = "v8 13.0.245.12-rusty";

/** Where the manifest with the pinned version is: in the sources, and installed. */
const MANIFESTS = ["../packages/agentos/package.json", "../../../share/tare/packages/agentos/package.json"];

const HINT = "`tare targets install agentos` installs it";

const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

function pinnedVersion() {
  const paths = MANIFESTS.map((relative) => fileURLToPath(new URL(relative, import.meta.url)));
  const manifest = paths.find((path) => existsSync(path));
  if (manifest === undefined) throw new Error("the manifest of the package agentos is missing; install Tare again");
  return readJson(manifest).dependencies[SDK];
}

function installedVersion(folder) {
  try {
    return readJson(join(folder, "node_modules", SDK, "package.json")).version;
  } catch (error) {
    throw new Error(`agentOS is not installed in ${folder} (${error.code ?? "its package.json is damaged"}); ${HINT}`);
  }
}

/**
 * The SDK of a folder that holds node_modules:
 * {version, engine, SidecarProcess, NodeRuntime, createInMemoryFileSystem}.
 * Throws an Error of one line when it is missing, damaged or of another version than the pinned one.
 */
export async function loadSdk(folder) {
  const [pinned, version] = [pinnedVersion(), installedVersion(folder)];
  if (version !== pinned) throw new Error(`agentOS in ${folder} is ${version}, not ${pinned}; ${HINT}`);

  // What is measured is what is pinned: no other binary, and no tracing that nobody asked for.
  for (const name of Object.keys(process.env)) if (name.startsWith("AGENTOS_")) delete process.env[name];

  const load = (file) => import(pathToFileURL(join(folder, "node_modules", SDK, "dist", file)));
  try {
    const [core, test, binary] = await Promise.all(["index.js", "test-runtime.js", "binary.js"].map(load));
    if (!existsSync(binary.resolvePublishedSidecarBinary())) throw new Error("there is no sidecar binary");
    const { SidecarProcess, NodeRuntime } = core;
    const { createInMemoryFileSystem } = test;
    return { version, engine: ENGINE, SidecarProcess, NodeRuntime, createInMemoryFileSystem };
  } catch (error) {
    const why = String(error?.message ?? error).split("\n")[0];
    throw new Error(`agentOS ${version} in ${folder} cannot be loaded (${why}); ${HINT}`);
  }
}
