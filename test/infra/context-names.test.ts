import { join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import { describe, expect, test } from 'vitest';
import { checkContextNames } from '../../infra/context-names.ts';
import { makeApp } from '../../infra/synthesize.ts';
import { everySetting } from '../support/whole-stack.ts';

const check = (context: Readonly<Record<string, unknown>>): void =>
  checkContextNames(new App({ context }).node);

describe('values of CDK context', () => {
  test('are those that something reads, and what the CDK has for itself', () => {
    check({});
    check(everySetting);
    check({ 'aws:cdk:version-reporting': false, '@aws-cdk/core:newStyle': true, 'availability-zones:a': [] });
  });

  test.each(['mailDomian', 'MailDomain', 'MAIL_DOMAIN', 'domains', 'constructor'])(
    'are not called %s',
    (name) => {
      expect(() => check({ [name]: 'x' })).toThrow(new RegExp(`no context value ${name}\\..*, mailDomain,`));
    },
  );

  test('are looked at before anything is made of them', () => {
    const outdir = join(import.meta.dirname, 'nowhere');
    expect(() => makeApp({}, { outdir, context: { mailDomian: 'mail.example.com' } })).toThrow('mailDomian');
  });
});
