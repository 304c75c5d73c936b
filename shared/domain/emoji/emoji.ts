import type { Table } from '../../table/table.ts';

/** A custom emoji, as stored under its id. It is never deleted: what was said with it goes on showing it. */
export interface CustomEmoji {
  /** The number of the event that told of it. */
  readonly emojiId: number;
  readonly name: string;
  readonly authorId: number;
  /** Paths of the images, from the root of the organization's address. */
  readonly sourceUrl: string;
  /** The first frame, where the image moves. */
  readonly stillUrl: string | null;
  readonly deactivated: boolean;
}

/** What the name of an active emoji leads to. */
export type NamedEmoji = Pick<CustomEmoji, 'emojiId' | 'sourceUrl'>;

declare module '../../table/keys.ts' {
  interface ItemTypes {
    emoji: CustomEmoji;
    emojiName: NamedEmoji;
  }
}

/** The emoji as clients get it (specification 2.8). */
export const emojiObject = ({ emojiId, name, authorId, sourceUrl, stillUrl, deactivated }: CustomEmoji) => ({
  id: `${emojiId}`,
  name,
  source_url: sourceUrl,
  still_url: stillUrl,
  deactivated,
  author_id: authorId,
});

/** The emoji by their ids, deactivated ones too (specification 4.10). */
export const emojiObjects = (emoji: readonly CustomEmoji[]): Record<string, ReturnType<typeof emojiObject>> =>
  Object.fromEntries(emoji.map((one) => [`${one.emojiId}`, emojiObject(one)]));

/** All emoji of the organization, in the order in which they were added. One round trip. */
export const loadEmoji = (table: Table, realm: string): Promise<readonly CustomEmoji[]> =>
  table.all('emoji', { realm });

/** One emoji. One round trip. */
export const loadOneEmoji = (
  table: Table,
  realm: string,
  emojiId: number,
): Promise<CustomEmoji | undefined> => table.get('emoji', { realm, emojiId });
