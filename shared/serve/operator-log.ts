import { METRICS, type MetricName, metrics } from '../domain/metric.ts';
import type { Outside } from '../domain/outside.ts';

type Line = Readonly<Record<string, unknown>>;

/**
 * The log of a function, one JSON object a line. It goes past `console.log`, before whose lines Lambda puts a time and
 * an id, with which they would not be JSON any more.
 */
export const operatorLog = (now: () => number): Pick<Outside, 'report' | 'count'> => ({
  report: write,
  count: (metric, kind, details) => write(embeddedMetric(metric, kind, now(), details)),
});

const write = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** One count as CloudWatch finds it in a log (its embedded metric format), with details that stay there. */
export function embeddedMetric(
  name: MetricName,
  kind: string | undefined,
  at: number,
  details: Line = {},
): Line {
  const dimension = metrics[name];
  return {
    _aws: {
      Timestamp: at,
      CloudWatchMetrics: [
        {
          Namespace: METRICS,
          Dimensions: [dimension === undefined ? [] : [dimension]],
          Metrics: [{ Name: name, Unit: 'Count' }],
        },
      ],
    },
    ...details,
    ...(dimension !== undefined && { [dimension]: kind }),
    [name]: 1,
  };
}
