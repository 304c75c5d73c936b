import { eventListener } from '../../shared/endpoints/listener.ts';
import { HELD, PEOPLE, server } from './activity.ts';
import type { Counted } from './call-cost.ts';
import { monthCost } from './cost.ts';
import { MONTH_HOURS } from './idle.ts';
import { costOf } from './prices.ts';
import { dollars, figure, markdownTable } from './table.ts';
import { inFunctions, inServer, lookingUnits, polling, type Waiting, waitingHour } from './waiting.ts';

/** Read units a second that DynamoDB gives one partition, where the end of an organization's log is. */
const PARTITION = 3_000;

/** Functions that run at once in an account where nobody asked for more. */
const CONCURRENCY = 1_000;

/** Requests a second that the API lets through unless the operator says otherwise (`requestsPerSecond`). */
const RATE = 500;

/** The numbers that waiting has to hold for 50 people, or 5,000, in dollars. */
export const waitingBudgets = {
  clientHour: 0.0015,
  person: 0.45,
  fiveThousand: 2_500,
  breakEven: 130,
} as const;

/** The ways in which clients can wait. */
export const ways = {
  server: inServer(),
  dearServer: inServer(5),
  functions: inFunctions(),
} as const satisfies Readonly<Record<string, Waiting>>;

/** What a machine for the reference server costs a month. */
export const machine = (): number => costOf('instanceHour', MONTH_HOURS);

/** What waiting costs in one way, beside its budgets. */
export const verdictOf = (counted: Counted, waiting: Waiting) => {
  const person = monthCost(counted, 50, waiting) / 50;
  return {
    clientHour: waitingHour(counted, 50, waiting),
    person,
    fiveThousand: monthCost(counted, 5_000, waiting),
    breakEven: Math.ceil(machine() / person),
  };
};

/** Clients that can wait in one organization at once: each environment looks at the end of its log. */
const mostInOrganization = (counted: Counted): number =>
  Math.floor(PARTITION / lookingUnits(counted)) * server.clients;

/** Why clients wait where they do, and where that ends. */
export function decision(counted: Counted): string[] {
  const [now, dear, then] = [
    verdictOf(counted, ways.server),
    verdictOf(counted, ways.dearServer),
    verdictOf(counted, ways.functions),
  ];
  const cents = (amount: number): string => `$${amount.toFixed(5)}`;
  const row = (what: string, of: (verdict: typeof now) => string, wanted: string): string[] => [
    what,
    of(now),
    of(dear),
    of(then),
    wanted,
  ];
  const { mean } = polling(5_000, eventListener.holdSeconds);
  return [
    '## Where clients wait, and why',
    '',
    'A Lambda Web Function holds the polls (`wait` = `web`); the other way considered is API Gateway that waits on SQS.',
    '',
    markdownTable(
      [
        { head: '' },
        ...['a server', 'the same, 5 × the price', 'a function each', 'wanted'].map((head) => ({
          head,
          figures: true,
        })),
      ],
      [
        row(
          'a waiting client-hour, of 50',
          ({ clientHour }) => cents(clientHour),
          `<= $${waitingBudgets.clientHour}`,
        ),
        row(
          'a person a month, all in, of 50',
          ({ person }) => dollars(person),
          `<= $${waitingBudgets.person}`,
        ),
        row(
          '5,000 people a month',
          ({ fiveThousand }) => dollars(fiveThousand),
          `<= ${dollars(waitingBudgets.fiveThousand)}`,
        ),
        row(
          'people from whom on a machine is cheaper',
          ({ breakEven }) => figure(breakEven),
          `>= ${waitingBudgets.breakEven}`,
        ),
      ],
    ),
    '',
    '1. **No price of Web Functions could be read.** AWS says that one pays for requests, active processor time and memory.',
    "2. So memory is counted at Lambda's full price for a GB-second, which has a processor in it, and the processor besides.",
    '3. That counts the processor twice; the true price should be lower. The second column has five times as much.',
    `4. **The assumption does not decide**: five times as dear, a client-hour costs ${cents(dear.clientHour)}, and every number still holds.`,
    '5. Waiting on SQS by 307 redirects was tried on an emulator: $0.0009 to $0.0015 a client-hour, by published prices.',
    '6. It needs no server, but a queue for each client, three to four requests for each poll, and a note of who waits with',
    '   each commit: more to go wrong, in the one place where nothing may be lost. It would be the way if the price were',
    `   more than ${figure(Math.floor(atMost(counted)))} times what is assumed.`,
    '7. The log, the queues and their cursors stay as they are; `wait` = `function` is one setting and one deployment away.',
    '8. Unmeasured on AWS: how much memory an environment takes, how many clients Lambda gives it, and the processor time',
    '   (`server` in [test/bench/activity.ts](../test/bench/activity.ts)). The local figures are in [BENCH.md](BENCH.md).',
    '',
    '## Where it ends',
    '',
    `- **${figure(RATE)} polls a second**, our own rate (\`requestsPerSecond\`): with ${figure(mean)} s a poll on a busy day that is ${figure(RATE * mean)} clients`,
    `  who wait at once, ${figure(RATE * eventListener.holdSeconds)} where nothing happens. It can be raised to 10,000 polls a second, Lambda's own for one address.`,
    '- **2,000 processors** for all environments of an account and region, which AWS raises on request: at two for an environment of',
    `  ${server.clients} clients (not documented), ${figure(1_000 * server.clients)} clients.`,
    `- **About ${figure(mostInOrganization(counted))} clients in one organization**: each environment looks at the end of its log, ${figure(lookingUnits(counted))} read units a second,`,
    `  and DynamoDB gives that partition ${figure(PARTITION)}.`,
    `- With \`wait\` = \`function\`: ${figure(CONCURRENCY)} clients in an account that asked for that many functions, and ${figure(PARTITION / lookingUnits(counted))} in one organization.`,
    '',
  ];
}

/** How many times the assumed price the budget of a client-hour would still hold. */
function atMost(counted: Counted): number {
  const [one, two] = [1, 2].map((factor) => waitingHour(counted, 50, inServer(factor))) as [number, number];
  return 1 + (waitingBudgets.clientHour - one) / (two - one);
}

/** The table for those who let each client wait in a function. */
export function eachInAFunction(counted: Counted): string[] {
  const rows = [128, 256, 512].map((memory) => [
    String(memory),
    ...PEOPLE.slice(1).map((people) => dollars(monthCost(counted, people, inFunctions(memory)))),
  ]);
  return [
    '## Each client in a function',
    '',
    `With \`wait\` = \`function\`, and past CloudFront, a function of \`pollMemory\` (${figure(128)} MB if nothing is set) holds each poll for ${HELD} s. It waits`,
    'nearly all the time, so its memory is what one pays for. All people together, a month:',
    '',
    markdownTable(
      ['MB', ...PEOPLE.slice(1).map((people) => `${figure(people)} people`)].map((head) => ({
        head,
        figures: true,
      })),
      rows,
    ),
    '',
  ];
}
