/**
 * The only addresses that may become links or images: the web, mail, telephone, and paths and fragments on this
 * server. This is a list of what is allowed, because nobody can list everything that is dangerous.
 */
const SAFE = /^(?:https?:\/\/|mailto:|tel:|sms:|\/(?!\/)|#)/i;

/** Whether this address may be the target of a link or the source of an image. */
export const isSafeAddress = (address: string): boolean => SAFE.test(address);

/** A host without a scheme, as people write it: `example.com/page`. */
const BARE_HOST = /^[^\s:/?#\\@]+\.[^\s:/?#\\@]{2,}(?:[/?#]|$)/;
const BARE_MAIL = /^[^\s:/?#\\@]+@[^\s:/?#\\@]+$/;

/** Adds the scheme that people leave out: `example.com` is a web site and `me@example.com` a mail address. */
export function withScheme(address: string): string {
  if (BARE_MAIL.test(address)) return `mailto:${address}`;
  return BARE_HOST.test(address) ? `http://${address}` : address;
}

/** An address in a text, from `start` up to `end`. */
export interface BareAddress {
  readonly start: number;
  readonly end: number;
}

/** What may stand before an address: the beginning, white space, or one of these. */
const BEFORE = String.raw`(?<=^|[\s'"(,:<])`;
const WEB = String.raw`https?:\/\/[^\s/?#()<>"'.,:;!]`;
const MAIL = String.raw`[\w.+-]{1,64}@(?=[\w-])`;
const HOST = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?(?=\.)`;
const CANDIDATE = new RegExp(`${BEFORE}(?:(${WEB})|(${MAIL})|${HOST})`, 'giu');
const DOMAIN = /(?:[\p{L}\p{N}-]{1,63}\.)+([a-z]{2,})(?![\p{L}\p{N}_@-])/iuy;
const PORT = /:\d{1,5}(?!\d)/y;

/** Endings of domains that make an address without a scheme: the common ones, and every country's. */
const ENDINGS: ReadonlySet<string> = new Set(
  (
    'com org net edu gov mil int info biz name pro app dev page cloud online site tech xyz blog news wiki chat shop ' +
    'store ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca ' +
    'cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga ' +
    'gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ' +
    'ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc me mg mh mk ml mm mn mo mp mq mr ms mt mu ' +
    'mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw qa re ro ru rw sa sb ' +
    'sc sd se sg si sj sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk ' +
    'us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw'
  ).split(' '),
);

/** How deep parentheses may nest in an address, and how long one may be. */
const MAX_PARENTHESES = 6;
const MAX_LENGTH = 4_000;

/** Marks that end a sentence rather than an address. */
const isPunctuation = (c: string): boolean => `!:;?),.'">`.includes(c);

/** A text in which addresses are searched, and how many characters may still be looked at. */
interface Search {
  readonly text: string;
  steps: number;
}

/**
 * Where an address ends that goes on from here: before white space, without the punctuation there. Undefined if other
 * text follows it, or if its parentheses do not match.
 */
function endOfAddress(search: Search, from: number): number | undefined {
  const { text } = search;
  const limit = text.length;
  let open = 0;
  let end = from;
  let position = from;
  const stop = Math.min(limit, from + MAX_LENGTH);
  for (; position < stop; position += 1) {
    const c = text.charAt(position);
    if (/[\s<>"]/.test(c)) break;
    if (c === '(') open += 1;
    if (open > MAX_PARENTHESES) return undefined;
    if (c === ')') {
      if (open === 0) break;
      open -= 1;
      end = position + 1;
    } else if (!isPunctuation(c)) end = position + 1;
  }
  while (position < limit && isPunctuation(text.charAt(position))) position += 1;
  search.steps -= position - from;
  const isAtEnd = position >= limit || /\s/.test(text.charAt(position));
  return isAtEnd && open === 0 ? end : undefined;
}

/** Where the domain ends that stands here, if its ending is a known one. */
function endOfDomain(text: string, from: number): number | undefined {
  DOMAIN.lastIndex = from;
  const ending = DOMAIN.exec(text)?.[1];
  return ending !== undefined && ENDINGS.has(ending.toLowerCase()) ? DOMAIN.lastIndex : undefined;
}

function endOfBareHost(search: Search, from: number): number | undefined {
  const { text } = search;
  let end = endOfDomain(text, from);
  if (end === undefined) return undefined;
  PORT.lastIndex = end;
  if (PORT.test(text)) end = PORT.lastIndex;
  // Without a path, only punctuation may follow.
  const rest = endOfAddress(search, end);
  return rest === end || '/?#'.includes(text.charAt(end) || ' ') ? rest : undefined;
}

function endOfMail(search: Search, from: number): number | undefined {
  const end = endOfDomain(search.text, from);
  return end !== undefined && endOfAddress(search, end) === end ? end : undefined;
}

/**
 * The addresses that people write without markup: of the web, with `http://` or with a known ending, and of mail. Each
 * ends before white space and the punctuation there.
 *
 * Takes time linear in the text: in one that is made to be searched again and again, the last addresses are not found.
 */
export function bareAddresses(text: string): BareAddress[] {
  const found: BareAddress[] = [];
  const search: Search = { text, steps: 8 * text.length };
  let last = 0;
  for (const match of text.matchAll(CANDIDATE)) {
    const start = match.index;
    if (start < last) continue;
    if (search.steps < 0) break;
    const after = start + match[0].length;
    const end = match[1]
      ? endOfAddress(search, after)
      : match[2]
        ? endOfMail(search, after)
        : endOfBareHost(search, start);
    if (end === undefined) continue;
    found.push({ start, end });
    last = end;
  }
  return found;
}
