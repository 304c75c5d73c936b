import type { Commit } from '../../log/bulk.ts';
import { ConflictError } from '../../log/commit.ts';
import type { EventEntry } from '../../log/slot.ts';
import type { Realm } from '../../model/realm/realm.ts';
import { key } from '../../table/keys.ts';

/** What the relay says of an organization: whether it serves it, and until when (seconds since 1970) if that ends. */
export interface PushStatus {
  readonly isServed: boolean;
  readonly ends: number | undefined;
}

type Stored = Pick<Realm, 'pushRefused' | 'pushEnds'>;

/**
 * Notes what the relay says of an organization, and tells everybody what became different. Somebody else who hears
 * the same from it at the same time is as good.
 */
export async function notePushStatus(
  realm: string,
  commit: Commit,
  before: Stored,
  { isServed, ends }: PushStatus,
): Promise<void> {
  const { pushRefused, pushEnds } = before;
  const isChanged = isServed === (pushRefused === true);
  const entries: EventEntry[] = [
    ...(isChanged ? [told('push_notifications_enabled', isServed)] : []),
    ...(ends === pushEnds ? [] : [told('push_notifications_enabled_end_timestamp', ends ?? null)]),
  ];
  if (entries.length === 0) return;
  const set = { ...(!isServed && { pushRefused: true }), ...(ends !== undefined && { pushEnds: ends }) };
  const remove = [...(isServed ? ['pushRefused'] : []), ...(ends === undefined ? ['pushEnds'] : [])];
  try {
    await commit(entries.length, () => ({
      writes: [
        {
          update: key('realm', { realm }),
          change: { set, remove },
          when: { absent: false, equals: { pushRefused, pushEnds } },
        },
      ],
      entries,
      result: undefined,
    }));
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}

const told = (property: string, value: unknown): EventEntry => ({
  kind: 'event',
  hearers: { everyone: 'all' },
  payload: { type: 'realm', op: 'update', property, value },
});
