import type { MessageHead } from '../../log/message.ts';
import type { Side } from '../../model/message/load.ts';
import { hasReceived, mayRead } from '../../model/message/message.ts';
import type { Standing } from '../../model/permission/permission.ts';
import { mergeStreams, type Search, type SearchResult } from '../reader/merge-streams.ts';
import { idsWhere, unreadAmong } from '../reader/streams.ts';
import { EXTRA, type Fetch } from './fetch.ts';
import { isState } from './narrow.ts';
import { matchFor } from './narrow-match.ts';
import type { ReaderFacts } from './optimistic-facts.ts';
import { View } from './view.ts';
import {
  anchoredAt,
  aroundAnchor,
  END,
  isAnchored,
  type Window,
  type WindowResult,
  windowResult,
} from './window.ts';

/** The messages of a window, and the id of its anchor. */
export type FoundWindow = WindowResult & { readonly anchor: number };

/** The oldest unread message of a narrow, if there is one, and the view that has the messages around it. */
interface FirstUnread {
  readonly head: MessageHead | undefined;
  readonly view: View;
}

/**
 * Finds the messages of a window. The first unread message and a few facts about the reader (`OptimisticFacts`) may not
 * be known without another read. `findCached` then answers by assumption, so that the texts can be read at once, while
 * `readOlderUnread` and `facts.confirm` read what is missing. After `settleAnchor`, `find` gives the true answer: if it
 * is the same, the texts are the right ones.
 */
export class WindowSearch {
  readonly #fetch: Fetch;
  readonly #window: Window;
  readonly #standing: Standing;
  #first: Promise<FirstUnread> | undefined;
  #isFirstCertain: boolean;
  /** What `readOlderUnread` found below an id, and whether its view has been opened. */
  #older: { readonly below: number; readonly first: FirstUnread; readonly isOpen: boolean } | undefined;

  constructor(fetch: Fetch, standing: Standing, window: Window) {
    this.#fetch = fetch;
    this.#standing = standing;
    this.#window = window;
    this.#isFirstCertain = isAnchored(window);
  }

  /** Nothing is assumed any more. */
  get isCertain(): boolean {
    return this.#isFirstCertain && this.#fetch.facts.areConfirmed;
  }

  /** The messages of the window, if they are all cached. */
  async findCached(): Promise<FoundWindow | undefined> {
    const { isComplete, ...found } = await this.#find(false);
    return isComplete ? found : undefined;
  }

  /** The messages of the window. Reads on until they are complete. */
  async find(): Promise<FoundWindow> {
    const { isComplete, ...found } = await this.#find(true);
    return found;
  }

  async #find(mayRead: boolean): Promise<FoundWindow & { readonly isComplete: boolean }> {
    const { facts, views } = this.#fetch;
    const first = await this.#assumedFirst();
    const window = anchoredAt(this.#window, first?.head);
    const view = first?.view ?? views[0];
    const { pivot, older, newer } = aroundAnchor(window);
    const keep = this.#matching(facts);
    const find = (side: Side, need: number): Promise<SearchResult> =>
      view.find({ side, from: pivot, need, keep, mayRead });
    const [before, after] = await Promise.all([find('older', older), find('newer', newer)]);
    const isComplete = before.isComplete && after.isComplete;
    return { ...windowResult(window, before, after), anchor: window.anchor, isComplete };
  }

  /** Looks for an unread message older than the assumed first one. One round trip. */
  async readOlderUnread(): Promise<void> {
    const assumed = await this.#assumedFirst();
    if (assumed === undefined || this.#isFirstCertain) return;
    const { viewOptions: options, reader } = this.#fetch;
    const below = assumed.head?.id ?? END;
    const streams = await assumed.view.uncachedUnreadBelow(below);
    const view = new View(options);
    // In a single place it is probably just above the floor.
    const floor = options.source.kind === 'place' ? streams[0]?.above : undefined;
    const { before, after } = this.#window;
    const [{ heads }] = await Promise.all([
      mergeStreams({
        streams,
        side: 'newer',
        from: 0,
        need: 1,
        keep: this.#unread(reader),
        mayRead: true,
        isFiltered: true,
      }),
      floor !== undefined && view.open({ pivot: floor + 1, older: before, newer: after + 1 + EXTRA }),
    ]);
    this.#older = { below, first: { head: heads[0], view }, isOpen: floor !== undefined };
  }

  /** Decides which message is the first unread one, from what has been read since the last `find`. */
  async settleAnchor(): Promise<void> {
    if (this.#isFirstCertain || this.#older === undefined) return;
    const { below, first, isOpen } = this.#older;
    const cached = await this.#firstCached();
    if (first.head !== undefined && (cached.head === undefined || first.head.id < cached.head.id)) {
      this.#first = Promise.resolve(first);
      this.#isFirstCertain = true;
      if (!isOpen) await first.view.open(aroundAnchor(anchoredAt(this.#window, first.head)));
      return;
    }
    this.#first = Promise.resolve(cached);
    this.#isFirstCertain = (cached.head?.id ?? END) <= below && this.#fetch.facts.areConfirmed;
  }

  #assumedFirst(): Promise<FirstUnread> | undefined {
    if (!isAnchored(this.#window)) this.#first ??= this.#firstCached();
    return this.#first;
  }

  /** The first unread message that is cached, in the view where it was expected, or else in the next one. */
  async #firstCached(): Promise<FirstUnread> {
    const { facts, views } = this.#fetch;
    const keep = this.#unread(facts);
    for (const view of views.slice(0, -1)) {
      const head = await view.firstCached(keep);
      if (head !== undefined) return { head, view };
    }
    const view = views.at(-1) ?? views[0];
    return { head: await view.firstCached(keep), view };
  }

  /** The unread messages among those that match. */
  #unread(facts: ReaderFacts): Search['keep'] {
    const matching = this.#matching(facts);
    const isUnread = unreadAmong(facts);
    return async (heads) => {
      const [kept, unread] = await Promise.all([matching(heads), isUnread(heads)]);
      return new Set([...kept].filter((id) => unread.has(id)));
    };
  }

  /** The messages that match the narrow and that the reader has access to. */
  #matching(facts: ReaderFacts): Search['keep'] {
    const { terms, viewOptions } = this.#fetch;
    const { kind } = viewOptions.source;
    const match = matchFor(
      facts,
      this.#standing,
      // All messages of the source `starred` are starred.
      terms.filter((term) => kind !== 'starred' || term.negated || !isState('starred', term)),
    );
    // A narrow that names a place or messages shows the history; any other shows only what the reader received.
    const showsHistory = kind === 'place' || kind === 'listed' || kind === 'starred';
    return async (heads) => {
      const matching = await match(heads);
      return idsWhere(
        heads.filter(({ id }) => matching.has(id)),
        (head) => (showsHistory ? mayRead(facts, this.#standing, head) : hasReceived(facts, head)),
      );
    };
  }
}
