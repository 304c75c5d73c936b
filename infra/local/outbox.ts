import { type Content, html } from '../../shared/pages/html.ts';
import { documentOf } from '../../shared/pages/layout.ts';
import { POLICY } from '../../shared/pages/style.ts';
import type { GatewayReply } from './gateway-reply.ts';
import type { HttpRequest } from './http-request.ts';
import type { Outbox, SentMail } from './mail-service.ts';

/** Mails that are kept, until the service ends. */
const MAX_KEPT = 100;

const PATH = '/outbox/';

const LINK = /(https?:\/\/[^\s<>"]+)/;

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
    return { status: 200, headers, body: Buffer.from(this.#document()) };
  }

  #document(): string {
    const mails = this.#mails.map(
      ({ to, from, subject, at, text }) => html`<h2>${subject}</h2>
<p class="hint">To ${to}, from ${from}, <time datetime="${at}">${at.slice(0, 19).replace('T', ' ')} UTC</time></p>
<pre>${linked(text)}</pre>`,
    );
    return documentOf({
      title: 'Outbox',
      isWide: true,
      content: [
        html`<p>Mail that a deployed service would send. Nothing leaves this machine.</p>`,
        mails.length > 0 ? mails : html`<p>No mail yet.</p>`,
      ],
    });
  }
}

/** A text whose addresses are links. */
const linked = (text: string): Content =>
  text.split(LINK).map((part, i) => (i % 2 === 0 ? part : html`<a href="${part}">${part}</a>`));
