import { createHistogram } from 'node:perf_hooks';

/** The percentiles of the measured times, ms. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Collects times. They are kept to a thousandth of a millisecond and three digits. */
export class LatencyRecorder {
  readonly #histogram = createHistogram();

  /** @param ms More than nothing, however short. */
  record(ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(ms * 1000)));
  }

  get count(): number {
    return this.#histogram.count;
  }

  /** Not numbers where nothing was recorded. */
  get latencies(): Latencies {
    if (this.count === 0) return { p50: Number.NaN, p99: Number.NaN, max: Number.NaN };
    const at = (percentile: number): number => this.#histogram.percentile(percentile) / 1000;
    return { p50: at(50), p99: at(99), max: this.#histogram.max / 1000 };
  }
}

/** The middle one of some numbers. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1);
  return (low + high) / 2;
}
