import { type Environment, required } from '../environment.ts';
import type { Mailer } from '../kernel/outside.ts';
import { REQUEST_TIMEOUT, regionOf, signerFor } from './signer.ts';

const UTF_8 = { Charset: 'UTF-8' } as const;

/**
 * Sends mail from the operator's domain through SES (version 2 of its API). One call is all that is needed of it, so the
 * request is signed here in place of a client of 150 KB.
 */
export function sesMailer(environment: Environment): Mailer {
  const from = `no-reply@${required(environment, 'MAIL_DOMAIN')}`;
  const base = environment.AWS_ENDPOINT_URL_SES ?? `https://email.${regionOf(environment)}.amazonaws.com`;
  const url = new URL('/v2/email/outbound-emails', base);
  const signer = signerFor('ses', environment);
  return {
    async send({ to, subject, text, html }) {
      const body = JSON.stringify({
        FromEmailAddress: from,
        Destination: { ToAddresses: [to] },
        Content: {
          Simple: {
            Subject: { Data: subject, ...UTF_8 },
            Body: { Text: { Data: text, ...UTF_8 }, Html: { Data: html, ...UTF_8 } },
          },
        },
      });
      const { headers } = await signer.sign({
        method: 'POST',
        protocol: url.protocol,
        hostname: url.hostname,
        ...(url.port !== '' && { port: Number(url.port) }),
        path: url.pathname,
        headers: { host: url.host, 'content-type': 'application/json' },
        body,
      });
      const answer = await fetch(url, {
        method: 'POST',
        headers,
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(REQUEST_TIMEOUT),
      });
      await answer.body?.cancel();
      // The answer may repeat the address, which no log should have.
      const reason = answer.headers.get('x-amzn-errortype') ?? '';
      if (!answer.ok) throw new Error(`SES refused a mail: ${answer.status} ${reason}`);
    },
  };
}
