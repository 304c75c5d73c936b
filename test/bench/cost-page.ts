import { tracedShare } from '../../infra/tracing.ts';
import { eventListener } from '../../shared/endpoints/listener.ts';
import { activity, PEOPLE, running, server } from './activity.ts';
import { type Counted, callCost, pollRequestCost, requestCost } from './call-cost.ts';
import { monthCost, personCost } from './cost.ts';
import { decision, eachInAFunction, machine } from './cost-decision.ts';
import { type IdleLine, idleCost, idleSettings } from './idle.ts';
import { costOf, prices } from './prices.ts';
import { type Column, dollars, figure, markdownTable } from './table.ts';
import { polling } from './waiting.ts';

const figures = (...heads: readonly string[]): Column[] => heads.map((head) => ({ head, figures: true }));

const percent = (share: number): string => `${+(100 * share).toFixed(2)} %`;

/** So many active people whose arithmetic is shown. */
const SHOWN = 50;

/** `docs/COST.md`: what so many people cost a month, and why. */
export const costPage = (counted: Counted): string =>
  `${[
    '# What it costs',
    '',
    '_Made by `npm run bench -- --only counts,growth --write`. Do not edit it by hand; `npm test` compares it._',
    '',
    ...summary(counted),
    ...decision(counted),
    ...arithmetic(counted),
    ...idle(),
    ...suppositions(),
    ...eachInAFunction(counted),
    ...priceList(),
    ...eachOperation(counted),
  ].join('\n')}\n`;

function summary(counted: Counted): string[] {
  const rows = PEOPLE.map((people) => {
    const lines = personCost(counted, people);
    const total = monthCost(counted, people);
    const polls = lines.filter(({ item }) => item.startsWith('polls:'));
    const largest = lines.reduce((most, line) => (line.dollars > most.dollars ? line : most));
    const held = people * polls.reduce((sum, line) => sum + line.dollars, 0);
    return [
      figure(people),
      dollars(total),
      dollars(total / people),
      `${Math.round((100 * held) / total)} %`,
      largest.item,
      `${Math.round((100 * people * largest.dollars) / total)} %`,
    ];
  });
  const perPerson = monthCost(counted, SHOWN) / SHOWN;
  return [
    'Dollars a month for one organization in us-east-1, before free tiers and discounts. An active person has a client',
    `open for ${activity.hours} hours on ${activity.days} days. Who is not there costs nothing but their messages' storage.`,
    '',
    markdownTable(
      [
        ...figures('active people', 'a month', 'a person', 'for polls'),
        { head: 'largest item' },
        ...figures('of the whole'),
      ],
      rows,
    ),
    '',
    '![Dollars a month by active people](cost.svg)',
    '',
    '**Nobody pays for silence.** A client waits by a long poll, and one server holds the polls of many, so that those who wait',
    'share its memory and its looks at the log. By prices that are [assumed](#where-clients-wait-and-why).',
    '',
    `A machine for the reference server, with the 2 processors and 4 GB of RAM that its`,
    `[requirements](https://zulip.readthedocs.io/en/latest/production/requirements.html) name for 100 users and more,`,
    `costs ${dollars(machine())} a month as an m7g.large (it has 8 GB), without disk, backup and whoever looks after it. So`,
    `**a machine costs less from about ${Math.ceil(machine() / perPerson)} people on who are there all day**; below that, and for people who come and go,`,
    'this costs less.',
    '',
  ];
}

function arithmetic(counted: Counted): string[] {
  const lines = personCost(counted, SHOWN);
  const perSize = PEOPLE.map((people) => personCost(counted, people));
  const held = eventListener.holdSeconds;
  const { heard, polls, mean } = polling(SHOWN, held);
  const [edge, log, traces] = [
    costOf('edgeRequest', 1e6) + costOf('edgeFunction', 1e6),
    costOf('log', (1e6 * running.logged) / 1e9),
    costOf('trace', 1e6 * tracedShare.requests),
  ];
  return [
    '## The arithmetic',
    '',
    `One of ${SHOWN} active people, a month:`,
    '',
    markdownTable(
      [{ head: 'item' }, { head: 'arithmetic' }, ...figures('dollars')],
      lines.map(({ item, arithmetic, dollars: cost }) => [item, arithmetic, dollars(cost)]),
    ),
    '',
    `A poll ends with the first event or after ${held} s: with ${figure(heard)} events an hour it is held ${figure(mean)} s on average,`,
    `so there are ${figure(polls)} an hour. An environment holds ${server.clients} of them, looks for news every 150 ms for half a read unit, and reads`,
    'what those who wait there share once for each entry of the log; the rights of a client that gets it are read for that client alone.',
    '',
    `A request costs ${dollars(requestCost('requests') * 1e6)} a million before it does anything: the edge ${dollars(edge)}, the gateway $3.50, Lambda $0.20, its log ${dollars(log)} and the`,
    `traces of ${percent(tracedShare.requests)} ${dollars(traces)}. A poll costs ${dollars(pollRequestCost() * 1e6)}: the edge ${dollars(edge)} and Lambda $0.20. It passes no gateway, and neither a line`,
    `of a log nor a trace is written for it. (Held by a function it costs ${dollars(requestCost('polls') * 1e6)}, as ${percent(tracedShare.polls)} of them are traced.)`,
    '',
    'Where a line names a price for a million calls, it is made of that, of the read and write units of one call',
    '([below](#what-each-operation-costs)), of its time (milliseconds of a request, of its round trips, and its share of cold',
    'starts, in a function of the memory it has) and of the bytes of its reply. Write units are counted by the',
    '[rules of AWS](CONFORMANCE.md#write-units): twice each item of a transaction, and each index entry once.',
    '',
    'All items, in dollars a month for everybody:',
    '',
    markdownTable(
      [{ head: 'item' }, ...figures(...PEOPLE.map((people) => `${figure(people)} people`))],
      [
        ...lines.map(({ item }, i) => [
          item,
          ...PEOPLE.map((people, k) => dollars(people * (perSize[k]?.[i]?.dollars ?? 0))),
        ]),
        ['**all**', ...PEOPLE.map((people) => `**${dollars(monthCost(counted, people))}**`)],
      ],
    ),
    '',
  ];
}

