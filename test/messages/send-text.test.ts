import { describe, expect, it } from 'vitest';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as updateMessage } from '../../functions/messages/update.ts';
import { handler as updateSettings } from '../../functions/settings/update.ts';
import { givenChannel } from '../support/given.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';
import { storedMessage, storedTopic } from '../support/stored.ts';

const sendText = (realm: TestRealm, given: Record<string, unknown>) =>
  realm.call(send, realm.people.member, {
    type: 'channel',
    to: 'general',
    topic: 'hi',
    content: 'hello',
    ...given,
  });

/** The content or the topic as stored, or the sentence of the refusal. */
async function stored(name: 'content' | 'topic', text: string): Promise<unknown> {
  const realm = await newRealm();
  const { body } = await sendText(realm, { [name]: text });
  if (body.result === 'error') return [body.code, body.msg];
  return (await storedMessage(realm, body.id))[name];
}

/** The HTML of a message with this content, for a writer with these settings. */
async function rendered(content: string, settings: Readonly<Record<string, unknown>> = {}): Promise<string> {
  const realm = await newRealm();
  await realm.call(updateSettings, realm.people.member, settings);
  const { body } = await sendText(realm, { content });
  return (await storedMessage(realm, body.id)).rendered;
}

describe('how settings and edits affect rendering', () => {
  it('formulas are typeset', async () => {
    expect(await rendered('so $$x^2$$')).toMatch(/^<p>so <span class="katex">.*<msup>/);
    expect(await rendered('```math\nx\n```')).toMatch(/^<p><span class="katex-display">/);
  });

  it('emoticons become emoji for users with that setting', async () => {
    expect(await rendered('hi :)')).toBe('<p>hi :)</p>');
    expect(await rendered('hi :)', { translate_emoticons: true })).toContain('class="emoji emoji-1f642"');
  });

  it('an edited message is rendered the same way', async () => {
    const realm = await newRealm();
    const { member } = realm.people;
    await realm.call(updateSettings, member, { translate_emoticons: true });
    const { body } = await sendText(realm, { content: 'first' });
    const content = `$$x$$ :) https://${realm.host}/#narrow/channel/5-a`;
    await realm.call(updateMessage, member, { content }, { path: { message_id: body.id } });
    const { rendered: html } = await storedMessage(realm, body.id);
    expect(html).toMatch(/katex.*emoji-1f642.*<a href="#narrow\/channel\/5-a">/);
  });

  it('a link into the web client of the organization is relative', async () => {
    const realm = await newRealm();
    const at = `https://${realm.host}/#narrow/channel/5-a`;
    const { body } = await sendText(realm, {
      content: `[x](${at}) ${at} https://other.example/#narrow/is/dm`,
    });
    expect((await storedMessage(realm, body.id)).rendered).toBe(
      `<p><a href="#narrow/channel/5-a">x</a> <a href="#narrow/channel/5-a">${at}</a> ` +
        '<a href="https://other.example/#narrow/is/dm">https://other.example/#narrow/is/dm</a></p>',
    );
  });
});

/** A letter that is two UTF-16 units and four bytes of UTF-8, but one character. */
const ASTRAL = '𝒳';

describe('wire facts 3.4: content', () => {
  it.each([
    ['hello \t\n\r\n\u2003', 'hello', 'white space of any kind goes at the end'],
    ['\n\n  hello', '  hello', 'only newlines go at the start'],
    ['\r\n\thello', '\thello', 'a form may send its newlines with carriage returns'],
    ['  hello', '  hello', 'spaces at the start can mean code'],
    ['a\n\nb', 'a\n\nb', 'what is inside stays'],
  ])('%j is stored as %j: %s', async (given, expected) => {
    expect(await stored('content', given)).toBe(expected);
  });

  it.each(['', ' ', '\n \t\n', '\u00a0'])('%j counts as empty', async (content) => {
    expect(await stored('content', content)).toEqual(['BAD_REQUEST', expect.stringMatching(/empty/)]);
  });

  it('NUL is refused with its position, counted from 1 in characters', async () => {
    expect(await stored('content', `${ASTRAL}b\0c`)).toEqual([
      'BAD_REQUEST',
      expect.stringMatching(/'content'.* position 3\b/),
    ]);
  });

  it('wire facts 2: 10000 characters fit, counted as code points', async () => {
    const longest = ASTRAL.repeat(10_000);
    expect(await stored('content', longest)).toBe(longest);
  });

  it('wire facts 2: longer content is truncated, with a note within the limit (4.1/content-length)', async () => {
    const content = (await stored('content', ASTRAL.repeat(10_001))) as string;
    expect([...content]).toHaveLength(10_000);
    expect(content).toMatch(/^(?:𝒳)+\n\[[\w ]+\]$/u);
  });

  it('white space is trimmed before the length is checked', async () => {
    const longest = 'x'.repeat(10_000);
    expect(await stored('content', `\n${longest}   `)).toBe(longest);
  });
});

