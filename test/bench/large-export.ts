import { planDemo } from '../../infra/local/demo.ts';
import type { ExportJob } from '../../shared/domain/export/realm-export.ts';
import { doRequestExport } from '../../shared/domain/export/request.ts';
import { commit } from '../../shared/log/commit.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { documentClient } from '../../shared/table/protocol.ts';
import { givenHistory } from '../support/long-history.ts';

const WORDS =
  'tea milk sugar meeting tomorrow really deploy broken thanks why who is there no one yes, but'.split(' ');

/** What people say: some words, now and then very many; the same in every run. */
function textOf(index: number): { readonly content: string; readonly rendered: string } {
  let seed = index + 1;
  const next = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const length = index % 500 === 0 ? 1_500 : 5 + next(60);
  const word = (): string => `${WORDS[next(WORDS.length)]}${next(4) === 0 ? next(1_000) : ''}`;
  const content = Array.from({ length }, word).join(' ');
  return { content, rendered: `<p>${content}</p>` };
}

/** An organization with so many messages, all of which its owner has asked for. */
export async function givenLargeExport(
  environment: Readonly<Record<string, string>>,
  messages: number,
): Promise<ExportJob> {
  const outside = makeOutside(environment);
  const { demo, create } = planDemo(outside, { host: 'bench.test', name: 'Bench' });
  await create();
  const { realm, channels } = demo;
  const log = { table: outside.table, realm, now: outside.now, wait: outside.wait };
  const [member, admin, owner] = ['member', 'admin', 'owner'].map((name) =>
    demo.accounts.find((account) => account.name === name),
  );
  if (!member || !admin || !owner) throw new Error('the demo has no such people');
  await givenHistory(
    { log, channels, people: { member, admin } },
    documentClient(environment),
    messages,
    textOf,
  );

  const [stored, user] = await Promise.all([
    outside.table.get('realm', { realm }),
    outside.table.get('user', { realm, userId: owner.userId }),
  ]);
  if (!stored || !user) throw new Error('there is no realm');
  const token = outside.uuid();
  await commit(log, 1, ([exportId = 0]) => {
    const wanted = { exportId, token, type: 'full_without_consent' as const };
    const snapshot = { quota: undefined, counter: undefined, uploads: 0, consenter: undefined };
    return doRequestExport({ realmId: realm, realm: stored, user }, wanted, snapshot, outside.now());
  });
  return { realm, token };
}
