import { join } from 'node:path';
import { Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makeApp } from '../../infra/synthesize.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { everySetting, standIns } from '../support/whole-stack.ts';
import { temporaryFolder } from './fixtures/synthesized.ts';

const folder = await temporaryFolder();

interface Finding {
  readonly rule: string;
  readonly path: string;
}

/** What both packs find in the stack of the service. */
function findings(context: Readonly<Record<string, string>>): Finding[] {
  const app = makeApp(standIns, { outdir: join(folder, 'out'), context });
  app.synth();
  return [new AwsSolutionsChecks(), new ServerlessChecks()].flatMap((pack) =>
    pack
      .validateScope(app)
      .violations.flatMap(({ ruleName, violatingResources = [] }) =>
        violatingResources.map(({ constructPath = '' }) => ({ rule: ruleName, path: constructPath })),
      ),
  );
}

afterEach(() => vi.restoreAllMocks());

describe.each([
  ['with nothing set', {}],
  ['with everything set', everySetting],
])('cdk-nag, of the stack %s', (_, context) => {
  test('finds nothing without an explanation', () => {
    expect(findings(context)).toEqual([]);
  });

  test('would find everything that is explained, each in a sentence', () => {
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
    // Whether types are known is found by a check of the template (test/infra/stack.test.ts).
    const ofNag = explained.filter(({ rule }) => !rule.startsWith('CloudFormation-Validate::'));
    const idle = ofNag.filter(
      ({ rule, path }) => !found.some((it) => it.rule === rule && `${it.path}/`.startsWith(`${path}/`)),
    );
    expect(idle).toEqual([]);
    for (const { rule, reason } of explained) expect(reason, rule).toMatch(/^[A-Z].{30,}\.$/s);
  });
});
