import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { type Template, textOf, type Value } from '../support/template.ts';
import { synthesized, temporaryFolder } from './fixtures/synthesized.ts';

const folder = await temporaryFolder();

/** What the functions hold does not matter here. */
const bundle = {
  directory: join(import.meta.dirname, 'fixtures/functions/messages'),
  bytes: 1,
  hash: 'none',
  code: 'none',
};
const declarations = [...endpoints, ...workers];
const bundles = Object.fromEntries(declarations.map(({ id }) => [id, bundle]));

/** Without these some workers are not there. */
const settings = {
  mailDomain: 'mail.example.com',
  pushRelayUrl: 'https://push.example.com',
  zoomClientId: 'zoom',
  webexClientId: 'webex',
};
const stackWith = (context: Readonly<Record<string, string>>): Template =>
  synthesized(
    bundles,
    join(folder, Object.keys(context).join('-') || 'none'),
    { endpoints, workers },
    { context: { ...settings, ...context } },
  );

const plain = stackWith({});

/** The secrets of the stack, by the names of its resources. */
const secretsOf = (template: Template) =>
  Object.fromEntries(
    [...template.all<Record<string, Value>>('AWS::SecretsManager::Secret')].map(([id, { Properties }]) => [
      id,
      Properties,
    ]),
  );

const ofCalls = ['calls.complete', 'calls.create', 'calls.register'];

describe.each([
  ['pushRelaySecretName', 'PushRelayOrgKeySecret', 'push-relay-org-key', ['push']],
  ['zoomSecretName', 'ZoomClientSecretSecret', 'zoom-client-secret', ofCalls],
  ['webexSecretName', 'WebexClientSecretSecret', 'webex-client-secret', ofCalls],
])('%s', (setting, resource, name, readers) => {
  const chosen = stackWith({ [setting]: 'acme/prod/our.own' });

  test('is what the stack calls the secret, which has no value', () => {
    const secret = { Name: `Parlance/${name}`, Description: `Parlance: ${name}` };
    expect(secretsOf(plain)[resource]).toEqual(secret);
    expect(secretsOf(chosen)).toEqual({
      ...secretsOf(plain),
      [resource]: { ...secret, Name: 'acme/prod/our.own' },
    });
  });

  test('changes nothing else of the template', () => {
    const others = ({ resources }: Template) =>
      Object.fromEntries(
        Object.entries(resources).filter(([, { Type }]) => Type !== 'AWS::SecretsManager::Secret'),
      );
    expect(Object.keys(chosen.resources)).toEqual(Object.keys(plain.resources));
    expect(others(chosen)).toEqual(others(plain));
  });

  test('leads those who need the secret to it, and lets nobody else read it', () => {
    const grant = `secretsmanager:GetSecretValue on \${${resource}}`;
    const variable = `SECRET_${name.replaceAll('-', '_').toUpperCase()}_ARN`;
    const able = declarations.filter(({ id }) => chosen.grantsOf(id).includes(grant));
    expect(able.map(({ id }) => id).sort()).toEqual(readers);
    for (const { id } of declarations) {
      const { Variables = {} } = chosen.functionOf(id)[1].Properties.Environment ?? {};
      const told = Variables[variable];
      expect(told && textOf(told), id).toBe(readers.includes(id) ? `\${${resource}}` : undefined);
    }
  });

  test('is refused before anything is deployed where Secrets Manager would not take it', () => {
    expect(() => stackWith({ [setting]: 'not a name' })).toThrow(
      `The context value ${setting} cannot be "not a name".`,
    );
  });
});
