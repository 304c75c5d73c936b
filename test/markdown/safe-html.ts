/** What may stand in the value of an attribute, after its character references are decoded. */
type Check = RegExp;

const ADDRESS = /^(?:https?:\/\/|mailto:|tel:|sms:|\/(?!\/)|#)[^\s<>"\\\p{Cc}]*$/u;
const TEXT = /^[^<>]*$/s;
const CLASSES =
  /^(?:user-mention|user-mention channel-wildcard-mention|user-group-mention|topic-mention)(?: silent)?$|^(?:stream|stream-topic|message-link)$|^emoji(?: emoji-[0-9a-f-]+)?$|^(?:timestamp-error|codehilite|spoiler-block|spoiler-header|spoiler-content|message_inline_image|tex-error|katex|katex-display)$/;
/** A class of a typeset formula. Only inside one, and none that clients act upon. */
const isFormulaClass = (name: string): boolean =>
  /^(?:[a-z][a-z0-9_-]*)?$/.test(name) &&
  !CLASSES.test(name) &&
  !/mention|stream|emoji|message|spoiler/.test(name);
/** Sizes, and colors by name or number: nothing that loads anything, or leaves its place. */
const STYLE = /^(?:(?!position: ?(?!relative))[a-z-]+: ?(?:calc\([\d.em +-]+\)|[\w#.% +-]+)(?:; ?|$))+$/i;
const MATH =
  'math semantics annotation mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup mover munder munderover mtable mtr mtd mstyle mpadded mphantom menclose mglyph merror'.split(
    ' ',
  );
const MATH_ATTRIBUTES: Readonly<Record<string, Check>> = Object.fromEntries(
  [
    ...'mathvariant stretchy lspace rspace separator fence form accent accentunder minsize maxsize symmetric display'.split(
      ' ',
    ),
    ...'scriptlevel displaystyle mathcolor mathbackground mathsize width height depth voffset linethickness'.split(
      ' ',
    ),
    ...'rowspacing columnalign columnspacing columnlines rowlines side notation movablelimits largeop xml:space class style linebreak'.split(
      ' ',
    ),
  ].map((name) => [name, name === 'style' ? STYLE : /^[-+#\w.% ]*$/]),
);

const GLOBAL: Readonly<Record<string, Check>> = {};
/** Every element that a client may meet, with its attributes. Anything else is a hole. */
const ALLOWED: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  a: { href: ADDRESS, title: TEXT, class: CLASSES, 'data-stream-id': /^\d+$/ },
  span: {
    style: STYLE,
    'aria-hidden': /^true$/,
    class: CLASSES,
    'data-user-id': /^(?:\d+|\*)$/,
    'data-user-group-id': /^\d+$/,
    'aria-label': TEXT,
    role: /^img$/,
    title: TEXT,
  },
  img: {
    alt: /^:[a-z0-9_+-]+:$/,
    class: /^emoji$/,
    src: ADDRESS,
    title: TEXT,
    'data-animated': /^true$/,
    'data-original-content-type': /^image\/[a-z]+$/,
    'data-original-dimensions': /^\d+x\d+$/,
  },
  ...Object.fromEntries(MATH.map((tag) => [tag, MATH_ATTRIBUTES])),
  math: { ...MATH_ATTRIBUTES, xmlns: /^http:\/\/www\.w3\.org\/1998\/Math\/MathML$/ },
  annotation: { encoding: /^application\/x-tex$/ },
  svg: {
    xmlns: /^http:\/\/www\.w3\.org\/2000\/svg$/,
    width: /^[\d.]+(?:em|%)$/,
    height: /^[\d.]+em$/,
    viewBox: /^[\d. -]+$/,
    preserveAspectRatio: /^(?:none|x(?:Min|Mid|Max)Y(?:Min|Mid|Max)(?: (?:slice|meet))?)$/,
    style: STYLE,
  },
  path: { d: /^[\w\s.,-]*$/ },
  line: { x1: /^[\d.%]+$/, y1: /^[\d.%]+$/, x2: /^[\d.%]+$/, y2: /^[\d.%]+$/, 'stroke-width': /^[\d.]+em$/ },
  time: { datetime: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/ },
  div: { class: CLASSES, 'data-code-language': /^[\w+\-./# ]+$/, 'aria-hidden': /^true$/ },
  ol: { start: /^\d+$/ },
  th: { style: /^text-align: (?:left|right|center);$/ },
  td: { style: /^text-align: (?:left|right|center);$/ },
  ...Object.fromEntries(
    [
      ...['p', 'br', 'hr', 'em', 'strong', 'del', 'code', 'pre', 'blockquote', 'ul', 'li'],
      ...['table', 'thead', 'tbody', 'tr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
    ].map((tag) => [tag, GLOBAL]),
  ),
};
/** Elements of formulas without contents. */
const EMPTY: ReadonlySet<string> = new Set(['path', 'line', 'mspace']);
const VOID: ReadonlySet<string> = new Set(['br', 'hr', 'img']);

const TAG = /<(\/?)([a-z][a-z0-9]*)((?: [a-zA-Z:0-9-]+ ?="[^"<>]*")*)(\/?)>/y;
const RUN = /[^<>&]+|&(?:#x[0-9a-fA-F]{1,6}|#[0-9]{1,7}|[a-zA-Z][a-zA-Z0-9]{1,31});/y;

const decoded = (value: string): string =>
  value.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

/**
 * Reads HTML far more strictly than a browser does, and says what is wrong with it: anything that is not plain text, a
 * well-formed reference, or an allowed element with allowed attributes, properly nested. No browser can then find an
 * active element in it. The second result is the deepest nesting of elements.
 */
export function inspect(html: string): { readonly problem?: string; readonly depth: number } {
  if (html.includes('\0')) return { problem: 'a NUL', depth: 0 };
  const open: string[] = [];
  let depth = 0;
  let position = 0;
  /** How many elements were open when a formula began; 0 outside of one. */
  let formula = 0;
  const at = (): string =>
    `at ${position}: ${JSON.stringify(html.slice(Math.max(0, position - 40), position + 40))}`;
  while (position < html.length) {
    RUN.lastIndex = position;
    const run = RUN.exec(html);
    if (run) {
      position += run[0].length;
      continue;
    }
    TAG.lastIndex = position;
    const tag = TAG.exec(html);
    if (!tag) return { problem: `a loose mark ${at()}`, depth };
    const [whole, closing, name = '', attributes = '', empty] = tag;
    if (empty && !EMPTY.has(name)) return { problem: `an empty ${name} ${at()}`, depth };
    const allowed = ALLOWED[name];
    if (!allowed) return { problem: `the element ${name} ${at()}`, depth };
    if (closing === '/') {
      if (attributes !== '' || open.pop() !== name)
        return { problem: `a wrong end of ${name} ${at()}`, depth };
      if (open.length < formula) formula = 0;
    } else {
      const seen = new Set<string>();
      for (const [, attribute = '', value = ''] of attributes.matchAll(/ ([a-zA-Z:0-9-]+) ?="([^"]*)"/g)) {
        if (seen.has(attribute)) return { problem: `${attribute} twice ${at()}`, depth };
        seen.add(attribute);
        const check = allowed[attribute];
        // `title` and `aria-label` are only text, whatever they say.
        const text = check === TEXT ? value : decoded(value);
        const isInFormula = formula > 0 && attribute === 'class' && text.split(' ').every(isFormulaClass);
        if (attribute === 'style' && formula === 0 && name === 'span')
          return { problem: `a style outside of a formula ${at()}`, depth };
        if (!isInFormula && !check?.test(text))
          return { problem: `the attribute ${attribute}=${value} ${at()}`, depth };
      }
      if (name === 'a' && open.includes('a')) return { problem: `a link in a link ${at()}`, depth };
      if (!VOID.has(name) && !empty) open.push(name);
      if (formula === 0 && attributes.startsWith(' class="katex')) formula = open.length;
      depth = Math.max(depth, open.length);
    }
    position += whole.length;
  }
  return open.length > 0 ? { problem: `never closed: ${open.join(' ')}`, depth } : { depth };
}
