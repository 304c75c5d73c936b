import { join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import { describe, expect, test } from 'vitest';
import { checkContextNames } from '../../infra/context-names.ts';
import { makeApp } from '../../infra/synthesize.ts';
import { everySetting } from '../support/whole-stack.ts';

const check = (context: Readonly<Record<string, unknown>>): void =>
  checkContextNames(new App({ context }).node);

describe('values of CDK context', () => {
  test('are those that our code reads, and those of the CDK', () => {
    check({});
    check(everySetting);
    check({ 'aws:cdk:version-reporting': false, '@aws-cdk/core:newStyle': true, 'availability-zones:a': [] });
  });

  test.each(['mailDomian', 'MailDomain', 'MAIL_DOMAIN', 'domains', 'constructor'])(
    'may not have the name %s',
    (name) => {
      expect(() => check({ [name]: 'x' })).toThrow(new RegExp(`no context value ${name}\\..*, mailDomain,`));
    },
  );

  test('are checked before anything is built from them', () => {
    const outdir = join(import.meta.dirname, 'nowhere');
    expect(() => makeApp({}, { outdir, context: { mailDomian: 'mail.example.com' } })).toThrow('mailDomian');
  });
});
