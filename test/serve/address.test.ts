import { describe, expect, it } from 'vitest';
import { unknownRoute } from '../../infra/gateway-replies.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { handlers } from '../support/handlers.ts';
import { basic, sendRaw } from '../support/raw-request.ts';
import { newRealm } from '../support/realm.ts';

/** What the gateway answers to a path that no endpoint has. */
const nowhere = JSON.parse(
  unknownRoute()['x-amazon-apigateway-integration'].responses.default.responseTemplates?.[
    'application/json'
  ] ?? '',
);

const inPath = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

const withIds = endpoints.flatMap((endpoint) => {
  const ids = inPath(endpoint.path).filter((name) => endpoint.parameters[name]?.wire === 'digits');
  return ids.map((name) => ({ endpoint, name, id: endpoint.id }));
});

describe('an ID in the path', () => {
  it.each(withIds)(
    'consists of digits, or the path is unknown to every caller: $id, $name',
    async ({ id, name, endpoint }) => {
      const realm = await newRealm();
      const handler = handlers.get(id) ?? expect.fail(`no handler for ${id}`);
      const others = Object.fromEntries(inPath(endpoint.path).map((other) => [other, '1']));
      realm.meter.reset();
      for (const segment of ['me', '-1', '+1', '1.5', '1e3', '%20', '1%20', '%D9%A1', '\u0661', '']) {
        for (const headers of [{}, { authorization: basic(realm.people.owner) }]) {
          const reply = await sendRaw(realm, handler, { headers, path: { ...others, [name]: segment } });
          expect([segment, reply.status, reply.body]).toEqual([segment, 404, nowhere]);
        }
      }
      expect(realm.meter.roundTrips).toBe(0);
    },
  );

  it.each(withIds)('may have leading zeros, and be unknown: $id, $name', async ({ id, name, endpoint }) => {
    const realm = await newRealm();
    const handler = handlers.get(id) ?? expect.fail(`no handler for ${id}`);
    const others = Object.fromEntries(inPath(endpoint.path).map((other) => [other, '999999999']));
    for (const segment of ['000', '00999999999', '9007199254740993', '9'.repeat(400)]) {
      const headers = { authorization: basic(realm.people.owner) };
      const reply = await sendRaw(realm, handler, { headers, path: { ...others, [name]: segment } });
      expect(endpoint.notFound ? [400, 404] : [400], segment).toContain(reply.status);
    }
  });

  it('is every path variable with the suffix _id, except the organization in the path of a file', () => {
    const others = endpoints.flatMap(({ id, path, parameters }) =>
      inPath(path).flatMap((name) =>
        name.endsWith('_id') && name !== 'realm_id' && parameters[name]?.wire !== 'digits'
          ? [`${id}: ${name}`]
          : [],
      ),
    );
    expect(others).toEqual([]);
  });

  it('is declared only for paths', () => {
    const others = endpoints.flatMap(({ id, path, parameters }) =>
      Object.entries(parameters).flatMap(([name, { wire }]) =>
        wire === 'digits' && !inPath(path).includes(name) ? [`${id}: ${name}`] : [],
      ),
    );
    expect(others).toEqual([]);
  });
});
