// The binding `performance`: the clock of the process and its milestones. Nothing in the engine is observed.
'use strict';

const { host: { performance: native }, plain } = tools;
const b = plain('performance');
const nothing = () => {};
const { milestones, constants } = b;

for (const name of ['setupObservers', 'installGarbageCollectionTracking', 'removeGarbageCollectionTracking', 'notify']) {
  b[name] = nothing;
}

// Compiled when the library first asks for it, with perf_hooks.
let histograms;
const histogram = () => histograms ??= tools.kit.compile('tare/histogram', 'glue')(tools);
Object.defineProperty(b, 'Histogram', { __proto__: null, get: () => histogram().Histogram });
b.createELDHistogram = (resolution) => new (histogram().DelayHistogram)(resolution);

b.loopIdleTime = () => 0;
b.uvMetricsInfo = () => [0, 0, 0];
b.markBootstrapComplete = () => {
  milestones[constants.NODE_PERFORMANCE_MILESTONE_BOOTSTRAP_COMPLETE] = native.origin()[2];
};

/** The process that this context becomes has its own beginning. */
tools.startClock = () => {
  const { 0: wall, 1: started, 2: now } = native.origin();
  milestones[constants.NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN_TIMESTAMP] = wall;
  milestones[constants.NODE_PERFORMANCE_MILESTONE_TIME_ORIGIN] = started;
  milestones[constants.NODE_PERFORMANCE_MILESTONE_ENVIRONMENT] = now;
  milestones[constants.NODE_PERFORMANCE_MILESTONE_NODE_START] = started;
  milestones[constants.NODE_PERFORMANCE_MILESTONE_V8_START] = started;
  milestones[constants.NODE_PERFORMANCE_MILESTONE_LOOP_START] = -1;
  milestones[constants.NODE_PERFORMANCE_MILESTONE_LOOP_EXIT] = -1;
};
return b;
