/**
 * The key map: every item of the one table, as data. Padding and escaping happen here and nowhere else.
 *
 * Reading a line: `{realm}` is text (escaped), `{userId:n}` a number (padded so that text order is number order).
 * Every key begins with the realm; only `host` and `mailToken` items, by which the realm is found, have none, and the
 * lists of all organizations stand together.
 * `test/table/key-descriptions.ts` describes each kind. `test/table/keys.test.ts` proves that no two items can have the same key and that
 * TABLE.md is up to date.
 */
type Fields<S extends string> = S extends `${string}{${infer F}}${infer Rest}`
  ? (F extends `${infer N}:n` ? { [K in N]: number } : { [K in F]: string }) & Fields<Rest>
  : unknown;

interface ItemKind<Pk extends string, Sk extends string> {
  readonly pk: Pk;
  readonly sk: Sk;
}

const item = <const Pk extends string, const Sk extends string>(pk: Pk, sk: Sk): ItemKind<Pk, Sk> => ({
  pk,
  sk,
});

export const itemKinds = {
  // Names: name -> id. They also keep the name unique.
  host: item('host/{host}', 'host'),
  mailToken: item('mailToken/{token}', 'address'),
  account: item('{realm}/email/{email}', 'account'),
  places: item('{realm}/email/{email}', 'places'),
  channelName: item('{realm}/channelName/{name}', 'channel'),
  groupName: item('{realm}/groupName/{name}', 'group'),
  folderName: item('{realm}/folderName/{name}', 'folder'),
  fullName: item('{realm}/fullName/{name}', 'users'),
  emojiName: item('{realm}/emojiName/{name}', 'emoji'),

  // Lists over all organizations, for the operator and the workers.
  organization: item('organizations', '{realm}/organization'),
  retention: item('retention', '{realm}/organization'),
  unusedFile: item('unusedFiles', '{day:n}/{realm}/{token}'),
  channelRetention: item('retention', '{realm}/channel/{channelId:n}'),
  pushRealm: item('push', '{realm}/organization'),
  due: item('due', '{at:n}/{realm}/{userId:n}/{id:n}'),
  outbox: item('outbox', '{realm}/{kind}/{job}/{part:n}'),

  // The organization.
  realm: item('{realm}/realm', 'realm'),
  domains: item('{realm}/realm', 'domains'),
  linkifiers: item('{realm}/realm', 'linkifiers'),
  playgrounds: item('{realm}/realm', 'playgrounds'),
  defaultGroups: item('{realm}/realm', 'defaultGroups'),
  newUserSettings: item('{realm}/realm', 'newUserSettings'),
  quota: item('{realm}/quota', 'quota/{kind}'),
  uploadSpace: item('{realm}/quota', 'uploads'),
  invitation: item('{realm}/invitations', '{inviteId:n}'),
  link: item('{realm}/link/{digest}', 'link'),
  schema: item('{realm}/schema', 'kind/{kind}'),
  counter: item('{realm}/counter', 'log'),
  solid: item('{realm}/counter', 'solid'),
  slot: item('{realm}/log', '{seq:n}'),
  edit: item('{realm}/edits/{messageId:n}', '{seq:n}'),
  reactions: item('{realm}/reactions/{messageId:n}', 'summary'),
  reaction: item('{realm}/reactions/{messageId:n}', 'emoji/{type}/{code}/{userId:n}'),
  groupGraph: item('{realm}/groupGraph', 'graph'),
  graphVersion: item('{realm}/groupGraph', 'version'),
  listVersions: item('{realm}/lists', 'versions'),
  group: item('{realm}/groups', '{groupId:n}'),
  folder: item('{realm}/folders', 'folder/{folderId:n}'),
  folderOrder: item('{realm}/folders', 'order'),
  emoji: item('{realm}/emoji', '{emojiId:n}'),
  file: item('{realm}/file/{token}', 'file'),
  fileLink: item('{realm}/fileLink/{digest}', 'link'),
  attachment: item('{realm}/attachments/{userId:n}', '{attachmentId:n}'),
  user: item('{realm}/users', '{userId:n}'),
  owners: item('{realm}/owners', 'owners'),
  profileFields: item('{realm}/profileFields', 'fields'),
  profile: item('{realm}/profiles', '{userId:n}'),
  userStatus: item('{realm}/statuses', '{userId:n}'),
  presence: item('{realm}/presence', '{userId:n}'),
  pulse: item('{realm}/pulse/{slot:n}', '{userId:n}'),
  channel: item('{realm}/channels', '{channelId:n}'),
  channelCount: item('{realm}/channelCounts', '{channelId:n}'),

  // Under the user: what differs per person.
  settings: item('{realm}/user/{userId:n}', 'settings'),
  membership: item('{realm}/user/{userId:n}', 'group/{groupId:n}'),
  subscription: item('{realm}/user/{userId:n}', 'channel/{channelId:n}'),
  former: item('{realm}/user/{userId:n}', 'former/{channelId:n}'),
  userTopic: item('{realm}/user/{userId:n}', 'topic/{channelId:n}/{topic}'),
  read: item('{realm}/user/{userId:n}', 'read/{conversation}'),
  star: item('{realm}/user/{userId:n}', 'star/{messageId:n}'),
  dialogue: item('{realm}/user/{userId:n}', 'direct/{conversation}'),
  notice: item('{realm}/user/{userId:n}', 'notice'),
  legacyTokens: item('{realm}/user/{userId:n}', 'legacyPushTokens'),
  callToken: item('{realm}/user/{userId:n}', 'callToken/{provider}'),
  device: item('{realm}/user/{userId:n}', 'device/{deviceId:n}'),
  botValue: item('{realm}/bot/{userId:n}', 'value/{digest}'),
  botStorage: item('{realm}/bot/{userId:n}', 'storage'),
  scheduled: item('{realm}/user/{userId:n}', 'scheduled/{scheduledId:n}'),
  reminder: item('{realm}/user/{userId:n}', 'reminder/{reminderId:n}'),
  draft: item('{realm}/user/{userId:n}', 'draft/{draftId:n}'),
  draftCount: item('{realm}/user/{userId:n}', 'drafts'),
  snippet: item('{realm}/user/{userId:n}', 'snippet/{snippetId:n}'),
  navigationViews: item('{realm}/user/{userId:n}', 'navigationViews'),
  pushed: item('{realm}/user/{userId:n}', 'pushed'),
  sent: item('{realm}/user/{userId:n}', 'sent/{token}'),
  password: item('{realm}/user/{userId:n}', 'password'),

  // The inverses, and what belongs to a channel.
  member: item('{realm}/group/{groupId:n}', 'member/{userId:n}'),
  groupUse: item('{realm}/group/{groupId:n}', 'use'),
  subscriber: item('{realm}/channel/{channelId:n}', 'subscriber/{userId:n}'),
  topic: item('{realm}/channel/{channelId:n}', 'topic/{topic}'),
  participant: item('{realm}/channel/{channelId:n}', 'participant/{topic}/{userId:n}'),
  topicPolicy: item('{realm}/channel/{channelId:n}', 'policy/{topic}/{userId:n}'),
  mailAddress: item('{realm}/channel/{channelId:n}', 'mail/{userId:n}/{senderId:n}'),
  conversation: item('{realm}/direct/{conversation}', 'conversation'),
  bot: item('{realm}/bots', '{ownerId:n}/{userId:n}'),

  callState: item('{realm}/callState/{nonce}', 'state'),
  export: item('{realm}/exports', 'export/{token}'),
  exportQuota: item('{realm}/exports', 'quota'),
  searchIndex: item('{realm}/search', 'index'),
  pushFollower: item('{realm}/push', 'follower'),
  pushChest: item('{realm}/push', 'chest'),
  pushJob: item('{realm}/pushJobs', '{job}'),
  queue: item('{realm}/queues/{userId:n}', '{slot:n}'),
  replaced: item('{realm}/replaced/{room}', '{at:n}/{queueId}'),
  requests: item('{realm}/requests/{userId:n}', '{window:n}'),
  signInState: item('{realm}/signInState/{state}', 'state'),
  loginToken: item('{realm}/loginToken/{digest}', 'token'),
  attempts: item('{realm}/attempts/{subject}', '{window:n}'),
  keyUse: item('{realm}/requests/{userId:n}', 'key/{keyId}'),
} as const;

