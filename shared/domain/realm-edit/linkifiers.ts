import { badRequest, refusal } from '../../kernel/errors.ts';
import type { Change } from '../../log/commit.ts';
import { eventForEveryone } from '../../log/slot.ts';
import type { LinkifierEngine } from '../../markdown/linkifier.ts';
import { parseUrlTemplate } from '../../markdown/url-template.ts';
import { type Linkifier, linkifierObjects, type StoredLinkifiers } from '../../model/realm/linkifiers.ts';
import { key } from '../../table/keys.ts';
import { hasVersionOrNone } from '../../table/write.ts';

/** Most linkifiers of an organization, and most bytes of all together: each event has all of them. */
const MAX_LINKIFIERS = 100;
const MAX_BYTES = 50_000;

/** Most characters of a pattern, and most instructions of what it compiles to: `a{1000}` has a thousand. */
const MAX_PATTERN = 1_000;
const MAX_INSTRUCTIONS = 1_000;

/** The parameters of a linkifier. */
interface LinkifierInput {
  readonly pattern: string;
  readonly url_template: string;
  readonly example_input?: string;
  readonly reverse_template?: string;
  readonly alternative_url_templates?: readonly string[];
}

/** A linkifier without its id. */
type NewLinkifier = Omit<Linkifier, 'id'>;

type Field = 'pattern' | 'url_template' | '__all__';

const invalid = (field: Field, text: string) => refusal('invalidFields', { errors: { [field]: [text] } });

/** Returns the linkifier with this id, or refuses. */
export function accessLinkifier(id: number, { list }: StoredLinkifiers): Linkifier {
  const linkifier = list.find((each) => each.id === id);
  if (linkifier === undefined) throw badRequest(`There is no linkifier with the ID ${id}.`);
  return linkifier;
}

/** Checks a new linkifier (companion facts 4.1). */
export function checkNewLinkifier(
  engine: LinkifierEngine,
  asked: LinkifierInput,
  { list }: StoredLinkifiers,
): NewLinkifier {
  if (list.length >= MAX_LINKIFIERS) {
    throw badRequest(`An organization has at most ${MAX_LINKIFIERS} linkifiers.`);
  }
  const linkifier = checkLinkifier(engine, asked, list, {
    exampleInput: null,
    reverseTemplate: null,
    alternativeUrlTemplates: [],
  });
  checkSize([...list, { ...linkifier, id: Number.MAX_SAFE_INTEGER }]);
  return linkifier;
}

/** Checks a change of a linkifier. Returns all of them after it. */
export function checkLinkifierEdit(
  engine: LinkifierEngine,
  id: number,
  asked: LinkifierInput,
  stored: StoredLinkifiers,
): readonly Linkifier[] {
  const before = accessLinkifier(id, stored);
  const others = stored.list.filter((each) => each !== before);
  const after = { id, ...checkLinkifier(engine, asked, others, before) };
  const list = stored.list.map((each) => (each === before ? after : each));
  checkSize(list);
  return list;
}

/** Returns the linkifiers without one of them, or refuses. */
export function checkLinkifierRemoval(id: number, stored: StoredLinkifiers): readonly Linkifier[] {
  const linkifier = accessLinkifier(id, stored);
  return stored.list.filter((each) => each !== linkifier);
}

/** Checks that the order names each linkifier once. Returns them in that order. */
export function checkLinkifierOrder(ids: readonly number[], stored: StoredLinkifiers): readonly Linkifier[] {
  if (ids.length !== stored.list.length || new Set(ids).size !== ids.length) {
    throw badRequest("'ordered_linkifier_ids' must name each linkifier once.");
  }
  return ids.map((id) => accessLinkifier(id, stored));
}

function checkLinkifier(
  engine: LinkifierEngine,
  asked: LinkifierInput,
  others: readonly Linkifier[],
  before: Pick<Linkifier, 'exampleInput' | 'reverseTemplate' | 'alternativeUrlTemplates'>,
): NewLinkifier {
  const [pattern, urlTemplate] = [asked.pattern.trim(), asked.url_template.trim()];
  const groups = checkPattern(engine, pattern);
  checkTemplate(urlTemplate, groups, 'The template of the address');
  if (others.some((each) => each.pattern === pattern)) {
    throw invalid('__all__', 'There is already a linkifier with this pattern.');
  }
  const alternativeUrlTemplates =
    asked.alternative_url_templates?.map((template) => template.trim()) ?? before.alternativeUrlTemplates;
  for (const template of alternativeUrlTemplates) checkTemplate(template, groups, `'${template}'`);
  const linkifier = {
    pattern,
    urlTemplate,
    exampleInput: textOrNull(asked.example_input, before.exampleInput),
    reverseTemplate: textOrNull(asked.reverse_template, before.reverseTemplate),
    alternativeUrlTemplates,
  };
  checkReverse(engine, linkifier);
  return linkifier;
}

