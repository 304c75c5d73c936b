/** What one client waits for, through the whole local cloud, when it does the usual calls in turn. */
import { Agent } from 'node:http';
import { designBudgets } from '../support/design-budgets.ts';
import { httpRequest, send } from './http-request.ts';
import { LatencyRecorder } from './latencies.ts';
import { endpointOf, startBenchCloud } from './local-cloud.ts';
import { operation, plain, talked } from './operation.ts';
import { registerEverything, sendToChannel } from './usual-calls.ts';

export interface TurnRow {
  readonly operation: string;
  /** Milliseconds from the request until the whole reply. */
  readonly p50: number;
  readonly p99: number;
  /** The most that the median may be on two quiet processors, ms. */
  readonly limit: number;
}

/** Functions at once: one of each operation, and workers. */
const CONCURRENCY = 16;

/** Rounds before the measurement, and in it. Each takes a queue of the account, which has 64. */
const WARMING = 15;
const ROUNDS = 45;

/** The newest 100 messages of all. */
const fetchAll = operation({
  name: 'messages.list',
  as: 'member',
  repeatable: true,
  prepare: (call) => talked(call, 'admin', 'to be read', 120),
  request: () => ({ query: { anchor: 'newest', num_before: 100, num_after: 0 } }),
});

const turns = [
  { each: sendToChannel, limit: designBudgets.turnMs.send },
  { each: plain('emoji.list', 'member'), limit: designBudgets.turnMs.emoji },
  { each: fetchAll, limit: designBudgets.turnMs.fetch },
  { each: registerEverything, limit: designBudgets.turnMs.register },
] as const;

/**
 * Measures the calls in turn, over one connection that is kept, as a client does that lives. So each registration and each
 * fetch comes right after a message, where it has to read what was just written.
 */
export async function measureTurns(): Promise<readonly TurnRow[]> {
  const cloud = await startBenchCloud(CONCURRENCY);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const { asker, call } = await cloud.organization();
    const prepared = [];
    for (const { each, limit } of turns) {
      prepared.push({ each, limit, request: await each.prepared(call, 0), recorder: new LatencyRecorder() });
    }
    for (let round = 0; round < WARMING + ROUNDS; round++) {
      for (const { each, request, recorder } of prepared) {
        const wanted = httpRequest(endpointOf(each.endpoint), request(round), asker(each.as));
        const { status, body, sentAt, repliedAt } = await send(cloud.service.address, wanted, agent);
        if (status !== 200) throw new Error(`${each.name} answered ${status}: ${body}`);
        if (round >= WARMING) recorder.record(repliedAt - sentAt);
      }
    }
    return prepared.map(({ each, limit, recorder }) => {
      const { p50, p99 } = recorder.latencies;
      return { operation: each.name, p50, p99, limit };
    });
  } finally {
    agent.destroy();
    await cloud.stop();
  }
}
