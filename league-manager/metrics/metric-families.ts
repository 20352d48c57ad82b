/** A value of a metric. `metricName` replaces the name of the family, as in the lines of a histogram. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** A metric with all its values, as prom-client writes it. The values are plain data, so that only a scrape loads the library. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly values: readonly Sample[];
  readonly aggregator: "first";
}

type Values = number | readonly Sample[];

const samplesOf = (values: Values): readonly Sample[] =>
  typeof values === "number" ? [{ labels: {}, value: values }] : values;

export const gauge = (name: string, help: string, values: Values): MetricFamily => ({
  name,
  help,
  type: "gauge",
  aggregator: "first",
  values: samplesOf(values),
});

export const counter = (name: string, help: string, values: Values): MetricFamily => ({
  name,
  help,
  type: "counter",
  aggregator: "first",
  values: samplesOf(values),
});

/** Counts by the value of one label. */
export class Counts<Value extends string> {
  readonly #label: string;
  readonly #counts: Map<Value, number>;

  /** Every value begins with 0, because Prometheus cannot compute the increase from a missing value to the first one. */
  constructor(label: string, values: readonly Value[]) {
    this.#label = label;
    this.#counts = new Map(values.map((value) => [value, 0]));
  }

  add(value: Value): void {
    this.#counts.set(value, (this.#counts.get(value) ?? 0) + 1);
  }

  samples(): readonly Sample[] {
    return [...this.#counts].map(([value, count]) => ({ labels: { [this.#label]: value }, value: count }));
  }
}

/** The number of durations up to each bound, as in a histogram of Prometheus. */
export class Durations {
  readonly #boundsS: readonly number[];
  /** The number of durations between the bound before and this one; the last number is that of longer durations. */
  readonly #counts: number[];
  #sumS = 0;

  constructor(boundsS: readonly number[]) {
    this.#boundsS = boundsS;
    this.#counts = Array(boundsS.length + 1).fill(0);
  }

  /** Adds a duration. A negative one, which clocks of two machines can give, counts as 0. */
  addMs(ms: number): void {
    const seconds = Math.max(0, ms) / 1_000;
    const found = this.#boundsS.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? this.#boundsS.length : found;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sumS += seconds;
  }

  histogram(name: string, help: string): MetricFamily {
    let count = 0;
    const buckets = this.#counts.map((ofBucket, index): Sample => {
      count += ofBucket;
      return { labels: { le: this.#boundsS[index] ?? "+Inf" }, value: count, metricName: `${name}_bucket` };
    });
    const sum = { labels: {}, value: this.#sumS, metricName: `${name}_sum` };
    const total = { labels: {}, value: count, metricName: `${name}_count` };
    return { name, help, type: "histogram", aggregator: "first", values: [...buckets, sum, total] };
  }
}
