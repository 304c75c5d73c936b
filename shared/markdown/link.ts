import type { MarkdownIt, StateCore, StateInline } from 'markdown-it';
import { isSafeAddress, withScheme } from './address.ts';
import { resolvedIn } from './reference-rules.ts';

/** An address in a text, from `start` up to `end`. */
interface BareAddress {
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
function bareAddresses(text: string): BareAddress[] {
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

/** The addresses in a text that is being parsed, by where they start. */
const addresses = new WeakMap<StateInline, ReadonlyMap<number, BareAddress>>();

function addressesIn(state: StateInline): ReadonlyMap<number, BareAddress> {
  const known = addresses.get(state);
  if (known) return known;
  const found = new Map(bareAddresses(state.src).map((address) => [address.start, address]));
  addresses.set(state, found);
  return found;
}

/** A web or mail address without markup. */
function bareLinkRule(state: StateInline, silent: boolean): boolean {
  if (state.linkLevel > 0) return false;
  const address = addressesIn(state).get(state.pos);
  if (!address || address.end > state.posMax) return false;
  const text = state.src.slice(address.start, address.end);
  const href = state.md.normalizeLink(text);
  if (!state.md.validateLink(href)) return false;
  if (!silent) {
    state.push('link_open', 'a', 1).attrs = [['href', href]];
    // An address is shown as it was written: a decoded one can look like another.
    state.push('text', '', 0).content = text;
    state.push('link_close', 'a', -1);
  }
  state.pos = address.end;
  return true;
}

/** Marks at which another rule may begin. */
const MARK = /[\n!#$%&*+\-:<=>@[\\\]^_`{}~]/;

/** Plain text, up to the next mark or address. */
function textRule(state: StateInline, silent: boolean): boolean {
  const starts = addressesIn(state);
  let end = state.pos;
  while (end < state.posMax && !MARK.test(state.src.charAt(end)) && !(end > state.pos && starts.has(end)))
    end += 1;
  if (end === state.pos) return false;
  if (!silent) state.pending += state.src.slice(state.pos, end);
  state.pos = end;
  return true;
}

/** An address of a place in this organization's own client, without what every reader knows. */
function shortened(href: string, baseUrl: string | undefined): string {
  if (baseUrl === undefined) return href;
  const [address, own] = [href, `${baseUrl}/#narrow/`].map((url) => url.replace(/^https?:/i, ''));
  return address?.startsWith(own ?? href) ? href.slice(href.indexOf('#narrow/')) : href;
}

/**
 * Puts links right that are no use as they are: one without a text shows its address, one to this organization's client
 * is relative, and links that are no valid HTML become their text: `[text]()`, which would lead to the reader's own
 * page, and links within links.
 */
function finishLinks(state: StateCore): void {
  const { baseUrl } = resolvedIn(state.env);
  for (const block of state.tokens) {
    if (!block.children) continue;
    const kept: boolean[] = [];
    block.children = block.children.flatMap((token, index, all) => {
      if (token.type === 'link_close') return kept.pop() ? [token] : [];
      if (token.type !== 'link_open') return [token];
      const href = String(token.attrGet('href') ?? '');
      const isKept = !kept.includes(true) && href !== '';
      kept.push(isKept);
      if (!isKept) return [];
      token.attrSet('href', shortened(href, baseUrl));
      const next = all[index + 1];
      if (next?.type === 'link_close') {
        const text = new state.Token('text', '', 0);
        text.content = href;
        return [token, text];
      }
      if (next?.type === 'text' && all[index + 2]?.type === 'link_close' && next.content.trim() === '')
        next.content = href;
      return [token];
    });
  }
}

/** Links, and addresses that become links by themselves. */
export function links(markdown: MarkdownIt): void {
  const encoded = markdown.normalizeLink.bind(markdown);
  markdown.normalizeLink = (address) => encoded(withScheme(address));
  markdown.validateLink = isSafeAddress;
  markdown.inline.ruler.before('text', 'bare_link', bareLinkRule);
  markdown.inline.ruler.at('text', textRule);
  markdown.core.ruler.after('inline', 'finished_links', finishLinks);
}
