// Graphs of ES modules that a context keeps (host.kept_graph): the loader asks here for what a program imports, before it
// goes from module to module itself.
'use strict';

const { binding, host: { kept_graph: natives }, library: { require } } = tools;
const { ModuleJob } = require('internal/modules/esm/module_job');
const { compileSourceTextModule } = require('internal/modules/esm/utils');
const { resolveHooks, loadHooks } = require('internal/modules/customization_hooks');
const { kEvaluationPhase } = binding('module_wrap');

const hasNone = (attributes) => attributes === undefined || Object.keys(attributes).length === 0;

const origin = 'file://';

/** The path of a file's URL that has nothing else in it. A pattern would take longer, as each guest compiles it anew. */
const plainPath = (url) => (url.startsWith('file:///') && !url.includes('%') && !url.includes('?') && !url.includes('#') ?
  url.slice(origin.length) : undefined);

/** The path of what is imported, when it is named by one; undefined for packages and what only a URL can say. */
function pathOf(specifier, parentURL) {
  if (specifier.startsWith('./') || specifier.startsWith('../') || specifier.startsWith('/')) {
    return parentURL === undefined ? undefined : plainPath(new URL(specifier, parentURL).href);
  }
  return plainPath(specifier);
}

class KeptJob extends ModuleJob {
  /** Of the constructor: there is nothing to link to yet. */
  link() {
    this.commonJsDeps = [];
    return [];
  }
}

function makeJob(loader, url, source, isMain) {
  const module = compileSourceTextModule(url, source, loader, isMain ? { isMain } : undefined);
  return new KeptJob(loader, url, undefined, module, kEvaluationPhase, isMain);
}

/** Links a module that was made here. False when it asks for something else than what is kept. */
function link(job, requests, jobs) {
  const wanted = job.module.getModuleRequests();
  if (wanted.length * 2 !== requests.length) return false;
  const modules = [];
  for (let i = 0; i < wanted.length; i++) {
    const request = wanted[i];
    if (request.specifier !== requests[2 * i]) return false;
    const target = requests[2 * i + 1];
    const other = typeof target === 'number' ? jobs[target] : job.loader.getOrCreateModuleJob(job.url, request);
    modules.push(other.module);
    job.linked.push(other);
    job.commonJsDeps.push(other.module.isCommonJS);
  }
  job.module.link(modules);
  return true;
}

/** The job of the first module of a kept graph, with all its others linked behind it. */
function build(loader, graph, isEntry) {
  const jobs = [];
  const made = [];
  for (let i = 0; i < graph.length; i += 3) {
    const url = `${origin}${graph[i]}`;
    let job = loader.loadCache.get(url);
    if (job === undefined) {
      job = makeJob(loader, url, graph[i + 1], isEntry && i === 0);
      made.push(job, graph[i + 2]);
    }
    jobs.push(job);
  }
  for (let i = 0; i < made.length; i += 2) {
    if (!link(made[i], made[i + 1], jobs)) return undefined;
  }
  for (let i = 0; i < made.length; i += 2) loader.loadCache.set(made[i].url, undefined, made[i]);
  return jobs[0];
}

const isKept = (job) => plainPath(job.url) !== undefined && (job.url.endsWith('.mjs') || job.url.endsWith('.js')) &&
  !job.module.isCommonJS && hasNone(job.importAttributes) && job.phase === kEvaluationPhase && Array.isArray(job.linked);

/** What keep() takes: [path, [specifier, index or URL, …], …]; undefined for a graph with anything but files and Node's modules. */
function describe(root) {
  const places = new Map([[root, 0]]);
  const list = [];
  for (const job of places.keys()) { // which grow meanwhile
    if (!isKept(job)) return undefined;
    const wanted = job.module.getModuleRequests();
    if (wanted.length !== job.linked.length) return undefined;
    const requests = [];
    for (let i = 0; i < wanted.length; i++) {
      if (!hasNone(wanted[i].attributes) || wanted[i].phase !== kEvaluationPhase) return undefined;
      const other = job.linked[i];
      if (other.url.startsWith('node:')) {
        requests.push(wanted[i].specifier, other.url);
        continue;
      }
      if (!places.has(other)) places.set(other, places.size);
      requests.push(wanted[i].specifier, places.get(other));
    }
    list.push(plainPath(job.url), requests);
  }
  return list;
}

/** What a program has done to its globals must cost it a kept graph at most. */
function attempt(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** The path of what is imported, when its graph may be kept. */
const pathOfRequest = (parentURL, request) => (resolveHooks.length + loadHooks.length === 0 && hasNone(request.attributes) &&
  request.phase === kEvaluationPhase ? pathOf(`${request.specifier}`, parentURL) : undefined);

return {
  /** The job of what is imported, when its graph is kept. */
  find: (loader, parentURL, request) => attempt(() => {
    const path = pathOfRequest(parentURL, request);
    if (path === undefined || loader.loadCache.get(`${origin}${path}`) !== undefined) return undefined;
    const graph = natives.find(path);
    return graph === undefined ? undefined : build(loader, graph, parentURL === undefined);
  }),

  /** Keeps the graph of a job that the loader has made. */
  keep: (parentURL, request, job) => attempt(() => {
    const path = pathOfRequest(parentURL, request);
    const list = path !== undefined && job instanceof ModuleJob ? describe(job) : undefined;
    if (list !== undefined) natives.keep(path, list);
  }),
};
