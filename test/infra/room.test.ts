import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Bundles } from '../../infra/build.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import type { Endpoint } from '../../shared/endpoints/endpoint.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { designBudgets } from '../support/design-budgets.ts';
import type { Template, Value } from '../support/template.ts';
import { everySetting, standIns, wholeStack } from '../support/whole-stack.ts';
import { synthesized, temporaryFolder } from './fixtures/synthesized.ts';

const folder = await temporaryFolder();

/** Characters that IAM takes of a managed policy. */
const policyLimit = 6_144;

/** Policies that one role takes, unless AWS raises it. */
const policiesOfRole = 10;

/** Endpoints of a new area together. */
const perArea = 7;

const [like = expect.fail('no endpoint')] = endpoints;
const [bundle = expect.fail('no bundle')] = Object.values(standIns);

/** Endpoints besides those that are there, in areas of their own, each with the needs of one that is there. */
const more: readonly Endpoint[] = Array.from(
  { length: designBudgets.endpoints - endpoints.length },
  (_, i) => ({
    ...(endpoints[i] ?? like),
    id: `area${Math.floor(i / perArea)}.toy${i}`,
    path: `/api/v1/area${Math.floor(i / perArea)}/toy${i}`,
    gatewayPath: `/api/v1/area${Math.floor(i / perArea)}/toy${i}`,
  }),
);
const toy = (id: string, needs: Endpoint['needs']): Endpoint => ({
  ...like,
  id,
  path: `/api/v1/${id.replace('.', '/')}`,
  gatewayPath: `/api/v1/${id.replace('.', '/')}`,
  needs,
});
const messagesToy = toy(
  'messages.toy',
  endpoints.find(({ id }) => id === 'messages.get')?.needs ?? like.needs,
);
const otherToy = toy('messages.other', { table: ['GetItem'] });
const bundles: Bundles = {
  ...standIns,
  ...Object.fromEntries([messagesToy, otherToy, ...more].map(({ id }) => [id, bundle])),
};

/** The longest name that a stack may have, which all its functions begin with. */
const stackName = 'A'.repeat(28);

const stackOf = (name: string, these: readonly Endpoint[], context: Readonly<Record<string, string>> = {}) =>
  synthesized(bundles, join(folder, name), { endpoints: these, workers }, { context });

/** One area, whose stacks are synthesized much faster than those of all. */
const area = endpoints.filter(({ id }) => id.startsWith('messages.'));

const stacks = {
  now: wholeStack({}),
  area: stackOf('area', area),
  'messages.toy': stackOf('oneMore', [messagesToy, ...area]),
  'messages.other': stackOf('another', [otherToy, ...area]),
  grown: stackOf('grown', [...more, ...endpoints]),
  everything: stackOf('everything', [...more, ...endpoints], { ...everySetting, stackName }),
};
const countOf = ({ resources }: Template) => Object.keys(resources).length;

describe('with as many endpoints as are planned', () => {
  test.each([
    ['grown', 'nothing', designBudgets.resourcesWhenGrown],
    ['everything', 'everything', designBudgets.resources],
  ] as const)('the stack leaves room to grow: %s, with %s set', (name, _, budget) => {
    expect(stacks[name].all('AWS::Lambda::Function').size).toBeGreaterThan(designBudgets.endpoints);
    expect(countOf(stacks[name])).toBeLessThanOrEqual(budget);
    expect(statSync(join(folder, name, 'Parlance.template.json')).size).toBeLessThan(
      designBudgets.templateBytes,
    );
  });

  test('the role of the gateway is not too large for IAM, however long the names of the stack and region are', () => {
    const { resources } = stacks.everything;
    const policies = stacks.everything.all<{ PolicyDocument: Value }>('AWS::IAM::ManagedPolicy');
    expect(policies.size).toBeLessThanOrEqual(policiesOfRole);
    for (const { Properties } of policies.values()) {
      const written = JSON.stringify(Properties.PolicyDocument).replaceAll(
        /\{"Fn::GetAtt":\["(\w+)","Arn"\]\}/g,
        (_, id: string) =>
          `"arn:aws-us-gov:lambda:ap-southeast-2:123456789012:function:${resources[id]?.Properties.FunctionName}"`,
      );
      expect(written).not.toContain('Fn::');
      expect(written.length).toBeLessThanOrEqual(policyLimit);
    }
  });
});

test.each([
  ['one resource, its function, where its area has a role with its rights', 'messages.toy', []],
  ['two, its function and its role, otherwise', 'messages.other', ['AWS::IAM::Role']],
] as const)('an endpoint costs %s', (_, id, roles) => {
  const stack = stacks[id];
  const added = Object.entries(stack.resources).filter(([name]) => !stacks.area.resources[name]);
  // A changed API document makes a new deployment, which replaces the one before.
  const types = ['AWS::ApiGateway::Deployment', ...roles, 'AWS::Lambda::Function'];
  expect(added.map(([, { Type }]) => Type).sort()).toEqual(types);
  expect(countOf(stack) - countOf(stacks.area)).toBe(1 + roles.length);
});

test('a function stays in the same policy when others are added, so that no deployment takes its permission away', () => {
  const policiesOf = (stack: Template) =>
    new Map(
      [...stack.all('AWS::IAM::ManagedPolicy')].flatMap(([name, { Properties }]) =>
        [...JSON.stringify(Properties).matchAll(/"Fn::GetAtt":\["(\w+)"/g)].map(
          ([, id]) => [id, name] as const,
        ),
      ),
    );
  const [before, after] = [policiesOf(stacks.now), policiesOf(stacks.grown)];
  expect(before.size).toBe(endpoints.length);
  for (const [id, policy] of before) expect(after.get(id), id).toBe(policy);
});
