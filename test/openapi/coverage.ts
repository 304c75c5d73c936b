import { endpoints, everyEndpoint } from '../../shared/endpoints/all.ts';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { type EndpointStatus, zulipEndpoints } from './zulip-endpoints.ts';

/** The list of Zulip's endpoints, compared with the declarations. */
export interface Coverage {
  readonly offered: number;
  readonly ours: number;
  /** The endpoints that are not there, by the reason. */
  readonly absent: ReadonlyMap<string, readonly string[]>;
  /** What does not fit: an endpoint without a line, a line without an endpoint, an absent one that is declared. */
  readonly errors: readonly string[];
}

/** Parameters have names of our own, which say nothing about what a request means. */
const withoutNames = (route: string): string => route.replaceAll(/\{[^}]*\}/g, '{}');

const declared = (all: readonly Endpoint[]) =>
  new Set(all.map(({ method, path }) => withoutNames(`${method} ${path}`)));

/** Compares a list of endpoints with the declarations; pages for browsers need no line. */
export function coverageOf(
  list: Readonly<Record<string, EndpointStatus>> = zulipEndpoints,
  api: readonly Endpoint[] = endpoints,
  all: readonly Endpoint[] = everyEndpoint,
): Coverage {
  const there = declared(all);
  const listed = new Set(Object.keys(list).map(withoutNames));
  const rows = Object.entries(list).map(([route, status]) => ({
    route,
    status,
    isDeclared: there.has(withoutNames(route)),
  }));
  const missing = rows.flatMap(({ route, status }) =>
    typeof status === 'string' ? [] : [{ route, reason: status.absent }],
  );
  const byReason = Map.groupBy(missing, ({ reason }) => reason);
  return {
    offered: rows.filter(({ status }) => status === 'offered').length,
    ours: rows.filter(({ status }) => status === 'ours').length,
    absent: new Map([...byReason].map(([reason, some]) => [reason, some.map(({ route }) => route)])),
    errors: [
      ...[...declared(api)].filter((route) => !listed.has(route)).map((route) => `${route} has no line`),
      ...rows
        .filter(({ status, isDeclared }) => isDeclared !== (typeof status === 'string'))
        .map(({ route, isDeclared }) => `${route} is ${isDeclared ? '' : 'not '}declared`),
    ],
  };
}

/** A route as documents write it, without the prefix of the API. */
const shown = (route: string): string => `\`${route.replace('/api/v1', '')}\``;

/** The list of what is not there, as the README has it. */
export function absentList({ offered, absent }: Coverage): string {
  const lines = [...absent].map(([reason, routes]) => `- ${routes.map(shown).join(', ')}: ${reason}.`);
  const count = [...absent.values()].flat().length;
  return [
    `Of the ${offered + count} endpoints of Zulip's API that we know, ${offered} are here. Absent are:`,
    '',
    ...lines,
  ].join('\n');
}

const [BEGIN, END] = ['<!-- made by npm run api-coverage -->', '<!-- end -->'];

/** The README with the list of what is not there between its marks. Throws if it has no marks. */
export function withAbsentList(readme: string, coverage: Coverage): string {
  const [before, rest] = readme.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error('The README has no place for the list.');
  return `${before}${BEGIN}\n\n${absentList(coverage)}\n\n${END}${after}`;
}