describe('wire facts 3.4: topic', () => {
  it('is trimmed and stored as it was sent', async () => {
    expect(await stored('topic', '  Größe & "Maß"\u2003')).toBe('Größe & "Maß"');
  });

  it.each(['', '   ', '(no topic)', 'general chat', ' (no topic) '])(
    'specification 4.1: %j is the empty topic (4.1/topic-placeholder)',
    async (topic) => {
      expect(await stored('topic', topic)).toBe('');
    },
  );

  it.each(['(No topic)', 'General chat', '(no  topic)'])('%j is an ordinary topic', async (topic) => {
    expect(await stored('topic', topic)).toBe(topic);
  });

  it('wire facts 2: 60 characters fit, and more are truncated to 57 and three dots (4.1/topic-length)', async () => {
    const longest = ASTRAL.repeat(60);
    expect(await stored('topic', longest)).toBe(longest);
    expect(await stored('topic', `${longest}x`)).toBe(`${ASTRAL.repeat(57)}...`);
  });

  it.each([
    ['a\u0000b', 2],
    ['\u007f', 1],
    [`${ASTRAL}a\u0085b`, 3],
    ['a\nb', 2],
    ['abc\u{1fffe}', 4],
    ['\ufdd0', 1],
  ])('%j is refused with its position, counted from 1 in characters', async (topic, position) => {
    expect(await stored('topic', topic)).toEqual([
      'BAD_REQUEST',
      expect.stringMatching(new RegExp(`position ${position}\\b`)),
    ]);
  });

  it('half of a surrogate pair, which only a query can contain, is refused too', async () => {
    const { call, people } = await newRealm();
    const query = { type: 'channel', to: 'general', content: 'hi', topic: 'a\ud800' };
    const { body } = await call(send, people.member, {}, { query });
    expect(body).toMatchObject({ code: 'BAD_REQUEST', msg: expect.stringMatching(/position 2\b/) });
  });

  it('is required for channel messages, or the request is bad (4.1/topic)', async () => {
    const { call, people } = await newRealm();
    const { status, body } = await call(send, people.member, {
      type: 'channel',
      to: 'general',
      content: 'x',
    });
    expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    expect(body.msg).toMatch(/topic/);
  });

  it('is ignored for direct messages, whatever it is (4.1/topic-direct)', async () => {
    const realm = await newRealm();
    const to = [realm.people.guest.userId];
    const { body } = await sendText(realm, { type: 'direct', to, topic: 'a\u0001b' });
    expect(body).toEqual({ result: 'success', msg: '', id: expect.any(Number) });
    expect(await storedMessage(realm, body.id)).not.toHaveProperty('topic');
  });

  it('specification 9: `subject` is another name for it (4.1/subject)', async () => {
    const realm = await newRealm();
    const given = { type: 'channel', to: 'general', subject: 'hi', content: 'x' };
    const { body } = await realm.call(send, realm.people.member, given);
    expect(body).not.toHaveProperty('ignored_parameters_unsupported');
    expect((await storedMessage(realm, body.id)).topic).toBe('hi');
  });

  it('wire facts 3.1: both names at once are an error', async () => {
    const realm = await newRealm();
    const { status, body } = await sendText(realm, { subject: 'hi' });
    expect([status, body]).toMatchObject([
      400,
      { code: 'REQUEST_CONFUSING_VAR', var_name1: 'topic', var_name2: 'subject' },
    ]);
  });

  it('is the same topic in any case, spelled as in the newest message', async () => {
    const realm = await newRealm();
    const { channelId } = await givenChannel(realm, { name: 'letters' });
    for (const topic of ['Straße', 'STRASSE', 'strasse']) {
      expect((await sendText(realm, { to: 'letters', topic })).body.result).toBe('success');
    }
    expect(await storedTopic(realm, channelId, 'straße')).toMatchObject({
      topic: 'strasse',
      participants: 1,
    });
  });
});
