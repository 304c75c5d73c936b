import type { StateCore, Token } from 'markdown-it';
import { RE2JS } from 're2js';
import { isSafeAddress } from './address.ts';
import { expandUrlTemplate, parseUrlTemplate, type UrlTemplate } from './url-template.ts';

/** What a linkifier finds and what it makes of that (companion facts 4.1). */
export interface LinkifierRule {
  readonly pattern: string;
  readonly urlTemplate: string;
}

/** The linkifiers of an organization, ready to find their links. Where two overlap, the first one has it. */
export interface Linkifiers {
  /** The links in a text, in the order of their positions. */
  readonly linksIn: (text: string) => TextLink[];
  /** Makes links in the plain text of a message that was parsed. */
  readonly linkMessage: (state: StateCore) => void;
}

/** A pattern in the syntax of RE2, which matches in linear time; throws if it is not valid. */
export const compilePattern = (pattern: string): RE2JS => RE2JS.compile(pattern);

/** A linkifier that is ready to find its links. */
interface Compiled {
  readonly pattern: RE2JS;
  readonly names: readonly string[];
  readonly template: UrlTemplate;
}

const MATCH = 'linkifier_match';

/**
 * What may stand before a match and after it (companion facts 4.1). RE2 cannot look around, so the neighbours are parts
 * of the pattern.
 */
export const compileWithNeighbours = (pattern: string): RE2JS =>
  compilePattern(String.raw`(?:^|[\s\v\x{85}\p{Z}'"(,:<])(?P<${MATCH}>${pattern})(?:$|[^\pL\pN])`);

function compileLinkifier({ pattern, urlTemplate }: LinkifierRule): Compiled {
  const template = parseUrlTemplate(urlTemplate);
  if (template === undefined) throw new Error('this is no template of an address');
  const names = Object.keys(compilePattern(pattern).namedGroups());
  return { pattern: compileWithNeighbours(pattern), names, template };
}

/** Makes linkifiers ready, in order of application; throws if one of them is not valid. */
export function compileLinkifiers(rules: readonly LinkifierRule[]): Linkifiers {
  const compiled = rules.map(compileLinkifier);
  return {
    linksIn: (text) => linksIn(compiled, text, { steps: MAX_STEPS }),
    linkMessage: (state) => linkMessage(state, compiled),
  };
}

/** A link in a text, from `start` up to `end`. */
interface TextLink {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

/**
 * How much work the links of one text may take: characters times instructions of the pattern. Each search is linear, but a
 * pattern can make every match of many read the whole line. A message of 10,000 characters has its first links then.
 */
const MAX_STEPS = 20_000_000;

/** The work that is left for one text. */
interface Allowance {
  steps: number;
}

function linksIn(linkifiers: readonly Compiled[], text: string, left: Allowance): TextLink[] {
  const links: TextLink[] = [];
  for (const linkifier of linkifiers) findLinks(linkifier, text, left, links);
  return links.sort((a, b) => a.start - b.start);
}

function findLinks(
  { pattern, names, template }: Compiled,
  text: string,
  left: Allowance,
  links: TextLink[],
): void {
  const matcher = pattern.matcher(text);
  for (let from = 0; from < text.length; ) {
    left.steps -= (text.length - from) * pattern.programSize();
    if (left.steps < 0 || !matcher.find(from)) return;
    const [start, end] = [matcher.start(MATCH), matcher.end(MATCH)];
    const other = links.find((link) => link.start < end && start < link.end);
    from = other?.end ?? Math.max(end, from + 1);
    if (other || start === end) continue;
    const values = Object.fromEntries(names.map((name) => [name, matcher.group(name) ?? undefined]));
    const url = expandUrlTemplate(template, values);
    if (isSafeAddress(url)) links.push({ start, end, url });
  }
}

/** Code, links and their texts stay as they are. */
function linkMessage(state: StateCore, linkifiers: readonly Compiled[]): void {
  const left = { steps: MAX_STEPS };
  for (const block of state.tokens) {
    let depth = 0;
    if (!block.children) continue;
    block.children = block.children.flatMap((token, index, all) => {
      if (token.type === 'link_open') depth += 1;
      if (token.type === 'link_close') depth -= 1;
      if (token.type !== 'text' || depth > 0) return [token];
      // A letter stands for what is before the text, so that nothing matches at its very beginning.
      const before = isOpening(all[index - 1]) ? '' : 'x';
      const links = linksIn(linkifiers, before + token.content, left);
      return links.length === 0 ? [token] : linked(state, token, links, before.length);
    });
  }
}

/** Whether text after this token stands at the beginning of a line, or of what is emphasized. */
const isOpening = (before: Token | undefined): boolean =>
  before === undefined || before.nesting > 0 || before.type.endsWith('break');

/** The parts of a text with its links, whose positions are larger by `shift`. */
function linked(state: StateCore, token: Token, links: readonly TextLink[], shift: number): Token[] {
  const parts: Token[] = [];
  const push = (type: string, tag: string, nesting: -1 | 0 | 1, content = ''): Token => {
    const part = new state.Token(type, tag, nesting);
    part.content = content;
    part.level = token.level;
    parts.push(part);
    return part;
  };
  let last = 0;
  for (const { start, end, url } of links) {
    push('text', '', 0, token.content.slice(last, start - shift));
    push('link_open', 'a', 1).attrs = [['href', url]];
    push('text', '', 0, token.content.slice(start - shift, end - shift));
    push('link_close', 'a', -1);
    last = end - shift;
  }
  push('text', '', 0, token.content.slice(last));
  return parts;
}
