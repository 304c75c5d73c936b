import type { ExportJob } from '../../shared/domain/export/realm-export.ts';
import { doRequestExport } from '../../shared/domain/export/request.ts';
import { commit } from '../../shared/log/commit.ts';
import { givenLargeOrganization, randomFrom } from './large-organization.ts';

const WORDS =
  'tea milk sugar meeting tomorrow really deploy broken thanks why who is there no one yes, but'.split(' ');

/** What people say: some words, now and then very many; the same in every run. */
function textOf(index: number): { readonly content: string; readonly rendered: string } {
  const next = randomFrom(index);
  const length = index % 500 === 0 ? 1_500 : 5 + next(60);
  const word = (): string => `${WORDS[next(WORDS.length)]}${next(4) === 0 ? next(1_000) : ''}`;
  const content = Array.from({ length }, word).join(' ');
  return { content, rendered: `<p>${content}</p>` };
}

/** An organization with so many messages, and an export of all of them. */
export async function givenLargeExport(
  environment: Readonly<Record<string, string>>,
  messages: number,
): Promise<ExportJob> {
  const { outside, log, people } = await givenLargeOrganization(environment, messages, textOf);
  const { owner } = people;
  const { realm } = log;
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
