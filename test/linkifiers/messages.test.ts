import { expect, it } from 'vitest';
import { handler as create } from '../../functions/linkifiers/create.ts';
import { handler as remove } from '../../functions/linkifiers/delete.ts';
import { handler as renderText } from '../../functions/messages/render.ts';
import { handler as send } from '../../functions/messages/send.ts';
import { handler as update } from '../../functions/messages/update.ts';
import { givenClient } from '../support/event-queue.ts';
import { fetched, sent } from '../support/messages.ts';
import { newRealm } from '../support/realm.ts';

const issue = { pattern: '#(?P<id>[0-9]+)', url_template: 'https://x.example/{id}' };
const linked = '<a href="https://x.example/7">#7</a>';

it('linkifiers make links in new messages, edits and previews, but not in old messages (companion facts 4.1)', async () => {
  const realm = await newRealm();
  const { admin, member } = realm.people;
  const [to, content] = [realm.channels.general, 'see #7'];
  const contentOf = async (): Promise<string> => (await fetched(realm, member)).body.messages.at(-1).content;
  const old = await sent(realm, member, { to, topic: 'x' }, content);
  const { id: filter_id } = (await realm.call(create, admin, issue)).body;
  expect(await contentOf()).toBe('<p>see #7</p>');
  await realm.call(update, member, { content: 'yes #7' }, { path: { message_id: old } });
  expect(await contentOf()).toBe(`<p>yes ${linked}</p>`);
  await sent(realm, member, { to, topic: 'x' }, content);
  expect(await contentOf()).toBe(`<p>see ${linked}</p>`);
  const direct = await realm.call(send, member, { type: 'direct', to: [admin.userId], content });
  expect(direct.status).toBe(200);
  expect(await contentOf()).toBe(`<p>see ${linked}</p>`);
  const rendered = async () => (await realm.call(renderText, member, { content })).body.rendered;
  expect(await rendered()).toBe(`<p>see ${linked}</p>`);
  await realm.call(remove, admin, {}, { path: { filter_id } });
  expect(await rendered()).toBe('<p>see #7</p>');
  // Another container has never seen them.
  const { body } = await realm.container().call(renderText, member, { content });
  expect(body.rendered).toBe('<p>see #7</p>');
});

it('their links in topics are listed before the URLs there (companion facts 4.1)', async () => {
  const realm = await newRealm();
  const { admin, member } = realm.people;
  const client = await givenClient(realm, member, { event_types: ['message', 'update_message'] });
  await realm.call(create, admin, issue);
  await realm.call(create, admin, { pattern: '[a-z]\\.example', url_template: 'https://hidden.example' });
  const topic = 'https://y.org #7 a.example https://x.org/#7';
  const id = await sent(realm, member, { to: realm.channels.general, topic });
  const topic_links = [
    { text: 'https://y.org', url: 'https://y.org' },
    { text: '#7', url: 'https://x.example/7' },
    { text: 'a.example', url: 'https://hidden.example' },
    { text: 'https://x.org/#7', url: 'https://x.org/#7' },
  ];
  expect((await fetched(realm, member)).body.messages.at(-1)).toMatchObject({ topic_links });
  expect(await client.poll()).toMatchObject([{ message: { topic_links } }]);
  const moved = { topic: '#8', send_notification_to_new_thread: false };
  expect((await realm.call(update, admin, moved, { path: { message_id: id } })).status).toBe(200);
  expect(await client.poll()).toMatchObject([{ topic_links: [{ text: '#8', url: 'https://x.example/8' }] }]);
});

it('linkifiers cost a warm container no round trip (DESIGN 7)', async () => {
  const realm = await newRealm();
  const { admin, member } = realm.people;
  const container = realm.container();
  const trips = async (): Promise<number> => {
    container.meter.reset();
    await sent(container, member, { to: realm.channels.general, topic: 'x' }, 'see #7');
    return container.meter.roundTrips;
  };
  await trips();
  const without = await trips();
  await realm.call(create, admin, issue);
  expect(await trips()).toBe(without + 1);
  expect(await trips()).toBe(without);
});
