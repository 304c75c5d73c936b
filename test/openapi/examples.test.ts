import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { newRealm } from '../support/realm.ts';
import { workOf } from '../support/work-queue.ts';
import { Recorder } from './recorder.ts';
import { playThrough } from './scenario.ts';

const file = join(import.meta.dirname, '../../shared/openapi/examples.json');

/** Endpoints that succeed only when somebody else's service, or a worker, has done its part: see their own tests. */
const BEYOND = [
  'calls.create',
  'calls.createBigBlueButton',
  'exports.delete',
  'push.register',
  'push.sendTest',
  'push.sendLegacyTest',
];

test('the examples of the document are replies of the service (`npm run examples` records them again)', {
  timeout: 180_000,
}, async () => {
  // As in the local service, which signs people in without a password.
  const realm = (await newRealm()).container(undefined, { environment: { DEVELOPMENT_SIGN_IN: 'true' } });
  const queues = [...endpoints, ...workers].flatMap(({ needs }) => needs.queues ?? []);
  for (const name of new Set(queues)) await workOf(realm, name);
  const recorder = new Recorder(realm);
  await playThrough(realm, recorder);
  const answering = endpoints.filter(({ id, serves }) => serves === undefined && !BEYOND.includes(id));
  expect([...recorder.examples.keys()].sort()).toEqual(answering.map(({ id }) => id).sort());
  const sorted = Object.fromEntries(answering.map(({ id }) => [id, recorder.examples.get(id)]));
  await expect(`${JSON.stringify(sorted, undefined, 2)}\n`).toMatchFileSnapshot(file);
});
