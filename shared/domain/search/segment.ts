import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Message, MessageHead } from '../../log/message.ts';
import type { RangeRequest } from '../../model/message/load.ts';
import { quoted, TOKENIZER } from './stems.ts';
import { indexedWords, wordsOfMessage } from './words.ts';

/*
 * A segment of the search index: an SQLite database with the words of some thousand messages (FTS5, without the texts and
 * without positions), and of each message its sender and its place. It is a file in a bucket, written once.
 */

/** What the index knows of a message besides its words: enough to leave out most of what a reader may not see. */
export type Hit = Pick<MessageHead, 'id' | 'senderId' | 'channelId' | 'people' | 'conversation'>;

/** A message as it is indexed. */
export type IndexedMessage = Hit & Pick<Message, 'rendered' | 'topic'>;

const SCHEMA = `
  CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='${TOKENIZER}');
  CREATE TABLE place(id INTEGER PRIMARY KEY, conversation TEXT UNIQUE, channel INTEGER, people TEXT);
  CREATE TABLE message(id INTEGER PRIMARY KEY, sender INTEGER, place INTEGER);`;

/** A channel's topic, or a direct conversation. */
export type Place = Pick<MessageHead, 'conversation' | 'channelId' | 'people'>;

/** Which messages of the index a search wants. */
export interface Wish {
  /** Words that they have, at least one. */
  readonly words: readonly string[];
  readonly place: (place: Place) => boolean;
}

/** A range of ids, both ends included, and the side on which to begin: `older` begins with the largest. */
type HitRange = Omit<RangeRequest, 'limit'>;

/** A segment that can be searched. */
export class Segment {
  readonly #database: DatabaseSync;
  readonly #places: ReadonlyMap<number, Place>;
  /** The size of its file. */
  readonly bytes: number;

  /** Throws if the bytes are not those of a segment. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes.length;
    // The open database keeps the file, and nothing is left of it when the process ends.
    const { database, places } = withFile(bytes, (path) => {
      const opened = openDatabase(path, true);
      // SQLite opens the file when it is first read.
      const rows = opened.prepare('SELECT id, conversation, channel, people FROM place').all();
      return { database: opened, places: rows };
    });
    this.#database = database;
    this.#places = new Map(places.map((row) => [Number(row.id), placeOf(row)]));
  }

  /** The messages in a range that fulfill a wish, nearest first, each as its place and id. */
  *find({ words, place }: Wish, { from, to, side }: HitRange): Generator<Hit> {
    const places = [...this.#places].filter(([, each]) => place(each)).map(([id]) => id);
    if (places.length === 0) return;
    const isInAll = places.length === this.#places.size;
    const found = this.#database
      .prepare(
        `SELECT words.rowid AS id, sender, place
         FROM words JOIN message ON message.id = words.rowid
         WHERE words MATCH ? AND words.rowid BETWEEN ? AND ?
         ${isInAll ? '' : 'AND place IN (SELECT value FROM json_each(?))'}
         ORDER BY words.rowid ${side === 'older' ? 'DESC' : 'ASC'}`,
      )
      .iterate(words.map(quoted).join(' AND '), from, to, ...(isInAll ? [] : [JSON.stringify(places)]));
    for (const row of found) {
      const at = this.#places.get(Number(row.place));
      if (at) yield { ...at, id: Number(row.id), senderId: Number(row.sender) };
    }
  }
}

type Row = Readonly<Record<string, SQLOutputValue>>;

const placeOf = ({ conversation, channel, people }: Row): Place => ({
  conversation: String(conversation),
  ...(channel !== null && { channelId: Number(channel) }),
  ...(people !== null && { people: JSON.parse(String(people)) as number[] }),
});

/** The bytes of a segment and how many messages it has. */
export interface SegmentContent {
  readonly bytes: Uint8Array;
  readonly count: number;
}

/**
 * Makes a segment of another one, or of none: without the messages with these ids, then with the added ones. Nothing of
 * removed messages is left in it. Undefined if it would be empty.
 */
export function rewriteSegment(
  before: Uint8Array | undefined,
  removed: readonly number[],
  added: readonly IndexedMessage[],
): SegmentContent | undefined {
  return withFile(before, (path) => {
    const database = openDatabase(path, false);
    try {
      database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
      if (before === undefined) database.exec(SCHEMA);
      database.exec('BEGIN');
      for (const table of ['words', 'message']) {
        const remove = database.prepare(
          `DELETE FROM ${table} WHERE ${table === 'words' ? 'rowid' : 'id'} = ?`,
        );
        for (const id of [...removed, ...added.map((message) => message.id)]) remove.run(id);
      }
      for (const message of added) insert(database, message);
      database.exec('DELETE FROM place WHERE id NOT IN (SELECT place FROM message)');
      // Merges all into one list of words, which drops those of removed messages.
      database.exec("INSERT INTO words(words) VALUES ('optimize')");
      database.exec('COMMIT');
      const count = Number(database.prepare('SELECT count(*) AS count FROM message').get()?.count);
      if (count === 0) return undefined;
      const compact = `${path}-compact`;
      database.prepare('VACUUM INTO ?').run(compact);
      return { bytes: readFileSync(compact), count };
    } finally {
      database.close();
    }
  });
}

function insert(
  database: DatabaseSync,
  { id, senderId, conversation, channelId, people, ...text }: IndexedMessage,
): void {
  const words = [...indexedWords(wordsOfMessage(text))].join(' ');
  database.prepare('INSERT INTO words(rowid, text) VALUES (?, ?)').run(id, words);
  database
    .prepare('INSERT INTO place(conversation, channel, people) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
    .run(conversation, channelId ?? null, people === undefined ? null : JSON.stringify(people));
  database
    .prepare('INSERT INTO message(id, sender, place) SELECT ?, ?, id FROM place WHERE conversation = ?')
    .run(id, senderId, conversation);
}

/** Loaded when it is needed: most requests do not. */
const openDatabase = (path: string, readOnly: boolean): DatabaseSync => {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  return new DatabaseSync(path, { readOnly });
};

/** Does something with a file of these bytes, which is gone afterwards. */
function withFile<T>(bytes: Uint8Array | undefined, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'segment-'));
  try {
    const path = join(folder, 'segment');
    if (bytes !== undefined) writeFileSync(path, bytes);
    return use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
