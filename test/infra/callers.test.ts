import { describe, expect, test } from 'vitest';
import { evaluate } from '../../infra/local/iam.ts';
import { readTemplate, type Service } from '../../infra/local/template.ts';
import { localAccount, localRegion, type Place } from '../../infra/local/template-values.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import type { Value } from '../support/template.ts';
import { everySetting, wholeStack } from '../support/whole-stack.ts';

const place: Place = {
  region: localRegion,
  accountId: localAccount,
  queueEndpoint: 'http://127.0.0.1:1',
};

/** Every action of Lambda by which a function runs. */
const invocations = ['lambda:InvokeFunction', 'lambda:InvokeAsync', 'lambda:InvokeFunctionUrl'];

/** All that may run a function: roles by those who may take them, services by permission, queues by trigger. */
function callersOf({ roles, permissions, schedules, eventSources }: Service, name: string): string[] {
  const resource = `arn:aws:lambda:${localRegion}:${localAccount}:function:${name}`;
  const byRole = [...roles.values()].filter(({ statements }) =>
    invocations.some((action) => evaluate(statements, { action, resource }) === 'allowed'),
  );
  const byPermission = permissions.filter(({ functionName }) => functionName === name);
  return [
    ...byRole.map((role) => `${role.trusted.join(' and ')} as ${role.name}`),
    ...byPermission.map(({ principal, covers }) => {
      const rules = schedules.filter(({ arn }) => covers(arn)).map((it) => it.functionName);
      return `${principal} for the schedule of ${rules.join(' and ')}`;
    }),
    ...eventSources.filter((it) => it.functionName === name).map(({ queueArn }) => `the queue ${queueArn}`),
  ];
}

describe.each([
  ['nothing set', {}],
  ['everything set', everySetting],
])('in the stack with %s', (_, context) => {
  const template = wholeStack(context);
  const service = readTemplate({ Resources: template.resources }, 'no code is read', place);
  const nameOf = (id: string) => `Parlance-${id.replace('.', '-')}`;

  test('the gateway may call the functions of its routes, by one role that it alone can assume', () => {
    const [role, ...others] = new Set(
      service.api.routes.flatMap(({ integration }) =>
        integration.kind === 'function' ? [integration.credentials] : [],
      ),
    );
    expect(others).toEqual([]);
    const gateway = service.roles.get(role ?? '') ?? expect.fail('no role');
    expect(gateway.trusted).toEqual(['apigateway.amazonaws.com']);
    for (const { id } of endpoints)
      expect(callersOf(service, nameOf(id)), id).toEqual([`apigateway.amazonaws.com as ${gateway.name}`]);
  });

  test('a worker can be called by its own queue or schedule, and by nobody else', () => {
    const here = workers.filter(({ id }) => service.functions.some((it) => it.name === nameOf(id)));
    expect(service.functions).toHaveLength(endpoints.length + here.length);
    for (const { id } of here) {
      const called = callersOf(service, nameOf(id));
      const isScheduled = service.schedules.some((it) => it.functionName === nameOf(id));
      const byQueue = service.eventSources.filter((it) => it.functionName === nameOf(id));
      expect(byQueue.length + Number(isScheduled), id).toBe(1);
      expect(called, id).toEqual(
        isScheduled
          ? [`events.amazonaws.com for the schedule of ${nameOf(id)}`]
          : byQueue.map(({ queueArn }) => `the queue ${queueArn}`),
      );
    }
  });

  test('the role of the gateway names each function, and allows nothing else', () => {
    const statements = [
      ...template
        .all<{ PolicyDocument: { Statement: readonly Record<string, Value>[] } }>('AWS::IAM::ManagedPolicy')
        .values(),
    ].flatMap(({ Properties }) => Properties.PolicyDocument.Statement);
    for (const { Action, Resource } of statements) {
      expect(Action).toBe('lambda:InvokeFunction');
      expect(JSON.stringify(Resource)).not.toContain('*');
    }
    const { Properties } = template.the('AWS::IAM::Role', 'ApiInvocationRole');
    expect(Properties.Policies).toBeUndefined();
  });

  test('there is no other way to a function: no URL, alias or version, and no separate policy', () => {
    const types = new Set(Object.values(template.resources).map(({ Type }) => Type));
    for (const type of ['Lambda::Url', 'Lambda::Alias', 'Lambda::Version', 'IAM::Policy', 'IAM::RolePolicy'])
      expect(types).not.toContain(`AWS::${type}`);
  });
});