type ItemKinds = typeof itemKinds;
export type ItemName = keyof ItemKinds;

/**
 * What the items of each kind are. Here are those that hold little more than an id. The table stands below the nouns and
 * cannot import them, so each noun adds its own:
 *
 *     declare module '../../table/keys.ts' {
 *       interface ItemTypes {
 *         user: User;
 *       }
 *     }
 *
 * A second type for a kind does not compile, nor does a kind without one (`test/table/item-types.test.ts`).
 */
export interface ItemTypes {
  host: { readonly realm: string };
  fullName: { readonly users?: ReadonlySet<number> };
  channelName: { readonly channelId: number };
  groupName: { readonly groupId: number };
  folderName: { readonly folderId: number };
  mailAddress: { readonly token: string };
  solid: { readonly seq: number };
  quota: { readonly used: number };
  /** Bytes. */
  uploadSpace: { readonly used: number };
  /** `version` grows with each new reason to be on the list, so that removing the item can be conditional on it. */
  pushRealm: { readonly realm: string; readonly version: number };
  graphVersion: { readonly version: number };
  subscriber: { readonly userId: number };
  participant: { readonly userId: number };
  settings: Readonly<Record<string, unknown>>;
  notice: { readonly at: number };
  pushed: { readonly ids?: ReadonlySet<number> };
  callState: { readonly expires: number };
  requests: { readonly requests: number };
}

