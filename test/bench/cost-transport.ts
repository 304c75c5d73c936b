import { HELD, pollMemory, running } from './activity.ts';
import {
  COSTED,
  type Counted,
  lookingUnits,
  monthCost,
  monthlyHours,
  personCost,
  polling,
  warmOf,
} from './cost.ts';
import { costOf, prices } from './prices.ts';
import { dollars, figure, markdownTable } from './table.ts';

/** Read units a second that DynamoDB gives one partition, where the head of an organization's log is. */
const PARTITION = 3_000;

/** Functions that run at once in an account where nobody asked for more. */
const CONCURRENCY = 1_000;

/** Lambda Managed Instances: calls at once for each processor under Node.js, processors of one, and fewest of them. */
const MANAGED = { perProcessor: 64, processors: 2, fewest: 3, hours: 730 } as const;

/** People who may wait in one organization at once, each looking for news as often as now. */
export const mostWaiting = (counted: Pick<Counted, 'counts'>): number =>
  Math.floor(PARTITION / lookingUnits(counted));

const LARGE = [50, 500, 5_000] as const;

/** What holding the polls of so many people costs a month: time and probes. */
function heldNow(counted: Counted, people: number): number {
  const [time, probes] = personCost(counted, people);
  return people * ((time?.dollars ?? 0) + (probes?.dollars ?? 0));
}

/** Instances that hold so many polls, all month. */
const instances = (people: number): number =>
  Math.max(MANAGED.fewest, Math.ceil(people / (MANAGED.perProcessor * MANAGED.processors)));

const instanceMonth = (): number => costOf('instanceHour', MANAGED.hours) * (1 + prices.managedShare.dollars);

/** The same on Managed Instances, where one follower of the log serves all polls of an instance. */
const heldManaged = (counted: Counted, people: number): number =>
  instances(people) * (instanceMonth() + costOf('readUnit', MANAGED.hours * 3_600 * lookingUnits(counted)));

/**
 * The same over WebSockets: minutes, messages, and for each of them a function that reads the rights of its hearer
 * and posts, in two round trips.
 */
function socketed(counted: Counted, people: number): number {
  const { heard } = polling(people);
  const units = warmOf(counted, COSTED.hear).readUnits - warmOf(counted, COSTED.poll).readUnits;
  const minutes = costOf('socketMinute', monthlyHours * 60);
  const messages = monthlyHours * heard;
  const time = costOf('lambdaTime', messages * ((2 * running.roundTrip) / 1_000) * (pollMemory / 1_024));
  return people * (minutes + time + costOf('socketMessage', messages) + costOf('readUnit', messages * units));
}

/** The design note of the cost page. */
export function transportNote(counted: Counted): string[] {
  const most = mostWaiting(counted);
  const perPerson = heldNow(counted, LARGE[0]) / LARGE[0];
  const pays = Math.ceil((MANAGED.fewest * instanceMonth()) / perPerson);
  return [
    '## Where it ends',
    '',
    `- **${figure(CONCURRENCY)} people waiting at once** in an account that has not asked for more: each holds one function, and this is`,
    "  Lambda's default for concurrent executions. It can be raised to tens of thousands.",
    `- **About ${figure(most)} people waiting at once in one organization.** Each looks for news at the head of the same log,`,
    `  ${figure(lookingUnits(counted))} read units a second; DynamoDB gives one partition ${figure(PARTITION)}, and that head is in one. Asking for more does not help. So the`,
    '  column for 5,000 people says what it would cost, not that it works: it needs what comes next.',
    '',
    '## A transport for large organizations',
    '',
    'Two ways out of a function for each person who waits, in dollars a month for waiting alone:',
    '',
    markdownTable(
      [{ head: '' }, ...LARGE.map((people) => ({ head: `${figure(people)} people`, figures: true }))],
      [
        [
          `now: a function of ${pollMemory} MB for each poll`,
          ...LARGE.map((n) => dollars(heldNow(counted, n))),
        ],
        [
          'many polls in one function (Lambda Managed Instances)',
          ...LARGE.map((n) => dollars(heldManaged(counted, n))),
        ],
        ['a WebSocket for each client (API Gateway)', ...LARGE.map((n) => dollars(socketed(counted, n)))],
        ['everything, as it is now', ...LARGE.map((n) => dollars(monthCost(counted, n)))],
      ],
    ),
    '',
    `**Many polls in one function** changes nothing for clients: the same \`GET /events\`, held the same ${HELD} s. Managed`,
    `Instances let one Node.js environment serve ${MANAGED.perProcessor} calls at once for each processor`,
    '([described here](https://edjgeek.com/blog/lambda-managed-instances/)), on machines that run all month: at least',
    `${MANAGED.fewest}, ${dollars(instanceMonth())} each with the fee of 15 %. **It pays from about ${figure(pays)} people who wait all day**; an`,
    'organization that sleeps at night could have fewer machines then. What has to be built: one follower for each',
    'organization and process, whose probe wakes all polls of that process, instead of a probe for each poll. That takes',
    `the partition's limit away too: ${figure(instances(5_000))} machines look for news where now 5,000 polls do. Nothing in \`functions/events/get.ts\``,
    'keeps state of a request in its container, so calls beside each other are what it can do already.',
    '',
    '**A WebSocket** is the cheapest by far, since nothing runs while nothing happens. But no client of the reference speaks',
    'it: it is for clients of our own, beside the polls. What has to be built: a connection item for each queue, a worker',
    'that follows the log and posts to those who may hear (their rights read then, as now), and a fall back to the poll when',
    'a post fails, since a post is no acknowledgement: the cursor stays with the client.',
    '',
    'AWS documents [Lambda Web Functions](https://docs.aws.amazon.com/lambda/latest/dg/web-functions-scaling.html), which',
    'serve several requests in one environment and scale from nothing: that would be the best of both. Their price could not',
    'be looked up, so they are in no table here.',
    '',
  ];
}
