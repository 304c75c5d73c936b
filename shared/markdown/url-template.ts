/** How the values of an expression stand in an address (RFC 6570, appendix A). */
interface Style {
  readonly first: string;
  readonly separator: string;
  /** Whether each value comes after its name. */
  readonly isNamed: boolean;
  /** What stands after the name of an empty value. */
  readonly ifEmpty: string;
  readonly keepsReserved: boolean;
}

const style = (
  first: string,
  separator: string,
  { isNamed = false, ifEmpty = '', keepsReserved = false } = {},
): Style => ({ first, separator, isNamed, ifEmpty, keepsReserved });

const styles: Readonly<Record<string, Style>> = {
  '': style('', ','),
  '+': style('', ',', { keepsReserved: true }),
  '#': style('#', ',', { keepsReserved: true }),
  '.': style('.', '.'),
  '/': style('/', '/'),
  ';': style(';', ';', { isNamed: true }),
  '?': style('?', '&', { isNamed: true, ifEmpty: '=' }),
  '&': style('&', '&', { isNamed: true, ifEmpty: '=' }),
};

interface Variable {
  readonly name: string;
  /** Most code points of the value. */
  readonly prefix: number;
}

interface Expression {
  readonly style: Style;
  readonly variables: readonly Variable[];
}

/** A template of an address (RFC 6570): literal text and expressions, in order. */
export interface UrlTemplate {
  readonly parts: readonly (string | Expression)[];
  /** The names of its variables, each once. */
  readonly names: ReadonlySet<string>;
}

const PART = /\{([+#./;?&]?)([^{}]*)\}|([^{}]+)/y;
const LITERAL = /^(?:[^\p{Cc}\s"<>\\^`|%]|%[0-9A-Fa-f]{2})+$/u;
const VARIABLE = /^((?:\w|%[0-9A-Fa-f]{2})+(?:\.(?:\w|%[0-9A-Fa-f]{2})+)*)(?:\*|:([1-9][0-9]{0,3}))?$/;

/** Parses a template; undefined if it is not valid. */
export function parseUrlTemplate(text: string): UrlTemplate | undefined {
  const parts: (string | Expression)[] = [];
  PART.lastIndex = 0;
  for (let end = 0; end < text.length; end = PART.lastIndex) {
    const match = PART.exec(text);
    if (!match) return undefined;
    const [, operator = '', list = '', literal] = match;
    if (literal !== undefined) {
      if (!LITERAL.test(literal)) return undefined;
      parts.push(encoded(literal, true));
      continue;
    }
    const variables = list.split(',').map((each) => VARIABLE.exec(each));
    const found = styles[operator];
    if (found === undefined || variables.includes(null)) return undefined;
    parts.push({
      style: found,
      variables: variables.map((each) => ({
        name: each?.[1] ?? '',
        prefix: Number(each?.[2] ?? Number.POSITIVE_INFINITY),
      })),
    });
  }
  const names = parts.flatMap((part) =>
    typeof part === 'string' ? [] : part.variables.map(({ name }) => name),
  );
  return { parts, names: new Set(names) };
}

/** The address that a template makes of these values. Variables without a value are left out. */
export const expandUrlTemplate = (
  { parts }: UrlTemplate,
  values: Readonly<Record<string, string | undefined>>,
): string => parts.map((part) => (typeof part === 'string' ? part : expanded(part, values))).join('');

function expanded(
  { style: { first, separator, isNamed, ifEmpty, keepsReserved }, variables }: Expression,
  values: Readonly<Record<string, string | undefined>>,
): string {
  const texts = variables.flatMap(({ name, prefix }) => {
    const value = values[name];
    if (value === undefined) return [];
    const text = encoded([...value].slice(0, prefix).join(''), keepsReserved);
    if (!isNamed) return [text];
    return [text === '' ? `${name}${ifEmpty}` : `${name}=${text}`];
  });
  return texts.length === 0 ? '' : first + texts.join(separator);
}

const BUT_UNRESERVED = /[^A-Za-z0-9._~-]/gu;
const BUT_RESERVED = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]/gu;

/** Text with its special characters as percent codes. `keepsReserved` keeps those that have a meaning in addresses. */
const encoded = (text: string, keepsReserved: boolean): string =>
  text
    .toWellFormed()
    .replace(keepsReserved ? BUT_RESERVED : BUT_UNRESERVED, (part) =>
      part.length === 3 ? part : percentCodes(part),
    );

const percentCodes = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
