// Histograms of perf_hooks: counts of values, which are kept to so many significant figures, as HdrHistogram does it.
'use strict';

const { host: { performance: native } } = tools;

const log2 = (value) => (value >= 4294967296 ? 63 - Math.clz32(value / 4294967296) : 31 - Math.clz32(value));
const unavailable = (name) => function refuse() {
  const { ERR_FEATURE_UNAVAILABLE_ON_PLATFORM } = tools.library.require('internal/errors').codes;
  throw new ERR_FEATURE_UNAVAILABLE_ON_PLATFORM(`${name} of a histogram`);
};

class Histogram {
  #counts = new Map(); // of the lowest value that is not told from it
  #order; // its keys, sorted, until there is a new one
  #total = 0;
  #exceeds = 0;
  #unit;
  #half;
  #end;
  #last = 0;

  constructor(lowest = 1, highest = Number.MAX_SAFE_INTEGER, figures = 3, halfLife = 0) {
    if (halfLife > 0) unavailable('halfLife')();
    this.#unit = log2(Math.max(1, Number(lowest)));
    this.#half = Math.ceil(Math.log2(2 * 10 ** figures)) - 1;
    this.#end = 2 ** (this.#half + 1 + this.#unit);
    while (this.#end <= Number(highest)) this.#end *= 2;
  }

  /** How many values about this one are taken for the same. */
  #width(value) {
    return 2 ** Math.max(log2(Math.max(1, value)) - this.#half, this.#unit);
  }
  #lowest(value) {
    const width = this.#width(value);
    return Math.floor(value / width) * width;
  }
  #highest(value) { return this.#lowest(value) + this.#width(value) - 1; }
  #middle(value) { return this.#lowest(value) + Math.floor(this.#width(value) / 2); }
  #sorted() { return this.#order ??= [...this.#counts.keys()].sort((a, b) => a - b); }
  #put(value, count) {
    const key = this.#lowest(value);
    if (!this.#counts.has(key)) this.#order = undefined;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count);
    this.#total += count;
  }

  record(value) {
    const number = Number(value);
    if (number >= 0 && number < this.#end) this.#put(number, 1);
    else this.#exceeds++;
  }
  recordDelta() {
    const now = Math.round(native.now() * 1e6);
    const delta = now - this.#last;
    const first = this.#last === 0;
    this.#last = now;
    if (first) return 0;
    this.record(Math.max(1, delta));
    return delta;
  }
  add(other) {
    let dropped = 0;
    for (const [value, count] of other.#counts) {
      if (value < this.#end) this.#put(value, count);
      else dropped += count;
    }
    this.#exceeds += other.#exceeds;
    return dropped;
  }
  reset() {
    this.#counts.clear();
    this.#order = undefined;
    this.#total = this.#exceeds = this.#last = 0;
  }

  count() { return this.#total; }
  exceeds() { return this.#exceeds; }
  min() { return this.#total === 0 ? 9223372036854775807 : this.#sorted()[0]; }
  max() { return this.#total === 0 ? 0 : this.#highest(this.#sorted().at(-1)); }
  mean() {
    let sum = 0;
    for (const [value, count] of this.#counts) sum += this.#middle(value) * count;
    return sum / this.#total;
  }
  /** The mean of a power of what each value is off the mean. */
  #moment(power) {
    const mean = this.mean();
    let sum = 0;
    for (const [value, count] of this.#counts) sum += (this.#middle(value) - mean) ** power * count;
    return sum / this.#total;
  }
  stddev() { return Math.sqrt(this.#moment(2)); }
  skewness() { return this.#moment(3) / this.stddev() ** 3; }
  kurtosis() { return this.#moment(4) / this.#moment(2) ** 2 - 3; }
  countAt(value) { return this.#counts.get(this.#lowest(Number(value))) ?? 0; }
  percentile(percentile) {
    let left = Math.max(1, Math.floor((Math.min(percentile, 100) / 100) * this.#total + 0.5));
    for (const value of this.#sorted()) {
      left -= this.#counts.get(value);
      if (left <= 0) return this.#highest(value);
    }
    return 0;
  }
  percentilesAt(map, wanted) {
    for (const percentile of wanted) map.set(percentile, this.percentile(percentile));
  }

  /** Half the way to 100, and half of what is left, until nothing is. */
  #eachPercentile(found) {
    let next = 0;
    let seen = 0;
    const values = this.#sorted();
    for (let i = 0; i < values.length; i++) {
      seen += this.#counts.get(values[i]);
      while (next <= (100 * seen) / this.#total) {
        found(next, values[i]);
        if (seen === this.#total) break;
        next += 100 / 2 ** (Math.trunc(Math.log2(100 / (100 - next))) + 1);
      }
    }
    found(100, values.at(-1) ?? 0);
  }
  percentiles(map) { this.#eachPercentile((percentile, value) => map.set(percentile, value)); }
  percentilesBigInt(map) { this.#eachPercentile((percentile, value) => map.set(percentile, BigInt(value))); }

  // Averages that forget are for a half-life, which the constructor refuses.
  ewmaMean() { return 0; }
  ewmaStddev() { return 0; }
  ewmaErrorRate() { return 0; }

  countBigInt() { return BigInt(this.count()); }
  exceedsBigInt() { return BigInt(this.exceeds()); }
  minBigInt() { return this.#total === 0 ? 9223372036854775807n : BigInt(this.min()); }
  maxBigInt() { return BigInt(this.max()); }
  percentileBigInt(percentile) { return BigInt(this.percentile(percentile)); }
}

for (const name of ['cdf', 'cliffsD', 'cohensD', 'export', 'ksTest', 'linearBuckets', 'logBuckets', 'mannWhitneyTest', 'meanCI',
  'percentileCI', 'qrde', 'recordCorrected', 'subtract', 'welchTest']) {
  Histogram.prototype[name] = unavailable(name);
}

/** How late a timer comes, which keeps no process alive. */
class DelayHistogram extends Histogram {
  #resolution;
  #timer;

  constructor(resolution) {
    super();
    this.#resolution = resolution;
  }

  start(reset) {
    if (reset) this.reset();
    this.stop();
    const { setInterval } = tools.library.require('timers');
    this.recordDelta();
    this.#timer = setInterval(() => this.recordDelta(), this.#resolution);
    this.#timer.unref();
  }
  stop() {
    tools.library.require('timers').clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

return { Histogram, DelayHistogram };
