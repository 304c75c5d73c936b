import type { MessageHead } from '../../log/message.ts';
import type { Side } from '../../model/message/load.ts';
import { mayRead } from '../../model/message/message.ts';
import { isGuest, type Standing } from '../../model/permission/permission.ts';
import { mergeStreams, type Search, type SearchResult } from '../reader/merge-streams.ts';
import { isMuted } from '../reader/muting.ts';
import { idsWhere, receivedAmong, unreadAmong } from '../reader/streams.ts';
import { EXTRA, type Fetch } from './fetch.ts';
import { includesHistory, isState } from './narrow.ts';
import { type Match, matchFor } from './narrow-match.ts';
import { textMatchFor } from './text-match.ts';
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

/** The message of a narrow that a window is anchored at, if there is one, and the view that has those around it. */
interface FirstMessage {
  readonly head: MessageHead | undefined;
  readonly view: View;
}

/**
 * Finds the messages of a window. Where its first unread message is may take another read. `findCached` then takes the
 * oldest cached one for it, so that the texts can be read at once, while `settleAnchor` looks for older ones.
 */
export class WindowSearch {
  readonly #fetch: Fetch;
  readonly #window: Window;
  readonly #standing: Standing;
  readonly #matchTexts: Match | undefined;
  #first: Promise<FirstMessage> | undefined;

  constructor(fetch: Fetch, standing: Standing, window: Window) {
    this.#fetch = fetch;
    this.#standing = standing;
    this.#window = window;
    this.#matchTexts = textMatchFor(fetch.reader, fetch.terms);
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

  /** The same, once it is certain which message is the anchor. */
  async findSettled(): Promise<FoundWindow> {
    const [cached, hasMoved] = await Promise.all([this.findCached(), this.settleAnchor()]);
    return cached && !hasMoved ? cached : this.find();
  }

  async #find(mayRead: boolean): Promise<FoundWindow & { readonly isComplete: boolean }> {
    const first = await this.#firstMessage();
    const window = anchoredAt(this.#window, first?.head);
    const view = first?.view ?? this.#fetch.views[0];
    const { pivot, older, newer } = aroundAnchor(window);
    const find = (side: Side, need: number): Promise<SearchResult> =>
      view.find({ side, from: pivot, need, keep: this.#matching, mayRead });
    const [before, after] = await Promise.all([find('older', older), find('newer', newer)]);
    const isComplete = before.isComplete && after.isComplete;
    return { ...windowResult(window, before, after), anchor: window.anchor, isComplete };
  }

  /** Looks for an unread message older than the first cached one. Returns whether there is one. One round trip. */
  async settleAnchor(): Promise<boolean> {
    const cached = await this.#firstMessage();
    if (cached === undefined || this.#window.anchor !== 'first_unread') return false;
    const { viewOptions: options } = this.#fetch;
    const streams = await cached.view.uncachedUnreadBelow(cached.head?.id ?? END);
    const view = new View(options);
    // In a single place it is probably just above the floor.
    const floor = options.source.kind === 'place' ? streams[0]?.above : undefined;
    const { before, after } = this.#window;
    const [found] = await Promise.all([
      mergeStreams({
        streams,
        side: 'newer',
        from: 0,
        need: 1,
        keep: this.#unread,
        mayRead: true,
        isFiltered: true,
      }),
      floor !== undefined && view.open({ pivot: floor + 1, older: before, newer: after + 1 + EXTRA }),
    ]);
    const [head] = found.heads;
    if (head === undefined) return false;
    if (floor === undefined) await view.open(aroundAnchor(anchoredAt(this.#window, head)));
    this.#first = Promise.resolve({ head, view });
    return true;
  }

  /**
   * The first unread message: the oldest cached one, until an older one is found. Or the first one since a time. Undefined
   * if the anchor is an id.
   */
  #firstMessage(): Promise<FirstMessage> | undefined {
    if (isAnchored(this.#window)) return undefined;
    const { since } = this.#fetch;
    this.#first ??= since === undefined ? this.#firstCached() : this.#firstSince(since);
    return this.#first;
  }

  async #firstSince(from: number): Promise<FirstMessage> {
    const [view] = this.#fetch.views;
    const { heads } = await view.find({ side: 'newer', from, need: 1, keep: this.#matching, mayRead: true });
    return { head: heads[0], view };
  }

  /** The first unread message that is cached, in the view where it was expected, or else in the next one. */
  async #firstCached(): Promise<FirstMessage> {
    const [expected, newest = expected] = this.#fetch.views;
    const head = await expected.firstCached(this.#unread);
    if (head !== undefined || newest === expected) return { head, view: expected };
    return { head: await newest.firstCached(this.#unread), view: newest };
  }

  /** The messages among those that match at which `first_unread` may be: unread and not muted (companion facts 1.14). */
  readonly #unread: Search['keep'] = async (heads) => {
    const { reader, terms } = this.#fetch;
    const named = terms.find((term) => term.kind === 'channel' && !term.negated);
    const channelId = named?.kind === 'channel' ? named.channel : undefined;
    const unread = await unreadAmong(reader)(heads);
    const heard = await idsWhere(
      heads.filter(({ id }) => unread.has(id)),
      async (head) => !(await isMuted(reader, head, channelId)),
    );
    return this.#matching(heads.filter(({ id }) => heard.has(id)));
  };

  /** The messages that match the narrow and that the reader has access to. */
  readonly #matching: Search['keep'] = async (heads) => {
    const { reader, terms, viewOptions } = this.#fetch;
    const { kind } = viewOptions.source;
    // All messages of the source `starred` are starred.
    const open = terms.filter((term) => kind !== 'starred' || term.negated || !isState('starred', term));
    const matching = await matchFor(reader, this.#standing, open)(heads);
    // What was starred need not have been received.
    const showsHistory = kind === 'starred' || includesHistory(terms, isGuest(this.#standing));
    const matches = heads.filter(({ id }) => matching.has(id));
    const seen = showsHistory
      ? await idsWhere(matches, (head) => mayRead(reader, this.#standing, head))
      : await receivedAmong(reader, matches);
    return this.#matchTexts ? this.#matchTexts(heads.filter(({ id }) => seen.has(id))) : seen;
  };
}
