import { s3Objects } from '../../shared/adapters/objects.ts';
import { numberOf } from '../../shared/domain/event/event-id.ts';
import {
  accessQueue,
  checkCursor,
  type EventQueue,
  isNoteDue,
  loadQueue,
  notePoll,
} from '../../shared/domain/event/event-queue.ts';
import type { Listener } from '../../shared/domain/event/hearing.ts';
import { listen } from '../../shared/domain/event/listen.ts';
import { turnOf } from '../../shared/domain/event/poll-turn.ts';
import type { InputOf } from '../../shared/endpoints/endpoint.ts';
import { getEvents } from '../../shared/endpoints/events.ts';
import type { Objects } from '../../shared/kernel/outside.ts';
import { type FirstSeen, type Run, readRun } from '../../shared/log/run.ts';
import type { Request, UnverifiedRequest } from '../../shared/serve/request.ts';
import { serve } from '../../shared/serve/serve.ts';
import { LARGEST_NUMBER } from '../../shared/table/keys.ts';

type Poll = InputOf<typeof getEvents>;

/** How long a poll is held, ms: it ends within 25 s, the gateway would end it after 29. */
const HELD = 24_000;

interface Loaded {
  /** When the poll began, ms. */
  readonly started: number;
  readonly queue: EventQueue | undefined;
  /** The last number that was handed out. */
  readonly newest: number;
  /** What follows the last event that the client has, as far as that was known. */
  readonly run: Run | undefined;
  readonly firstSeen: FirstSeen;
}

async function load({ input, realm, userId, outside, log }: UnverifiedRequest<Poll>): Promise<Loaded> {
  const started = outside.now();
  const firstSeen: FirstSeen = new Map();
  const number = numberOf(input.last_event_id);
  const [queue, counter, run] = await Promise.all([
    loadQueue(outside.table, realm, userId, input.queue_id),
    outside.table.get('counter', { realm }),
    isNumber(number) ? readRun(log, number, firstSeen) : undefined,
  ]);
  return { started, queue, newest: counter?.seq ?? 0, run, firstSeen };
}

/** Whether it can be a number of the log, and another one after it. */
const isNumber = (number: number): boolean => number >= 0 && number < LARGEST_NUMBER;

async function run(
  context: Request<Poll> & { readonly clients: { readonly objects: Objects } },
  loaded: Loaded,
) {
  const { input, realm, userId, ownerId, email, resolved, outside, log, clients } = context;
  const { started, newest, firstSeen } = loaded;
  const { queue_id, last_event_id: last, dont_block = false } = input;
  const queue = accessQueue(loaded.queue, queue_id, userId, started);
  const cursor = checkCursor(queue, last, newest, started);
  const first = loaded.run && cursor === numberOf(last) ? loaded.run : await readRun(log, cursor, firstSeen);
  const { keyDigest } = resolved.existing({ kind: 'account', email });
  const account = { email, keyDigest };
  const { objects } = clients;
  const owner = ownerId !== undefined && { ownerId };
  const listener: Listener = { outside, realm, userId, ...owner, account, queue, objects };
  const end = first.ended === 'page' ? undefined : first.head;
  const pollId = outside.uuid();
  let noted = queue;
  const note = async (waiting?: { readonly waiting: string }): Promise<void> => {
    noted = await notePoll(outside.table, realm, noted, { cursor, end, ...waiting }, outside.now());
  };
  const claim = async (): Promise<boolean> => {
    await note({ waiting: pollId });
    return noted.waiting === pollId;
  };
  const turn = turnOf({ table: outside.table, realm, userId, queueId: queue_id, pollId, claim }, started);
  const hold = { until: started + HELD, isBlocking: !dont_block, mayGoOn: turn };
  const [events] = await Promise.all([
    listen(listener, log, { last, cursor }, first, firstSeen, hold),
    isNoteDue(noted, started) ? note() : undefined,
  ]);
  // A queue that may be idle for less than a poll takes must know that its client was here until now.
  if (isNoteDue(noted, outside.now())) await note();
  return { events: [...events], queue_id };
}

export const handler = serve(getEvents, { load, run }, { objects: s3Objects });
