import { describe, expect, test } from 'vitest';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { type Template, textOf, type Value } from '../support/template.ts';
import { everySetting, wholeStack } from '../support/whole-stack.ts';

const declarations = [...endpoints, ...workers];

const plain = wholeStack(everySetting);
/** What an operator calls each secret. */
const names = {
  pushRelaySecretName: 'acme/prod/push.relay',
  zoomSecretName: 'acme/prod/our.zoom',
  webexSecretName: 'acme/prod/our.webex',
  bigBlueButtonSecretName: 'acme/prod/our.meetings',
  oidcSecretName: 'acme/prod/our.oidc',
};
const chosen = wholeStack({ ...everySetting, ...names });

/** The secrets of the stack, by the names of its resources. */
const secretsOf = (template: Template) =>
  Object.fromEntries(
    [...template.all<Record<string, Value>>('AWS::SecretsManager::Secret')].map(([id, { Properties }]) => [
      id,
      Properties,
    ]),
  );

const ofCalls = ['calls.complete', 'calls.create', 'calls.register'];
const ofMeetings = ['calls.createBigBlueButton', 'pages.joinCall'];
const ofSignOn = ['singleSignOn.begin', 'singleSignOn.complete'];

test('the names of secrets change nothing else in the template', () => {
  const others = ({ resources }: Template) =>
    Object.fromEntries(
      Object.entries(resources).filter(([, { Type }]) => Type !== 'AWS::SecretsManager::Secret'),
    );
  expect(Object.keys(chosen.resources)).toEqual(Object.keys(plain.resources));
  expect(others(chosen)).toEqual(others(plain));
});

describe.each([
  ['pushRelaySecretName', 'PushRelayOrgKeySecret', 'push-relay-org-key', ['push']],
  ['zoomSecretName', 'ZoomClientSecretSecret', 'zoom-client-secret', ofCalls],
  ['webexSecretName', 'WebexClientSecretSecret', 'webex-client-secret', ofCalls],
  ['bigBlueButtonSecretName', 'BigBlueButtonSecretSecret', 'big-blue-button-secret', ofMeetings],
  ['oidcSecretName', 'OidcClientSecretSecret', 'oidc-client-secret', ofSignOn],
] as const)('%s', (setting, resource, name, readers) => {
  test('is the name of the secret in the stack, which has no value', () => {
    const secret = { Name: `Parlance/${name}`, Description: `Parlance: ${name}` };
    expect(secretsOf(plain)[resource]).toEqual(secret);
    expect(secretsOf(chosen)[resource]).toEqual({ ...secret, Name: names[setting] });
  });

  test('is known to the functions that need the secret, and no others may read it', () => {
    const grant = `secretsmanager:GetSecretValue on \${${resource}}`;
    const variable = `SECRET_${name.replaceAll('-', '_').toUpperCase()}_ARN`;
    const able = declarations.filter(({ id }) => chosen.grantsOf(id).includes(grant));
    expect(able.map(({ id }) => id).sort()).toEqual(readers);
    for (const { id } of declarations) {
      const { Variables = {} } = chosen.functionOf(id)[1].Properties.Environment ?? {};
      const told = Variables[variable];
      expect(told && textOf(told), id).toBe(readers.some((it) => it === id) ? `\${${resource}}` : undefined);
    }
  });

  test('is refused before a deployment if Secrets Manager would not accept it', () => {
    expect(() => wholeStack({ ...everySetting, [setting]: 'not a name' })).toThrow(
      `The context value ${setting} cannot be "not a name".`,
    );
  });
});
