import { badRequest, refusal } from '../../kernel/errors.ts';
import { codePoints } from '../../kernel/text.ts';
import type { Change } from '../../log/commit.ts';
import { type EventEntry, eventFor } from '../../log/slot.ts';
import { type Key, key } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { hasVersionOrNone } from '../../table/write.ts';

/** A place in the client that a user keeps in the left sidebar, or keeps out of it (companion facts 2.5). */
export interface NavigationView {
  /** The address in the client, after `#`. */
  readonly fragment: string;
  readonly isPinned: boolean;
  /** Absent for the views that every client has, which have names of their own. */
  readonly name?: string;
}

/** All navigation views of a user, in one item: names and fragments are unique among them. */
export interface NavigationViews {
  readonly views: readonly NavigationView[];
  /** Incremented by each change, for optimistic locking. */
  readonly version: number;
}

declare module '../../table/keys.ts' {
  interface ItemTypes {
    navigationViews: NavigationViews;
  }
}

/** Most views of one user (docs/LIMITS.md): `POST /register` sends all of them. */
export const MAX_VIEWS = 100;

/** Most code points of a fragment and of a name: a hundred of both fit into one item. */
export const MAX_FRAGMENT = 500;
export const MAX_VIEW_NAME = 100;

/** The fragments of the views that every client has. */
const BUILT_IN: ReadonlySet<string> = new Set([
  'inbox',
  'recent',
  'feed',
  'drafts',
  'narrow/has/reaction/sender/me',
  'narrow/is/mentioned',
  'narrow/is/starred',
]);

const NONE: NavigationViews = { views: [], version: 0 };

const viewsKey = (realm: string, userId: number): Key<'navigationViews'> =>
  key('navigationViews', { realm, userId });

/** All navigation views of a user, in the order in which they were added. One round trip. */
export const loadNavigationViews = async (
  table: Table,
  realm: string,
  userId: number,
): Promise<NavigationViews> => (await table.get(viewsKey(realm, userId))) ?? NONE;

/** The view with this fragment. Throws 404 `BAD_REQUEST` if there is none. */
export function accessView({ views }: NavigationViews, fragment: string): NavigationView {
  const view = views.find((each) => each.fragment === fragment);
  if (view === undefined) throw refusal('viewDoesNotExist');
  return view;
}

/** A view on the wire. */
export const viewObject = ({ fragment, isPinned, name }: NavigationView) => ({
  fragment,
  is_pinned: isPinned,
  name: name ?? null,
});

/** A fragment as it is stored. Throws `BAD_REQUEST`. */
export const checkFragment = (given: string): string => checkText('fragment', given, MAX_FRAGMENT);

/** A name as it is stored. Throws `BAD_REQUEST`. */
export const checkViewName = (given: string): string => checkText('name', given, MAX_VIEW_NAME);

function checkText(parameter: string, given: string, limit: number): string {
  const text = given.trim();
  if (text === '') throw badRequest(`'${parameter}' must not be empty.`);
  if (codePoints(text) > limit) throw badRequest(`'${parameter}' is too long (at most ${limit}).`);
  return text;
}

/** Checks that a user may add this view to theirs. Throws `BAD_REQUEST`. */
export function checkNewView({ views }: NavigationViews, view: NavigationView): void {
  if (views.some(({ fragment }) => fragment === view.fragment))
    throw badRequest('You have a navigation view with this fragment already.');
  if (!BUILT_IN.has(view.fragment) && view.name === undefined)
    throw badRequest("This navigation view needs a 'name'.");
  if (view.name !== undefined) checkNameOf({ views }, view.fragment, view.name);
  if (views.length >= MAX_VIEWS)
    throw badRequest(`You have ${MAX_VIEWS} navigation views: delete one of them first.`);
}

/** Checks that a user may give this name to the view with this fragment. Throws `BAD_REQUEST`. */
export function checkNameOf({ views }: Pick<NavigationViews, 'views'>, fragment: string, name: string): void {
  if (BUILT_IN.has(fragment)) throw badRequest("This navigation view has its own name: leave out 'name'.");
  if (views.some((each) => each.name === name && each.fragment !== fragment))
    throw badRequest('You have a navigation view with this name already.');
}

const viewEvent = (userId: number, op: string, fields: object): EventEntry =>
  eventFor({ users: [userId] }, { type: 'navigation_view', op, ...fields });

/** Stores the views of a user. Fails if they have changed since they were read. */
const doStore = (
  realm: string,
  userId: number,
  { version }: NavigationViews,
  views: readonly NavigationView[],
  entry: EventEntry,
): Change<void> => ({
  writes: [
    {
      put: viewsKey(realm, userId),
      item: { views, version: version + 1 },
      when: hasVersionOrNone(version),
    },
  ],
  entries: [entry],
  result: undefined,
});

/** Adds a view. */
export const doAddView = (
  realm: string,
  userId: number,
  before: NavigationViews,
  view: NavigationView,
): Change<void> => {
  const event = viewEvent(userId, 'add', { navigation_view: viewObject(view) });
  return doStore(realm, userId, before, [...before.views, view], event);
};

/** Changes a view. */
export function doChangeView(
  realm: string,
  userId: number,
  before: NavigationViews,
  fragment: string,
  change: Partial<Pick<NavigationView, 'isPinned' | 'name'>>,
): Change<void> {
  const { isPinned, name } = change;
  const data = {
    ...(isPinned !== undefined && { is_pinned: isPinned }),
    ...(name !== undefined && { name }),
  };
  const views = before.views.map((each) => (each.fragment === fragment ? { ...each, ...change } : each));
  return doStore(realm, userId, before, views, viewEvent(userId, 'update', { fragment, data }));
}

/** Deletes a view. */
export const doRemoveView = (
  realm: string,
  userId: number,
  before: NavigationViews,
  fragment: string,
): Change<void> => {
  const views = before.views.filter((each) => each.fragment !== fragment);
  return doStore(realm, userId, before, views, viewEvent(userId, 'remove', { fragment }));
};
