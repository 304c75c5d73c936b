import type { Outside, Queues } from '../../kernel/outside.ts';
import type { Account } from '../../model/user/caller.ts';
import { settingsOf } from '../../model/user/user.ts';
import { doLeaveMail, sendsMail, wakeMail } from '../mail-out/letter.ts';
import { addKey } from './api-key.ts';

/** Somebody who has just proved who they are. */
export interface Proven {
  readonly realm: string;
  readonly userId: number;
  readonly email: string;
  /** As it was read; undefined for somebody who has just joined. */
  readonly account: Account | undefined;
}

/**
 * Makes a key for the device on which somebody has just signed in, and sends them a mail about it if they want one
 * (`enable_login_emails`). One round trip, and another where the service sends mail.
 *
 * @param label what the device is called
 */
export async function addDeviceKey(
  outside: Outside,
  queues: Queues,
  { realm, userId, email, account }: Proven,
  label: string,
): Promise<string> {
  const settings = sendsMail(outside) ? await outside.table.get('settings', { realm, userId }) : undefined;
  if (settingsOf(settings).enable_login_emails !== true) {
    return addKey(outside, realm, email, label, account);
  }
  const job = outside.uuid();
  const now = outside.now();
  const letter = { what: 'login', userId, device: label, signedIn: Math.floor(now / 1_000) } as const;
  const apiKey = await addKey(outside, realm, email, label, account, doLeaveMail(realm, job, [letter], now));
  await wakeMail(outside, queues, realm, job);
  return apiKey;
}
