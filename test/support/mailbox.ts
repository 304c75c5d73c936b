import { handler as mailOut } from '../../functions/workers/mail-out.ts';
import { listenOnLoopback } from '../../infra/local/loopback.ts';
import { createMailService, type SentMail } from '../../infra/local/mail-service.ts';
import { leftIn, messagesOf } from './outbox.ts';
import type { TestRealm } from './realm.ts';
import { queued, runQueue } from './worker-run.ts';

/** An organization of a service that sends mail. */
export interface MailingRealm extends TestRealm {
  /** The mails that were sent, in order. */
  readonly mails: readonly SentMail[];
  /** Sends what is left in the outbox. */
  readonly sendMail: () => Promise<void>;
}

/** The same organization in a container that sends mail to a mailbox of this test. */
export async function withMailbox(realm: TestRealm): Promise<MailingRealm> {
  const mails: SentMail[] = [];
  const service = createMailService({ add: (mail) => mails.push(mail) });
  const { origin } = await listenOnLoopback(service, 0);
  service.unref();
  const mailing = realm.container(undefined, {
    mailDomain: 'mail.example.com',
    environment: {
      MAIL_DOMAIN: 'mail.example.com',
      AWS_ENDPOINT_URL_SES: origin,
      SITE: 'https://chat.example.com',
    },
  });
  return {
    ...mailing,
    mails,
    async sendMail() {
      const left = (await leftIn(mailing)).filter(({ kind }) => kind === 'mail');
      const messages = messagesOf(left).map((body) => queued(body));
      const { batchItemFailures } = await runQueue(mailing, mailOut, messages);
      if (batchItemFailures.length > 0) throw new Error(JSON.stringify(mailing.reports));
    },
  };
}

/** The token of the link in a mail, or in a reply. */
export const tokenIn = (text: string): string =>
  /\/(?:invite|join|set-password)\/([\w-]+)/.exec(text)?.[1] ?? '';
