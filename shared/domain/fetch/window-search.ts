import type { MessageHead } from '../../log/message.ts';
import type { Side } from '../../model/message/load.ts';
import { hasReceived, mayRead } from '../../model/message/message.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { type Gathered, mergeStreams, type Search } from '../reader/gather.ts';
import { unreadOf } from '../reader/lanes.ts';
import type { Facts } from '../reader/supposed.ts';
import type { Fetch } from './fetch.ts';
import type { Source } from './message-source.ts';
import { END, SLACK, View } from './message-view.ts';
import { type Found, foundIn, isPlaced, placedAt, type Window, wantedFor } from './message-window.ts';
import { isAbout } from './narrow.ts';
import { idsWhere, matchFor } from './narrow-match.ts';

/** The messages of a window, and the id that its anchor turned out to be. */
export type FoundWindow = Found & { readonly anchor: number };

/** The oldest unread message of a narrow, if there is any, and the view that shows what is around it. */
interface First {
  readonly head: MessageHead | undefined;
  readonly view: View;
}

/** How far it was looked for an unread message that was not known, which was found, and a view of where that is. */
interface Looked {
  readonly below: number;
  readonly hidden: First;
  readonly isOpen: boolean;
}

/**
 * The search for the messages of a window. What cannot be known without reading further is supposed: `find` answers
 * from what was read with the credentials, so that the messages can be told at once, while `look` and the confirmation
 * of the facts read the rest. Then `conclude`, and if `find` says the same again, it was right.
 */
export class WindowSearch {
  readonly #fetch: Fetch;
  readonly #window: Window;
  readonly #standing: Standing;
  #first: Promise<First> | undefined;
  #isFirstCertain: boolean;
  #looked: Looked | undefined;

  constructor(fetch: Fetch, standing: Standing, window: Window) {
    this.#fetch = fetch;
    this.#standing = standing;
    this.#window = window;
    this.#isFirstCertain = isPlaced(window);
  }

  /** Nothing is supposed any more. */
  get isCertain(): boolean {
    return this.#isFirstCertain && this.#fetch.facts.areCertain;
  }

  /** The messages of the window, if they are known. */
  async findKnown(): Promise<FoundWindow | undefined> {
    const { isComplete, ...found } = await this.#find(false);
    return isComplete ? found : undefined;
  }

  /** The messages of the window. Reads on until they are known. */
  async find(): Promise<FoundWindow> {
    const { isComplete, ...found } = await this.#find(true);
    return found;
  }

  async #find(mayRead: boolean): Promise<FoundWindow & { readonly isComplete: boolean }> {
    const { facts, views } = this.#fetch;
    const first = await this.#supposed();
    const placed = placedAt(this.#window, first?.head);
    const view = first?.view ?? views[0];
    const { pivot, older, newer } = wantedFor(placed);
    const keep = this.#keep(facts);
    const find = (side: Side, need: number): Promise<Gathered> =>
      view.find({ side, from: pivot, need, keep, mayRead });
    const [before, after] = await Promise.all([find('older', older), find('newer', newer)]);
    const isComplete = before.complete && after.complete;
    return { ...foundIn(placed, before, after), anchor: placed.anchor, isComplete };
  }

  /** Looks for an unread message before the supposed first one. One round trip. */
  async look(): Promise<void> {
    const first = await this.#supposed();
    if (first === undefined || this.#isFirstCertain) return;
    const { snapshot, reader } = this.#fetch;
    const below = first.head?.id ?? END;
    const lanes = await first.view.unknownUnreadBelow(below);
    const view = new View(snapshot);
    // In a single place it is probably just above the floor.
    const above = snapshot.source.kind === 'place' ? lanes[0]?.above : undefined;
    const { before, after } = this.#window;
    const [{ heads }] = await Promise.all([
      mergeStreams({
        lanes,
        side: 'newer',
        from: 0,
        need: 1,
        keep: this.#unread(reader),
        mayRead: true,
        isFiltered: true,
      }),
      above !== undefined && view.open({ pivot: above + 1, older: before, newer: after + 1 + SLACK }),
    ]);
    this.#looked = { below, hidden: { head: heads[0], view }, isOpen: above !== undefined };
  }

  /** Draws the conclusions from what was read since the last `find`. */
  async conclude(): Promise<void> {
    if (this.#isFirstCertain || this.#looked === undefined) return;
    const { below, hidden, isOpen } = this.#looked;
    const known = await this.#firstKnown();
    if (isBefore(hidden.head, known.head)) {
      this.#first = Promise.resolve(hidden);
      this.#isFirstCertain = true;
      if (!isOpen) await hidden.view.open(wantedFor(placedAt(this.#window, hidden.head)));
      return;
    }
    this.#first = Promise.resolve(known);
    this.#isFirstCertain = (known.head?.id ?? END) <= below && this.#fetch.facts.areCertain;
  }

  #supposed(): Promise<First> | undefined {
    if (!isPlaced(this.#window)) this.#first ??= this.#firstKnown();
    return this.#first;
  }

  /** The first unread message that is known, in the view that was opened where it was expected, or else in the next. */
  async #firstKnown(): Promise<First> {
    const { facts, views } = this.#fetch;
    const isWanted = this.#unread(facts);
    for (const view of views.slice(0, -1)) {
      const head = await firstOf(view, isWanted);
      if (head !== undefined) return { head, view };
    }
    const view = views.at(-1) ?? views[0];
    return { head: await firstOf(view, isWanted), view };
  }

  /** Which messages are in the narrow, for the caller to read, and unread. */
  #unread(facts: Facts): Search['keep'] {
    const keep = this.#keep(facts);
    const isUnread = unreadOf(facts);
    return async (heads) => {
      const [kept, unread] = await Promise.all([keep(heads), isUnread(heads)]);
      return new Set([...kept].filter((id) => unread.has(id)));
    };
  }

  /** Which messages are in the narrow, and for the caller to read. */
  #keep(facts: Facts): Search['keep'] {
    const { terms, source } = this.#fetch;
    const match = matchFor(
      facts,
      this.#standing,
      // That holds for all that the stars lead to.
      terms.filter((term) => source.kind !== 'starred' || term.negated || !isAbout('starred', term)),
    );
    return async (heads) => {
      const matching = await match(heads);
      return idsWhere(
        heads.filter(({ id }) => matching.has(id)),
        (head) => (NAMED.has(source.kind) ? mayRead(facts, this.#standing, head) : hasReceived(facts, head)),
      );
    };
  }
}

/** Whether there is a first message, and it is before the second one if there is one. */
const isBefore = (a: MessageHead | undefined, b: MessageHead | undefined): boolean =>
  a !== undefined && (b === undefined || a.id < b.id);

/** The oldest of the messages that a view knows which are wanted. */
async function firstOf(view: View, isWanted: Search['keep']): Promise<MessageHead | undefined> {
  const known = await view.known();
  const wanted = await isWanted(known);
  return known
    .filter(({ id }) => wanted.has(id))
    .reduce<MessageHead | undefined>((a, b) => (isBefore(a, b) ? a : b), undefined);
}

/** Sources that are named one by one. Elsewhere only what came to the reader is meant, not all they could read. */
const NAMED: ReadonlySet<Source['kind']> = new Set(['place', 'listed', 'starred']);
