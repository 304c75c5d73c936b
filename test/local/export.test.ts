import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Inspection, inspectExport } from '../../infra/local/export-archive.ts';
import { closingMember, type Manifest, memberOf } from '../../shared/domain/export/archive-file.ts';

type Files = Readonly<Record<string, unknown>>;

const manifest = (counts: Manifest['counts']): Manifest => ({
  format: 'parlance-export',
  version: 1,
  export_id: 7,
  export_type: 'public',
  export_time: 1_800_000_000,
  counts,
});

const user = { user_id: 1, bot_owner_id: null };
const channel = { stream_id: 2, creator_id: 1, folder_id: null, can_send_message_group: 7 };
const message = { id: 10, sender_id: 1, type: 'channel', stream_id: 2, reactions: [] };
const organization = {
  settings: { moderation_request_channel_id: -1, new_stream_announcements_stream_id: 2 },
};

/** An archive that is whole. */
const whole: Files = {
  'messages/000001.jsonl': [message, { ...message, id: 11 }],
  'messages/000002.jsonl': [{ ...message, id: 15 }],
  'emoji/images/3.png': 'an image',
  'emoji/000001.jsonl': [{ id: 3, author_id: 1, image: 'emoji/images/3.png', still: null }],
  'channels/000001.jsonl': [channel],
  'subscriptions/000001.jsonl': [{ user_id: 1, stream_id: 2 }],
  'users/000001.jsonl': [user],
  'organization.json': organization,
  'manifest.json': manifest({ messages: 3, emoji: 1, channels: 1, subscriptions: 1, users: 1 }),
};

/** Puts files into an archive as the worker does; lists are files of records. */
async function archiveWith(files: Files): Promise<Buffer> {
  const members = await Promise.all(
    Object.entries(files).map(([name, content]) => {
      const text = Array.isArray(content)
        ? content.map((record) => `${JSON.stringify(record)}\n`).join('')
        : JSON.stringify(content);
      return memberOf({ name: `organization-export-7/${name}`, bytes: Buffer.from(text) }, 0);
    }),
  );
  return Buffer.concat([...members, await closingMember()]);
}

const inspected = async (files: Files): Promise<Inspection> =>
  inspectExport(Readable.from([await archiveWith(files)]));

describe('inspecting the archive of an export', () => {
  test('counts its contents', async () => {
    expect(await inspected(whole)).toEqual({
      manifest: whole['manifest.json'],
      counts: {
        messages: 3,
        emoji: 1,
        attachments: 0,
        channels: 1,
        subscriptions: 1,
        channel_folders: 0,
        user_groups: 0,
        custom_profile_fields: 0,
        users: 1,
      },
      files: 9,
      problems: [],
    });
  });

  const without = (...names: string[]): Files =>
    Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name)));
  const withMessage = (given: object): Files => ({
    ...whole,
    'messages/000002.jsonl': [{ ...message, id: 15, ...given }],
  });

  test.each([
    ['its end', without('manifest.json'), ['The end of the archive is missing.']],
    ['the organization', without('organization.json'), ['The organization itself is missing.']],
    [
      'a file of messages',
      without('messages/000001.jsonl'),
      ['messages/000002.jsonl is out of order.', 'There should be 3 messages, and there are 1.'],
    ],
    [
      'an image',
      without('emoji/images/3.png'),
      ['The emoji 3 names the file emoji/images/3.png, which is not there.'],
    ],
    [
      'a user',
      { ...whole, 'users/000001.jsonl': [{ ...user, user_id: 5 }] },
      ['The message 10 names the user 1, which is not there.'],
    ],
    [
      'a channel that a setting names',
      { ...whole, 'organization.json': { settings: { moderation_request_channel_id: 9 } } },
      ['The organization names the channel 9, which is not there.'],
    ],
    [
      'what a message names',
      withMessage({
        stream_id: 77,
        reactions: [{ user_id: 78, reaction_type: 'realm_emoji', emoji_code: '79' }],
        edit_history: [{ user_id: 80, prev_stream: 81 }],
      }),
      [
        'The message 15 names the user 78, which is not there.',
        'The message 15 names the user 80, which is not there.',
        'The message 15 names the channel 77, which is not there.',
        'The message 15 names the channel 81, which is not there.',
        'The message 15 names the emoji 79, which is not there.',
      ],
    ],
    [
      'the group of a setting',
      {
        ...whole,
        'channels/000001.jsonl': [
          { ...channel, can_send_message_group: { direct_members: [6], direct_subgroups: [300] } },
        ],
      },
      [
        'The channel 2 names the user 6, which is not there.',
        'The channel 2 names the group 300, which is not there.',
      ],
    ],
  ])('reports that %s is missing', async (_, files, problems) => {
    expect([...(await inspected(files)).problems].sort()).toEqual([...problems].sort());
  });

  test('reports duplicates and a wrong order', async () => {
    const twice = { ...whole, 'users/000001.jsonl': [user, user] };
    expect((await inspected(twice)).problems).toContain('The user 1 is there twice.');
    const again = { ...whole, 'subscriptions/000002.jsonl': [{ user_id: 1, stream_id: 2 }] };
    expect((await inspected(again)).problems).toContain('The subscription 1/2 is there twice.');
    for (const id of [11, 3]) {
      const { problems } = await inspected(withMessage({ id }));
      expect(problems).toEqual([`The message ${id} is out of order, or there twice.`]);
    }
    const behind = { ...whole, 'messages/000003.jsonl': [{ ...message, id: 20 }] };
    expect((await inspected(behind)).problems[0]).toMatch(/stands behind the end/);
  });

  test('reports that a truncated or other file is not an archive', async () => {
    const archive = await archiveWith(whole);
    for (const bytes of [archive.subarray(0, archive.length - 30), Buffer.from('not an archive at all')]) {
      await expect(inspectExport(Readable.from([bytes]))).rejects.toThrow();
    }
  });
});

describe('npm run export', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parlance-inspect-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const script = new URL('../../infra/local/export.ts', import.meta.url).pathname;
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], {
      env: { ...process.env, INIT_CWD: folder },
    }).then(
      (said) => ({ code: 0, ...said }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        stdout,
        stderr,
      }),
    );

  test('inspect prints the contents of a file, and whether it is complete', async () => {
    await writeFile(join(folder, 'good.tar.gz'), await archiveWith(whole));
    const { code, stdout } = await run('inspect', 'good.tar.gz');
    expect(stdout).toContain('Export 7 (public), asked for at 2027-01-15T08:00:00.000Z, 9 files:');
    expect(stdout).toContain('        3 messages\n');
    expect(stdout).toContain('The archive is whole.');
    expect(code).toBe(0);
  });

  test('inspect fails for a damaged archive, and for other files', async () => {
    await writeFile(join(folder, 'bad.tar.gz'), await archiveWith({ ...whole, 'users/000001.jsonl': [] }));
    const bad = await run('inspect', 'bad.tar.gz');
    expect(bad).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The message 10 names the user 1'),
    });
    await writeFile(join(folder, 'none'), 'nothing');
    for (const name of ['none', 'nowhere']) {
      expect(await run('inspect', name)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^This is not the archive of an export: /),
      });
    }
    for (const args of [[], ['inspect'], ['make', 'x']]) expect((await run(...args)).code).toBe(2);
  });
});
