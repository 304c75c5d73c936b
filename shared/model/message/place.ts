import type { MessageHead } from '../../log/message.ts';
import type { Table } from '../../table/table.ts';
import { inIndex, type Place } from './index.ts';
import type { Recent, Whereabouts } from './recent.ts';
import type { RangeReader, Reach, Reached } from './strip.ts';

/** The end of the log, read when it is first asked for. */
type Reading = () => Promise<Recent>;

/**
 * The messages of a place, as they are now: what its index shows, but of messages that changed lately what the log
 * tells. One round trip, and another one where messages moved there lately.
 */
export const inPlace = (table: Table, realm: string, place: Place, recent: Reading): RangeReader => {
  const merged = merging<MessageHead>(table, realm, place, recent, (changes) => changes.headsIn(place));
  return async (reach) => {
    const { found, until } = await merged(reach);
    return { heads: found, until };
  };
};

/** The same, only which messages there are, and how they spell their topic. Always one round trip. */
export const idsInPlace = (table: Table, realm: string, place: Place, recent: Reading) =>
  merging<Whereabouts>(table, realm, place, recent, (changes) => changes.in(place));

const merging =
  <W extends Whereabouts>(
    table: Table,
    realm: string,
    place: Place,
    recent: Reading,
    fresh: (changes: Recent) => readonly W[] | Promise<readonly W[]>,
  ) =>
  async (
    reach: Reach,
  ): Promise<{ readonly found: readonly (W | MessageHead)[]; readonly until: Reached['until'] }> => {
    const [{ heads, until }, changes] = await Promise.all([inIndex(table, realm, place)(reach), recent()]);
    const known = heads.filter(({ id }) => !changes.knows(id));
    const changed = (await fresh(changes)).filter(({ id }) => isWithin(reach, until, id));
    return { found: [...known, ...changed], until };
  };

/** Whether an id is in the part of the range that was examined. */
const isWithin = ({ from, to, side }: Reach, until: Reached['until'], id: number): boolean =>
  from <= id && id <= to && (until === undefined || (side === 'older' ? id >= until : id <= until));