/** What an item of this kind is. */
export type ItemOf<N extends ItemName> = ItemTypes[N & keyof ItemTypes];

declare const kindOfKey: unique symbol;

/** The key of an item. Only the compiler knows its kind, which types the item that is read with it. */
export interface Key<N extends ItemName = ItemName> {
  readonly pk: string;
  readonly sk: string;
  readonly [kindOfKey]?: N;
}
export type KeyFields<N extends ItemName> = Flatten<Fields<ItemKinds[N]['pk']> & Fields<ItemKinds[N]['sk']>>;
export type PartitionFields<N extends ItemName> = Flatten<Fields<ItemKinds[N]['pk']>>;
export type SortFields<N extends ItemName> = Flatten<Fields<ItemKinds[N]['sk']>>;
type Flatten<T> = { [K in keyof T]: T[K] };

/** Digits of a padded number: enough for a billion numbers a day for two years. */
const DIGITS = 12;

/** A number as text that sorts like a number. Throws RangeError for a number that would not. */
export function padded(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0 || value >= 10 ** DIGITS) {
    throw new RangeError(`not a number for a key: ${value}`);
  }
  return String(value).padStart(DIGITS, '0');
}

/** Escapes the separator; `%` first, so that escaping is one-to-one. */
const escaped = (value: string): string =>
  /[%/]/.test(value) ? value.replaceAll('%', '%25').replaceAll('/', '%2F') : value;

/** The realm of an item, with whose id its key begins. */
export const realmOf = ({ pk }: Key): string =>
  pk.slice(0, pk.indexOf('/')).replaceAll('%2F', '/').replaceAll('%25', '%');

/** The user in whose partition an item stands; undefined if it stands elsewhere. */
export function userOf({ pk }: Key): number | undefined {
  const [, part, userId] = pk.split('/');
  return part === 'user' ? Number(userId) : undefined;
}

/** A template of the map, taken apart: the text before each field, and the one after the last. */
interface Form {
  readonly texts: readonly string[];
  readonly fields: readonly { readonly name: string; readonly isNumber: boolean }[];
}

const forms = new Map<string, Form>();

function formOf(template: string): Form {
  const known = forms.get(template);
  if (known) return known;
  const parts = template.split(/\{(\w+(?::n)?)\}/);
  const form = {
    texts: parts.filter((_, i) => i % 2 === 0),
    fields: parts
      .filter((_, i) => i % 2 === 1)
      .map((field) => ({ name: field.replace(':n', ''), isNumber: field.endsWith(':n') })),
  };
  forms.set(template, form);
  return form;
}

function fill(template: string, fields: Readonly<Record<string, unknown>>): string {
  const form = formOf(template);
  let text = form.texts[0] as string;
  form.fields.forEach(({ name, isNumber }, i) => {
    const value = fields[name];
    if (typeof value !== (isNumber ? 'number' : 'string')) {
      throw new TypeError(`key field '${name}' is missing or of the wrong kind in '${template}'`);
    }
    text += (isNumber ? padded(value as number) : escaped(value as string)) + form.texts[i + 1];
  });
  return text;
}

