import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { it } from 'vitest';
import { handler as updateChannel } from '../../functions/channels/update.ts';
import { handler as poll } from '../../functions/events/get.ts';
import { handler as register } from '../../functions/events/register.ts';
import { handler as send } from '../../functions/messages/send.ts';
import type { Served } from '../../shared/serve/serve.ts';
import { basic, type Raw, sendRaw } from '../support/raw-request.ts';
import { newRealm, type TestRealm } from '../support/realm.ts';

/*
 * Which files a request enters: those of functions/ and shared/ with at least one function that runs while a warm
 * container answers it (the second request of its kind), as V8 counts calls. Files of declarations, constants and types
 * are not among them. The handler is called in this process, with the local store behind it.
 */

const { ENTERED_RESULT = '' } = process.env;

/** A request of the owner, as a client would send it. */
const form = ({ people }: TestRealm, parameters: Record<string, string>, rest: Raw = {}): Raw => ({
  ...rest,
  headers: { authorization: basic(people.owner), 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(parameters).toString(),
});

/** Sends two requests and names the files in which a function ran during the second one. */
async function entered(
  session: Session,
  realm: TestRealm,
  handler: Served,
  request: (n: number) => Raw | Promise<Raw>,
): Promise<readonly string[]> {
  let files: string[] = [];
  for (const n of [0, 1]) {
    const raw = await request(n);
    await session.post('Profiler.takePreciseCoverage');
    const { status, body } = await sendRaw(realm, handler, raw);
    const { result } = await session.post('Profiler.takePreciseCoverage');
    if (status !== 200) throw new Error(JSON.stringify(body));
    files = result
      .filter(({ functions }) =>
        // vitest makes a nameless getter of each export: who reads a constant runs one, and enters nothing.
        functions.some(
          ({ functionName, ranges: [range] }) => functionName !== '' && range && range.count > 0,
        ),
      )
      .flatMap(({ url }) => /\/((?:functions|shared)\/[^?]+\.ts)/.exec(url)?.[1] ?? []);
  }
  return files.sort();
}

it('names the files that a request enters', { timeout: 60_000 }, async () => {
  const realm = await newRealm();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const message = (n: number) =>
    form(realm, { type: 'channel', to: 'general', topic: 'greetings', content: `Hello ${n}` });
  const sent = await entered(session, realm, send, message);
  const edited = await entered(session, realm, updateChannel, (n) =>
    form(realm, { new_name: `name ${n}` }, { path: { stream_id: String(realm.channels.random) } }),
  );
  const { body } = await sendRaw(realm, register, form(realm, { event_types: '["message"]' }));
  const last = body.last_event_id;
  const polled = await entered(session, realm, poll, async (n) => {
    await sendRaw(realm, send, message(n));
    return { ...form(realm, {}), query: { queue_id: [body.queue_id], last_event_id: [String(last)] } };
  });
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  await writeFile(ENTERED_RESULT, JSON.stringify({ send: sent, 'channel edit': edited, poll: polled }));
});
