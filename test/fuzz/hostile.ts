import fc from 'fast-check';

const code = String.fromCharCode;

/** Texts that have broken services before: other types than wanted, edges of numbers, characters, nesting, length. */
const TEXTS = [
  ...['', ' ', '\n', '0', '-1', '1', '-0', '00', '01', '+1', '1.0', '1.5', '1e3', '1e999', '-1e999', '0x10'],
  ...[
    '2147483647',
    '2147483648',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '1000000000000',
  ],
  ...['999999999999', '-9007199254740991', '123456789012345678901234567890', 'NaN', 'Infinity', 'undefined'],
  ...[
    'null',
    'true',
    'false',
    'True',
    'yes',
    '""',
    '"1"',
    '"a"',
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '[{}]',
    '[0]',
  ],
  ...['[1,1,1]', '[-1]', '["a"]', '[1,"a"]', '[1.5]', '{"a":1}', '{"new":1}', '{"new":null,"old":null}'],
  ...['{"new":{"direct_members":[],"direct_subgroups":[]}}', '{"direct_members":[1],"direct_subgroups":[1]}'],
  ...[
    '{',
    '[',
    '"',
    "'",
    '{"a":',
    '[1,',
    '\\',
    '"\\ud800"',
    '["\\u0000"]',
    '{"\\u0000":1}',
    '{"__proto__":{"x":1}}',
  ],
  ...['{"constructor":1}', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '{"toString":1}'],
  ...['%', '%00', '%zz', '../..', '/', '//', '\\..\\', '.', '..', '#', '?', '&', ';', '<b>', '$x', '{{x}}'],
  ...["' OR 1=1 --", '$(id)', '`id`', 'a@b', 'a@b.c', '@', 'a@b@c', 'me', 'newest', 'oldest', 'first_unread'],
  ...['unlimited', 'realm_default', 'role:everyone', 'mobile', 'partial', '2026-01-01', 'https://a.b/'],
  ...[0, 1, 7, 0x1b, 0x7f, 0x85, 0xa0, 0x200b, 0x202e, 0x2028, 0xd800, 0xdfff, 0xfeff, 0xfffe, 0xffff].map(
    (unit) => `a${code(unit)}b`,
  ),
  ...['ﬁ', 'İ', 'ß', 'ẞ', 'ŉ', 'K', 'é', 'e\u0301', '🙂', '👨‍👩‍👧‍👦', '\u202e', 'ΑΣ', 'ａ'],
  ...['[', '{"a":', '['].map((open) => open.repeat(200)),
  `${'['.repeat(60)}${']'.repeat(60)}`,
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  JSON.stringify(Array.from({ length: 2_000 }, (_, i) => i)),
  JSON.stringify(Array.from({ length: 300 }, (_, i) => `name ${i}`)),
  'a'.repeat(61),
];

/** What is longer than a key of the table, or than anything may be. */
const LONG = [
  ...['a'.repeat(1_025), 'a'.repeat(10_001), 'é'.repeat(3_000), '🙂'.repeat(1_500), 'a '.repeat(40_000)],
  ...['@**', '#**', ':', '@*'].map(
    (open) => `${open}${'é'.repeat(3_000)}${[...open].reverse().join('').replace(/[@#]/, '')}`,
  ),
];

/** A text that no client means, whatever the parameter. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 2, arbitrary: fc.constantFrom(...LONG) },
  { weight: 2, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
  { weight: 1, arbitrary: fc.bigInt().map(String) },
  { weight: 1, arbitrary: fc.double().map((number) => JSON.stringify(number) ?? 'null') },
);