function idle(): string[] {
  const [bare, full] = [idleCost(idleSettings.nothing), idleCost(idleSettings.everything)];
  const sum = (lines: readonly IdleLine[], which: 'dollars' | 'charged') =>
    lines.reduce((total, line) => total + line[which], 0);
  const bold = (amount: number) => `**${dollars(amount)}**`;
  return [
    '## While nobody talks',
    '',
    'Some things are paid for by the month, however many people there are. Counted in the template, with nothing set and with',
    'a push relay, both providers of calls and mail:',
    '',
    markdownTable(
      [
        { head: 'item' },
        { head: 'arithmetic, with nothing set' },
        ...figures('dollars', 'charged', 'all set', 'charged'),
      ],
      [
        ...bare.map(({ item, arithmetic, dollars: cost, charged }, i) => [
          item,
          arithmetic,
          dollars(cost),
          dollars(charged),
          dollars(full[i]?.dollars ?? 0),
          dollars(full[i]?.charged ?? 0),
        ]),
        [
          '**all**',
          '',
          bold(sum(bare, 'dollars')),
          bold(sum(bare, 'charged')),
          bold(sum(full, 'dollars')),
          bold(sum(full, 'charged')),
        ],
      ],
    ),
    '',
    '"Charged" is what is left after what AWS gives every account for nothing, each month and for good: alarms on 10 metrics, 3',
    'dashboards, a million requests to SQS. An account that uses these up elsewhere pays the first figure. Lambda may wait for',
    'work by two requests at a time instead of five, which makes the queues cheaper; it does so only where nothing limits how',
    'many run at once. A web ACL (`addressLimit`, `credentialLimit`) costs some dollars more.',
    '',
  ];
}

function suppositions(): string[] {
  const { days, hours, channelMessages, directMessages, mostHeard, fetches, readAtOnce } = activity;
  return [
    '## What is supposed',
    '',
    'Units and requests are counted by the bench, prices are published; these are choices, all of them in',
    '[test/bench/activity.ts](../test/bench/activity.ts):',
    '',
    `- ${days} days of ${hours} hours, one client each. A day: ${channelMessages} messages to channels and ${directMessages} to people, ${fetches} fetches,`,
    `  ${activity.registrations} registrations, ${activity.reactions} reactions, ${activity.edits} edit; at most ${mostHeard} messages of channels are for one; ${readAtOnce} are marked as read at once.`,
    `- Clients ping every ${activity.pingEvery} s. Everybody is there in the same hours, so a ping tells of all the others.`,
    `- A request takes ${running.base} ms and ${running.roundTrip} ms for each round trip; one in ${running.coldOneIn} meets a cold start of ${running.coldStart} ms. Not measured on AWS:`,
    '  but without polls all functions together are cents, so twice as much would change little.',
    `- An environment of the server holds ${server.clients} clients and takes ${server.memory} MB and ${server.clientMemory * 1_000} KB for each; a look takes ${server.lookMs} ms of a`,
    `  processor, a poll ${server.pollMs} ms, an event that one hears ${server.hearMs} ms. Not measured on AWS.`,
    '- Events are taken one by one. Where they come faster than the probes, several are read at once and it costs less.',
    '- Push notifications, exports, mail and images are left out; so is what an attacker does before they are stopped.',
    '',
  ];
}

function priceList(): string[] {
  return [
    '## Prices',
    '',
    'Looked up on 2026-11-21 in stored copies of these pages, since no live page could be fetched. "From others" is what',
    'somebody else says that AWS asks; "not verified" is what no copy at hand said in figures. Check before you budget.',
    '',
    markdownTable(
      [
        ...figures('dollars', 'for'),
        { head: 'what' },
        { head: 'source' },
        { head: 'as of' },
        { head: 'read' },
      ],
      Object.values(prices).map(({ dollars: price, per, unit, source, asOf, read }) => [
        String(price),
        figure(per),
        unit,
        source,
        asOf,
        read,
      ]),
    ),
    '',
  ];
}

function eachOperation({ counts }: Counted): string[] {
  return [
    '## What each operation costs',
    '',
    'One call in a warm container; a cold one has one more round trip. Units are what DynamoDB would charge, counted by the',
    'local store; a poll that is held costs its time besides. In dollars for a million calls.',
    '',
    markdownTable(
      [
        { head: 'operation' },
        ...figures(
          'round trips',
          'cold',
          'requests',
          'read units',
          'write units',
          'reply, bytes',
          'a million',
        ),
      ],
      counts.map((row) => [
        row.operation,
        row.warm.roundTrips,
        row.cold.roundTrips,
        row.warm.requests,
        row.warm.readUnits,
        row.warm.writeUnits,
        row.warm.replyBytes,
        dollars(callCost(row) * 1e6),
      ]),
    ),
  ];
}
