import type { Environment } from '../environment.ts';
import { CODE, METRICS, type MetricName, metrics, NAMESPACE } from '../kernel/metric.ts';
import type { Outside } from '../kernel/outside.ts';

type Line = Readonly<Record<string, unknown>>;

/**
 * The log of a function, one JSON object a line. It goes past `console.log`, before whose lines Lambda puts a time and
 * an id, with which they would not be JSON any more.
 */
export const operatorLog = (
  now: () => number,
  environment: Environment = {},
): Pick<Outside, 'report' | 'count'> => ({
  report: (line) => write({ ...line, ...(environment[CODE] && { code: environment[CODE] }) }),
  count: (metric, kind, details) =>
    write(embeddedMetric(environment[NAMESPACE] ?? METRICS, metric, kind, now(), details)),
});

const write = (line: Line): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** One count as CloudWatch finds it in a log (its embedded metric format), with details that stay there. */
export function embeddedMetric(
  namespace: string,
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
          Namespace: namespace,
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
