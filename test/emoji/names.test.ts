import { expect, it } from 'vitest';
import { handler as react } from '../../functions/reactions/add.ts';
import { handler as getEmojiNames } from '../../functions/server/getEmojiNames.ts';
import table from '../../shared/markdown/emoji-names.json' with { type: 'json' };
import { givenClient } from '../support/event-queue.ts';
import { sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';

it('a registration has the URL of the names of all emoji, which is public and cacheable', async () => {
  const realm = await newRealm();
  const { state } = await givenClient(realm, realm.people.guest, { fetch_event_types: ['realm'] });
  expect(state.server_emoji_data_url).toBe(`${state.realm_url}/static/emoji-names.json`);
  const { status, body, headers } = await realm.call(getEmojiNames, undefined);
  expect(status).toBe(200);
  expect(JSON.parse(body)).toEqual(table);
  expect(headers).toMatchObject({
    'Content-Type': 'application/json',
    'Cache-Control': expect.stringMatching(/public, max-age=\d+/),
    'Access-Control-Allow-Origin': '*',
  });
});

it.each([
  ['flag_germany', '1f1e9-1f1ea'],
  ['smile', '1f604'],
  ['piñata', '1fa85'],
])('a reaction with %s in the form of emoji pickers is accepted', async (emoji_name, emoji_code) => {
  const realm = await newRealm();
  const { member } = realm.people;
  const message_id = await sent(realm, member, { to: realm.channels.general });
  const emoji = { emoji_name, emoji_code, reaction_type: 'unicode_emoji' };
  expect((await realm.call(react, member, emoji, { path: { message_id } })).status).toBe(200);
});
