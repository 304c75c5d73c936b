const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

/** The time zones that people write as a name, with their offset. */
const ZONES: ReadonlyMap<string, string> = new Map(
  (
    'UTC=Z GMT=Z WET=Z EST=-05 EDT=-04 CST=-06 CDT=-05 MST=-07 MDT=-06 PST=-08 PDT=-07 WEST=+01 BST=+01 CET=+01 ' +
    'CEST=+02 EET=+02 EEST=+03 MSK=+03 IST=+05:30 SGT=+08 JST=+09 KST=+09 AEST=+10 AEDT=+11'
  )
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
);

const PARTS = {
  month: /^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?$/i,
  year: /^(\d{4})$/,
  day: /^(\d{1,2})(?:st|nd|rd|th)?$/i,
  clock: /^(\d{1,2}(?::\d\d){1,2}(?:[ap]m)?|\d{1,2}[ap]m)$/i,
  offset: /^([+-]\d\d:?\d\d)$/,
  zone: /^([A-Z]{3,4})$/,
  weekday: /^((?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)$/i,
} as const;
type Part = keyof typeof PARTS;

/** `10:30PM` as `22:30:00`; undefined for an hour that no clock with two halves has. */
function timeOf(clock: string): string | undefined {
  const [hour = 0, minute = 0, second = 0] = clock
    .replace(/[ap]m$/i, '')
    .split(':')
    .map(Number);
  const half = /[ap]m$/i.exec(clock)?.[0].toLowerCase();
  if (half !== undefined && (hour < 1 || hour > 12)) return undefined;
  const inDay = half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0);
  return [inDay, minute, second].map((part) => String(part).padStart(2, '0')).join(':');
}

/**
 * A day with its month in words, perhaps with a time, as ISO 8601: `Jun 5th 2017, 10:30PM` is `2017-06-05T22:30:00Z`.
 * Undefined for any other text. The day may be one that the calendar does not have.
 */
export function writtenDate(text: string): string | undefined {
  const found = new Map<Part, string>();
  for (const word of text.replace(/(\d) ?([ap]m)\b/i, '$1$2').split(/[\s,]+/)) {
    const [part] = (Object.keys(PARTS) as Part[]).filter(
      (name) => PARTS[name].test(word) && !found.has(name),
    );
    if (part === undefined) return undefined;
    found.set(part, PARTS[part].exec(word)?.[1] ?? '');
  }
  const [month, day, year] = [found.get('month'), found.get('day'), found.get('year')];
  if (month === undefined || day === undefined || year === undefined) return undefined;
  const time = timeOf(found.get('clock') ?? '00:00');
  const named = found.get('zone');
  const zone = found.get('offset') ?? (named === undefined ? 'Z' : ZONES.get(named));
  if (time === undefined || zone === undefined) return undefined;
  const twoDigits = (number: number): string => String(number).padStart(2, '0');
  return `${year}-${twoDigits(MONTHS.indexOf(month.toLowerCase()) + 1)}-${twoDigits(Number(day))}T${time}${zone}`;
}
