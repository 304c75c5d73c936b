import type { Manifest } from '../../shared/domain/export/archive-file.ts';
import { isSystemGroup } from '../../shared/model/permission/permission.ts';

/** A record of an archive, as it was read. Nothing has been checked. */
export type ExportRecord = Readonly<Record<string, unknown>>;

type Kind =
  | 'message'
  | 'user'
  | 'channel'
  | 'subscription'
  | 'group'
  | 'folder'
  | 'emoji'
  | 'attachment'
  | 'field'
  | 'file';

/** Something that a record names, which must be in the archive too; null and undefined are nothing. */
type Name = readonly [kind: Kind, id: unknown];

/** What the records of a folder are. */
interface Description {
  readonly kind: Kind;
  readonly id: (record: ExportRecord) => unknown;
  readonly names: (record: ExportRecord) => readonly Name[];
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const recordsOf = (value: unknown) => listOf(value) as readonly ExportRecord[];
const all = (kind: Kind, ids: unknown): Name[] => listOf(ids).map((id) => [kind, id]);
const ownId = ({ id }: ExportRecord): unknown => id;

/** What the group settings among the fields of a record name. */
const settingNames = (record: ExportRecord): Name[] =>
  Object.entries(record)
    .filter(([field]) => /^can_|_group$/.test(field))
    .flatMap(([, value]): Name[] => {
      if (typeof value === 'number') return [['group', value]];
      const { direct_members, direct_subgroups } = (value ?? {}) as ExportRecord;
      return [...all('user', direct_members), ...all('group', direct_subgroups)];
    });

const descriptions: Readonly<Record<string, Description>> = {
  messages: {
    kind: 'message',
    id: ownId,
    names: (record) => [
      ['user', record.sender_id],
      ['channel', record.stream_id],
      ...all('user', record.user_ids),
      ...recordsOf(record.reactions).flatMap(({ user_id, reaction_type, emoji_code }): Name[] => [
        ['user', user_id],
        ...(reaction_type === 'realm_emoji' ? [['emoji', Number(emoji_code)] as const] : []),
      ]),
      ...recordsOf(record.edit_history).flatMap(({ user_id, stream, prev_stream }): Name[] => [
        ['user', user_id],
        ['channel', stream],
        ['channel', prev_stream],
      ]),
    ],
  },
  emoji: {
    kind: 'emoji',
    id: ownId,
    names: ({ author_id, image, still }) => [
      ['user', author_id],
      ['file', image],
      ['file', still],
    ],
  },
  attachments: {
    kind: 'attachment',
    id: ownId,
    names: ({ user_id, file }) => [
      ['user', user_id],
      ['file', file],
    ],
  },
  channels: {
    kind: 'channel',
    id: ({ stream_id }) => stream_id,
    names: (record) => [['folder', record.folder_id], ['user', record.creator_id], ...settingNames(record)],
  },
  subscriptions: {
    kind: 'subscription',
    id: ({ user_id, stream_id }) => `${String(user_id)}/${String(stream_id)}`,
    names: ({ user_id, stream_id }) => [
      ['user', user_id],
      ['channel', stream_id],
    ],
  },
  channel_folders: { kind: 'folder', id: ownId, names: ({ creator_id }) => [['user', creator_id]] },
  user_groups: {
    kind: 'group',
    id: ownId,
    names: (record) => [
      ['user', record.creator_id],
      ...all('user', record.members),
      ...all('group', record.direct_subgroup_ids),
      ...settingNames(record),
    ],
  },
  custom_profile_fields: { kind: 'field', id: ownId, names: () => [] },
  users: {
    kind: 'user',
    id: ({ user_id }) => user_id,
    names: ({ bot_owner_id, profile_data }) => [
      ['user', bot_owner_id],
      ...Object.keys(profile_data ?? {}).map((id): Name => ['field', Number(id)]),
    ],
  },
};

/** The most problems that are reported. */
const MOST = 100;

/** Follows the records of an archive and notes what is wrong with them. */
export class ExportCheck {
  readonly problems: string[] = [];
  readonly #known = new Map<Kind, Set<unknown>>();
  /** By what is named: where it was named first. Its own record may come later. */
  readonly #named = new Map<Kind, Map<unknown, string>>();
  #lastMessage = 0;
  #hasOrganization = false;

  problem(sentence: string): void {
    if (this.problems.length < MOST) this.problems.push(sentence);
  }

  /** A file that is not records. */
  file(name: string): void {
    this.#know('file', name);
  }

  record(section: string, record: ExportRecord): void {
    const description = descriptions[section];
    if (!description) {
      this.problem(`Nobody knows what '${section}' are.`);
      return;
    }
    const { kind } = description;
    const id = description.id(record);
    // Messages are too many to be remembered, but each has a higher id than the one before.
    if (kind === 'message') this.#follow(Number(id));
    else this.#know(kind, id);
    this.#name(description.names(record), `The ${kind} ${String(id)}`);
  }

  organization({ settings = {} }: { readonly settings?: ExportRecord }): void {
    this.#hasOrganization = true;
    const channels = [settings.moderation_request_channel_id, settings.new_stream_announcements_stream_id];
    const names = channels.filter((id) => id !== -1).map((id): Name => ['channel', id]);
    this.#name([...names, ...settingNames(settings)], 'The organization');
  }

  /** Makes the checks that are only possible at the end. */
  end(manifest: Manifest | undefined, counts: Readonly<Record<string, number>>): void {
    if (!manifest) this.problem('The end of the archive is missing.');
    if (!this.#hasOrganization) this.problem('The organization itself is missing.');
    for (const [section, count] of Object.entries(manifest?.counts ?? {})) {
      const found = counts[section] ?? 0;
      if (found !== count) this.problem(`There should be ${count} ${section}, and there are ${found}.`);
    }
    for (const [kind, names] of this.#named) {
      for (const [id, where] of names) {
        const isKnown = this.#known.get(kind)?.has(id) || (kind === 'group' && isSystemGroup(Number(id)));
        if (!isKnown) this.problem(`${where} names the ${kind} ${String(id)}, which is not there.`);
      }
    }
  }

  #follow(id: number): void {
    if (!(id > this.#lastMessage)) this.problem(`The message ${id} is out of order, or there twice.`);
    this.#lastMessage = id;
  }

  #know(kind: Kind, id: unknown): void {
    const known = this.#known.get(kind) ?? new Set();
    if (known.has(id)) this.problem(`The ${kind} ${String(id)} is there twice.`);
    this.#known.set(kind, known.add(id));
  }

  #name(names: readonly Name[], where: string): void {
    for (const [kind, id] of names) {
      if (id === null || id === undefined) continue;
      const named = this.#named.get(kind) ?? new Map<unknown, string>();
      if (!named.has(id)) named.set(id, where);
      this.#named.set(kind, named);
    }
  }
}
