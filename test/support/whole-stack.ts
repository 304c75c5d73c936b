import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bundles } from '../../infra/build.ts';
import { stackId, synthesize } from '../../infra/synthesize.ts';
import { everyEndpoint as endpoints } from '../../shared/endpoints/all.ts';
import { listenersFor } from '../../shared/endpoints/listener.ts';
import { workers } from '../../shared/endpoints/workers.ts';
import { Template } from './template.ts';

const bundle = {
  directory: join(import.meta.dirname, '../infra/fixtures/functions/messages'),
  bytes: 1,
  hash: 'none',
  code: '0123456789ab',
};

/** Something for each function of the service, so that none has to be built where it is nothing what they hold. */
export const standIns: Bundles = Object.fromEntries(
  [...endpoints, ...workers, ...listenersFor(endpoints)].map(({ id }) => [id, bundle]),
);

/** What an operator sets who wants all that there is: without it some workers, alarms and limits are not there. */
export const everySetting = {
  mailDomain: 'mail.example.com',
  pushRelayUrl: 'https://push.example.com',
  zoomClientId: 'zoom',
  webexClientId: 'webex',
  bigBlueButtonUrl: 'https://meet.example.com/bigbluebutton',
  oidcIssuer: 'https://id.example.com',
  oidcClientId: 'parlance',
  domain: 'chat.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0a-1b',
  corsOrigins: 'https://app.example.com',
  addressLimit: '3000',
  alarmEmail: 'operator@example.com',
};

const templates = new Map<string, Template>();

/**
 * The template of the stack of the service, with these settings. Synthesizing it takes half a second of a processor,
 * so each set of settings is synthesized once, for all test files that run in this process.
 */
export function wholeStack(context: Readonly<Record<string, string>>): Template {
  const settings = JSON.stringify(Object.entries(context).sort());
  const known = templates.get(settings);
  if (known) return known;
  const assembly = synthesize(standIns, { context });
  const template = new Template(assembly.getStackArtifact(stackId).templateFullPath);
  rmSync(assembly.directory, { recursive: true });
  templates.set(settings, template);
  return template;
}
