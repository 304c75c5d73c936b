/** A schedule: when it fires next. Times are milliseconds since 1970, as everywhere here in UTC. */
export type NextTime = (after: number) => number;

const minuteLength = 60_000;
const units: Readonly<Record<string, number>> = {
  minute: minuteLength,
  hour: 60 * minuteLength,
  day: 24 * 60 * minuteLength,
};

/** The last year that EventBridge knows. */
const lastYear = 2199;

/**
 * Reads EventBridge's `rate(5 minutes)` or `cron(0 3 * * ? *)`.
 *
 * @throws Error when the expression is not one of these, or uses `L`, `W` or `#`.
 */
export function readSchedule(expression: string): NextTime {
  const [, kind, argument = ''] = /^(rate|cron)\((.*)\)$/.exec(expression) ?? [];
  const next = kind === 'rate' ? readRate(argument) : kind === 'cron' ? readCron(argument) : undefined;
  if (!next) throw new Error(`The local cloud cannot read the schedule ${expression}.`);
  return next;
}

function readRate(argument: string): NextTime | undefined {
  const [, count, unit = ''] = /^([1-9]\d*) (minute|hour|day)s?$/.exec(argument) ?? [];
  const length = Number(count) * (units[unit] ?? Number.NaN);
  return Number.isNaN(length) ? undefined : (after) => after + length;
}

const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const dayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

function readCron(argument: string): NextTime | undefined {
  const [minutes, hours, days, months, weekdays, years, ...more] = argument.split(/\s+/);
  if (years === undefined || more.length > 0) return undefined;
  const fields = {
    minute: readField(minutes, 0, 59),
    hour: readField(hours, 0, 23),
    day: readField(days, 1, 31),
    month: readField(months, 1, 12, monthNames),
    weekday: readField(weekdays, 1, 7, dayNames),
    year: readField(years, 1970, lastYear),
  };
  const { minute, hour, day, month, weekday, year } = fields;
  if (!minute || !hour || !day || !month || !weekday || !year) return undefined;
  return (after) => {
    let time = Math.floor(after / minuteLength + 1) * minuteLength;
    // Each step goes to the start of the next unit that may fit, so that years are crossed quickly.
    for (;;) {
      const at = new Date(time);
      const [y, m, d, h] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours()];
      if (y > lastYear) return Number.POSITIVE_INFINITY;
      if (!year.has(y)) time = Date.UTC(y + 1, 0);
      else if (!month.has(m + 1)) time = Date.UTC(y, m + 1);
      else if (!day.has(d) || !weekday.has(at.getUTCDay() + 1)) time = Date.UTC(y, m, d + 1);
      else if (!hour.has(h)) time = Date.UTC(y, m, d, h + 1);
      else if (!minute.has(at.getUTCMinutes())) time += minuteLength;
      else return time;
    }
  };
}

/** The values that a field allows, or undefined when it cannot be read. */
function readField(
  text: string | undefined,
  from: number,
  to: number,
  names: readonly string[] = [],
): ReadonlySet<number> | undefined {
  const numberOf = (word: string) => {
    const place = names.indexOf(word.toUpperCase());
    return place >= 0 ? place + 1 : /^\d+$/.test(word) ? Number(word) : Number.NaN;
  };
  const values = new Set<number>();
  for (const part of (text ?? '').split(',')) {
    const [range = '', every = '1'] = part.split('/');
    const open = range === '*' || range === '?';
    const [first = '', last = part.includes('/') ? String(to) : first] = range.split('-');
    const [start, end, step] = [open ? from : numberOf(first), open ? to : numberOf(last), Number(every)];
    if (!(start >= from && end <= to && start <= end && step >= 1)) return undefined;
    for (let value = start; value <= end; value += step) values.add(value);
  }
  return values;
}
