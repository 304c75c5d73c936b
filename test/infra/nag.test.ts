import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeApp } from '../../infra/synthesize.ts';
import { endpoints } from '../../shared/endpoints/all.ts';
import { workers } from '../../shared/endpoints/worker.ts';
import { temporaryFolder } from './fixtures/synthesized.ts';

const folder = await temporaryFolder();

/** What the functions hold is no business of these rules. */
const bundle = {
  directory: join(import.meta.dirname, 'fixtures/functions/messages'),
  bytes: 1,
  hash: 'none',
};
const bundles = Object.fromEntries([...endpoints, ...workers].map(({ id }) => [id, bundle]));

interface Finding {
  readonly rule: string;
  readonly path: string;
}

/** What both packs find in the stack of the service. */
function findings(context: Readonly<Record<string, string>>): Finding[] {
  const app = makeApp(bundles, { outdir: join(folder, 'out'), context });
  app.synth();
  return [new AwsSolutionsChecks(), new ServerlessChecks()].flatMap((pack) =>
    pack
      .validateScope(app)
      .violations.flatMap(({ ruleName, violatingResources = [] }) =>
        violatingResources.map(({ constructPath = '' }) => ({ rule: ruleName, path: constructPath })),
      ),
  );
}

const everything = {
  mailDomain: 'mail.example.com',
  pushRelayUrl: 'https://push.example.com',
  domain: 'chat.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a-1b',
  corsOrigins: 'https://app.example.com',
  addressLimit: '3000',
  credentialLimit: '3000',
  alarmEmail: 'operator@example.com',
};

afterEach(() => vi.restoreAllMocks());

describe.each([
  ['with nothing set', {}],
  ['with everything set', everything],
])('cdk-nag, of the stack %s', (_, context) => {
  test('finds nothing that is not explained', () => {
    expect(findings(context)).toEqual([]);
  });

  test('would find all that is explained, each in a sentence', () => {
    const explained: (Finding & { readonly reason: string })[] = [];
    vi.spyOn(Validations, 'of').mockImplementation(
      (scope: IConstruct) =>
        ({
          acknowledge: (...given: readonly { readonly id: string; readonly reason: string }[]) =>
            explained.push(...given.map(({ id, reason }) => ({ rule: id, reason, path: scope.node.path }))),
        }) as unknown as Validations,
    );
    const found = findings(context);
    // Traces need a wildcard in every role, so there is always something.
    expect(found.length).toBeGreaterThan(endpoints.length);
    const idle = explained.filter(
      ({ rule, path }) => !found.some((it) => it.rule === rule && `${it.path}/`.startsWith(`${path}/`)),
    );
    expect(idle).toEqual([]);
    for (const { rule, reason } of explained) expect(reason, rule).toMatch(/^[A-Z].{30,}\.$/s);
  });
});
