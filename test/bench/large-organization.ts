import { planDemo } from '../../infra/local/demo.ts';
import { makeOutside } from '../../shared/serve/container.ts';
import { tableClient } from '../../shared/table/protocol.ts';
import { givenHistory } from '../support/long-history.ts';

/** The address of the organization. */
export const HOST = 'bench.test';

/** A message as it was written and as it is shown. */
interface Text {
  readonly content: string;
  readonly rendered: string;
}

/** Numbers that look random and are the same in every run: `next(n)` is below `n`, and not negative. */
export function randomFrom(index: number): (below: number) => number {
  let seed = index + 1;
  return (below) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
}

/** An organization with so many messages, put straight into its store. */
export async function givenLargeOrganization(
  environment: Readonly<Record<string, string>>,
  messages: number,
  textOf: (index: number) => Text,
) {
  const outside = makeOutside(environment);
  const { demo, create } = planDemo(outside, { host: HOST, name: 'Bench' });
  await create(outside);
  const { realm, channels, accounts } = demo;
  const log = { table: outside.table, realm, now: outside.now, wait: outside.wait };
  const accountOf = (name: string) => {
    const account = accounts.find((each) => each.name === name);
    if (!account) throw new Error(`the demo has no ${name}`);
    return account;
  };
  const people = { member: accountOf('member'), admin: accountOf('admin'), owner: accountOf('owner') };
  await givenHistory({ log, channels, people }, tableClient(environment), messages, textOf);
  return { outside, log, people };
}
