import { readRun, WHOLE } from '../../../shared/log/log.ts';
import type { MessageSlot } from '../../../shared/log/slot.ts';
import type { TestRealm } from '../realm.ts';
import { auditEmoji, auditGroups } from './groups.ts';
import { Ledger } from './ledger.ts';
import { auditPeople } from './people.ts';
import { auditChannels, auditConversations } from './places.ts';

/** An organization as the audit sees it. */
export type Audited = Pick<TestRealm, 'realm' | 'log' | 'outside' | 'pass'>;

/**
 * Goes through all that is stored of an organization and compares what is counted, named or listed twice: counters with
 * what they count, names with whom they lead to, each relation with its inverse, the log with its numbers. To be asked
 * when nobody writes any more; it moves the clock of the realm on, so that writers that died have had their time.
 *
 * Returns a sentence for each thing that is wrong.
 */
export async function audit(test: Audited): Promise<readonly string[]> {
  const { realm, outside } = test;
  const { table } = outside;
  const ledger = new Ledger();
  const messages = await auditLog(test, ledger);
  const people = await auditPeople(table, realm, ledger);
  const settings = await auditChannels(outside, realm, people, messages, ledger);
  await auditConversations(table, realm, messages, ledger);
  await auditGroups(table, realm, people, settings, ledger);
  await auditEmoji(table, realm, ledger);
  return ledger.faults;
}

/** Reads the log to its end as a client would, and then holds every number to be in one slot. Returns its messages. */
async function auditLog(test: Audited, ledger: Ledger): Promise<MessageSlot[]> {
  const { realm, log, outside } = test;
  test.pass(WHOLE);
  const [first] = await outside.table.all('slot', { realm }, { limit: 1 });
  const start = first === undefined ? 0 : first.seq - first.width;
  let head = start;
  for (let moved = true; moved; ) {
    const run = await readRun(log, head, new Map());
    moved = run.head > head;
    head = run.head;
  }
  const [slots, counter] = await Promise.all([
    outside.table.all('slot', { realm }),
    outside.table.get('counter', { realm }),
  ]);
  ledger.same('the last number of the log that can be read', head, slots.at(-1)?.seq);
  // Numbers above the last slot would be a hole as soon as a later entry is written.
  ledger.same('the last number of the log that is settled', head, counter?.seq);
  let covered = start;
  for (const { seq, width } of slots) {
    ledger.same(`the slot at ${seq} begins behind`, seq - width, covered);
    covered = seq;
  }
  return slots.filter((slot) => slot.kind === 'message');
}