/** The key of one item. */
export function key<N extends ItemName>(name: N, fields: KeyFields<N>): Key<N> {
  const kind = itemKinds[name];
  return { pk: fill(kind.pk, fields as never), sk: fill(kind.sk, fields as never) };
}

/** A key as one text, for maps. No two keys have the same. */
export const idOf = ({ pk, sk }: Key): string => `${pk.length}/${pk}${sk}`;

/** The sort key of one item, for the ends of a range. */
export const sortKey = <N extends ItemName>(name: N, fields: SortFields<N>): string =>
  fill(itemKinds[name].sk, fields as never);

/** Makes a test for keys of this kind. */
export function isOf(name: ItemName): (key: Key) => boolean {
  const { pk, sk } = itemKinds[name];
  const form = (template: string): RegExp =>
    new RegExp(
      `^${template.replace(/\{\w+(:n)?\}/g, (_, number) => (number ? `\\d{${DIGITS}}` : '[^/]*'))}$`,
    );
  const [partitions, sorts] = [form(pk), form(sk)];
  return (key) => sorts.test(key.sk) && partitions.test(key.pk);
}

/** The partition key of the items of a kind with these fields. */
export const partition = <N extends ItemName>(name: N, fields: PartitionFields<N>): string =>
  fill(itemKinds[name].pk, fields as never);

/**
 * The prefix of the sort keys of a kind with these leading fields: `sortPrefix('userTopic', { channelId: 3 })` for those
 * of channel 3.
 */
export function sortPrefix(name: ItemName, fields: object = {}): string {
  const parts = itemKinds[name].sk.split('/');
  const open = parts.findIndex((part) => {
    const field = /^\{(\w+)/.exec(part)?.[1];
    return field !== undefined && !(field in fields);
  });
  if (open < 0) throw new RangeError(`no field is left open in the sort key of '${name}'`);
  const fixed = parts.slice(0, open);
  return fixed.length === 0 ? '' : `${fill(fixed.join('/'), fields as never)}/`;
}

/**
 * A conversation as one text: a topic of a channel (folded by the domain), or the people of a direct one.
 * The two forms cannot meet, and the free text stands last, so that it needs no escaping of its own.
 */
export const conversationOf = {
  topic: (channelId: number, topic: string): string => `topic:${padded(channelId)}:${topic}`,
  /** `people` is the sorted ids joined by commas, or a digest of that where the list is long. */
  direct: (people: string): string => `direct:${people}`,
} as const;

/** The people of a direct conversation; none if it has so many that only their digest is known. */
export const peopleOf = (conversation: string): readonly number[] =>
  (/^direct:(\d+(?:,\d+)*)$/.exec(conversation)?.[1] ?? '').split(',').filter(Boolean).map(Number);

/** The prefix of the sort keys of a user's read state in the topics of one channel. */
export const readPrefix = (channelId: number): string =>
  `${sortPrefix('read')}${escaped(conversationOf.topic(channelId, ''))}`;

/** The largest number that a key can hold. */
export const LARGEST_NUMBER = 10 ** DIGITS - 1;

/** The two indexes over messages, both in id order. Keys of other items never appear in them. */
export const indexes = {
  channel: {
    name: 'by-channel',
    pk: 'channelKey',
    sk: 'channelSort',
    key: (realm: string, channelId: number): string =>
      fill('{realm}/channel/{channelId:n}', { realm, channelId }),
  },
  conversation: {
    name: 'by-conversation',
    pk: 'conversationKey',
    sk: 'conversationSort',
    key: (realm: string, conversation: string): string =>
      fill('{realm}/conversation/{conversation}', { realm, conversation }),
  },
} as const;

/**
 * The attributes that the indexes carry besides the keys: enough to decide whether a message matches a narrow and whether
 * it is unread. Each is written once more per index, so the list stays short.
 */
export const indexProjection = ['senderId', 'topic', 'readBySender', 'readIn', 'mentions'] as const;

/** A message as an index carries it. Its id is the number of its slot, which is the sort key. */
export type IndexEntry = Pick<
  Extract<ItemOf<'slot'>, { readonly kind: 'message' }>,
  'sk' | (typeof indexProjection)[number]
>;