/** Empty text sets the value back to null; without a new one it stays. */
const textOrNull = (asked: string | undefined, before: string | null): string | null =>
  asked === undefined ? before : asked.trim() || null;

/** Checks a pattern and returns the names of its groups. */
function checkPattern(engine: LinkifierEngine, pattern: string): readonly string[] {
  if (pattern === '') throw invalid('pattern', 'The pattern must not be empty.');
  if (pattern.length > MAX_PATTERN) {
    throw invalid('pattern', `A pattern has at most ${MAX_PATTERN} characters.`);
  }
  const compiled = compiledOrUndefined(engine, pattern);
  if (compiled === undefined) throw invalid('pattern', 'This is not a valid pattern in the syntax of RE2.');
  if (compiled.programSize() > MAX_INSTRUCTIONS) {
    throw invalid('pattern', 'The repetitions in this pattern make it too large.');
  }
  return Object.keys(compiled.namedGroups());
}

/** A pattern may be valid only by itself, or only with its neighbours: `a)|(b`. */
function compiledOrUndefined(engine: LinkifierEngine, pattern: string) {
  try {
    engine.compileWithNeighbours(pattern);
    return engine.compilePattern(pattern);
  } catch {
    return undefined;
  }
}

/** Checks that a template is valid, and that it has a variable for each named group and no other. */
function checkTemplate(text: string, groups: readonly string[], what: string): void {
  const template = text === '' ? undefined : parseUrlTemplate(text);
  if (template === undefined) throw invalid('url_template', `${what} is not a valid template (RFC 6570).`);
  const unused = groups.filter((name) => !template.names.has(name)).sort()[0];
  if (unused !== undefined) throw invalid('__all__', `The group '${unused}' is not in the template.`);
  const unknown = [...template.names].filter((name) => !groups.includes(name)).sort()[0];
  if (unknown !== undefined) throw invalid('__all__', `The pattern has no group '${unknown}'.`);
}

/** Checks that the example matches, and that the reverse template makes the example again. */
function checkReverse(
  engine: LinkifierEngine,
  { pattern, exampleInput, reverseTemplate }: NewLinkifier,
): void {
  if (exampleInput === null) {
    if (reverseTemplate !== null) throw invalid('__all__', "'reverse_template' needs an 'example_input'.");
    return;
  }
  const matcher = engine.compilePattern(pattern).matcher(exampleInput);
  if (!matcher.matches()) throw invalid('__all__', "'example_input' does not match the pattern.");
  if (reverseTemplate === null) return;
  const made = reverseTemplate.replace(/\{\{|\}\}|\{(\w+)\}|[{}]/g, (part, name?: string) => {
    if (part === '{{' || part === '}}') return part.charAt(0);
    if (name === undefined || !(name in engine.compilePattern(pattern).namedGroups())) {
      throw invalid('__all__', "'reverse_template' has braces that name no group of the pattern.");
    }
    return matcher.group(name) ?? '';
  });
  if (made !== exampleInput) {
    throw invalid('__all__', "'reverse_template' does not give 'example_input' for its own groups.");
  }
}

function checkSize(list: readonly Linkifier[]): void {
  if (Buffer.byteLength(JSON.stringify(linkifierObjects(list))) > MAX_BYTES) {
    throw badRequest('The linkifiers of this organization take up all the space that there is for them.');
  }
}

/** Replaces the linkifiers, if they are unchanged. The organization gets their version, by which containers remember them. */
export function doChangeLinkifiers(
  realm: string,
  { version: before }: StoredLinkifiers,
  list: readonly Linkifier[],
): Change<Record<string, never>> {
  const version = before + 1;
  return {
    writes: [
      {
        put: key('linkifiers', { realm }),
        item: { version, list },
        when: hasVersionOrNone(before),
        lastWriterWins: true,
      },
      { update: key('realm', { realm }), change: { set: { linkifiers: version } } },
    ],
    entries: [eventForEveryone({ type: 'realm_linkifiers', realm_linkifiers: linkifierObjects(list) })],
    result: {},
  };
}

/** Adds a linkifier at the end. */
export const doCreateLinkifier = (
  realm: string,
  stored: StoredLinkifiers,
  id: number,
  linkifier: NewLinkifier,
): Change<{ readonly id: number }> => ({
  ...doChangeLinkifiers(realm, stored, [...stored.list, { id, ...linkifier }]),
  result: { id },
});
