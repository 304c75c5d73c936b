import type { GatewayReply } from './gateway-reply.ts';
import type { HttpRequest } from './http-request.ts';
import type { Outbox, SentMail } from './mail-service.ts';

/** Mails that are kept, until the service ends. */
const MAX_KEPT = 100;

const PATH = '/outbox/';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

const LINK = /https?:\/\/[^\s<>"]+/g;

/** The mails that the service would send, newest first, on a page of this machine. */
export class LocalOutbox implements Outbox {
  readonly #report: (line: string) => void;
  #mails: readonly SentMail[] = [];

  /** `report` takes a line for the person at the console. */
  constructor(report: (line: string) => void) {
    this.#report = report;
  }

  add(mail: SentMail): void {
    this.#mails = [mail, ...this.#mails].slice(0, MAX_KEPT);
    const [link] = mail.text.match(LINK) ?? [];
    this.#report(`Mail to ${mail.to}: ${mail.subject}${link === undefined ? '' : ` (${link})`}`);
  }

  /** The page; undefined for another path. */
  page({ method, path }: Pick<HttpRequest, 'method' | 'path'>): GatewayReply | undefined {
    if (path !== PATH || (method !== 'GET' && method !== 'HEAD')) return undefined;
    const headers = [
      ['Content-Type', 'text/html; charset=utf-8'],
      ['Cache-Control', 'no-store'],
      ['Content-Security-Policy', POLICY],
      ['X-Content-Type-Options', 'nosniff'],
      ['Referrer-Policy', 'no-referrer'],
    ] as const;
    return { status: 200, headers, body: Buffer.from(this.#html()) };
  }

  #html(): string {
    const mails = this.#mails.map(
      ({ to, from, subject, at, text }) =>
        `<article><h2>${escaped(subject)}</h2><p>To ${escaped(to)}, from ${escaped(from)}, <time>${at}</time></p><pre>${linked(text)}</pre></article>`,
    );
    return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Outbox</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui;max-width:45rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;overflow-wrap:anywhere}</style>
</head><body><h1>Outbox</h1>
<p>Mail that a deployed service would send. Nothing leaves this machine.</p>
${mails.join('\n') || '<p>No mail yet.</p>'}
</body></html>
`;
  }
}

const linked = (text: string): string =>
  escaped(text).replaceAll(LINK, (url) => `<a href="${url}">${url}</a>`);

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
