import { describe, expect, it } from 'vitest';
import table from '../../shared/markdown/emoji-names.json' with { type: 'json' };
import { emojiLines } from '../../shared/markdown/emoji-source.ts';
import { emojiCode, emojiName, isBuiltInEmoji } from '../../shared/markdown/emoji-table.ts';
import { render } from '../../shared/markdown/render.ts';
import { KNOWN } from '../support/known-names.ts';

const drawn = (name: string, code: string): string => {
  const title = name.replaceAll('_', ' ');
  return `<span aria-label="${title}" class="emoji emoji-${code}" role="img" title="${title}">:${name}:</span>`;
};
const PARROT =
  '<img alt=":party_parrot:" class="emoji" src="/user_avatars/2/emoji/images/1.gif" title="party parrot">';

describe('emoji in texts', () => {
  it.each([
    ['a built-in one', 'hi :smile:', `hi ${drawn('smile', '1f604')}`],
    ['another word for it', ':thumbs_up: :+1:', `${drawn('thumbs_up', '1f44d')} ${drawn('+1', '1f44d')}`],
    ['a custom one', ':party_parrot:', PARROT],
    [
      'a custom one in place of a built-in one',
      ':octopus:',
      '<img alt=":octopus:" class="emoji" src="https://example.com/o.png?a=1&amp;b=2" title="octopus">',
    ],
    ['side by side', ':smile::party_parrot:', `${drawn('smile', '1f604')}${PARROT}`],
    ['one that does not exist', ':no_such_thing: 10:30:45 a::b', ':no_such_thing: 10:30:45 a::b'],
    ['one whose image has no safe address', ':evil:', ':evil:'],
    ['in code', '`:smile: 🙂`', '<code>:smile: 🙂</code>'],
    ['a character', 'ok 🙂👍!', `ok ${drawn('slight_smile', '1f642')}${drawn('+1', '1f44d')}!`],
    [
      'joined characters',
      '👨‍👩‍👧‍👦',
      drawn('family_man_woman_girl_boy', '1f468-200d-1f469-200d-1f467-200d-1f466'),
    ],
    [
      'a flag',
      '🇩🇪 :flag_germany:',
      `${drawn('flag_germany', '1f1e9-1f1ea')} ${drawn('flag_germany', '1f1e9-1f1ea')}`,
    ],
    ['a name with other letters', ':piñata:', drawn('piñata', '1fa85')],
    ['a keycap', '1️⃣ 1', `${drawn('one', '0031-20e3')} 1`],
    ['a heart', '❤️', drawn('heart', '2764')],
    ['a skin tone has no name', '👍🏽', '👍🏽'],
    ['signs that are text', '© ™ # 5', '© ™ # 5'],
    ['joined without a mark of their look', '🤷\u200d♀', drawn('woman_shrugging', '1f937-200d-2640')],
    ['joined ones that mean nothing stay together', '🍕\u200d🚀 🍕', `🍕\u200d🚀 ${drawn('pizza', '1f355')}`],
  ])('%s', (_says, text, html) => {
    expect(render(text, KNOWN).html).toBe(`<p>${html}</p>`);
  });
});

describe('emoticons', () => {
  const shown = (text: string, translatesFaces = true): string =>
    render(text, { ...KNOWN, translatesFaces }).html.replace(/^<p>|<\/p>$/g, '');

  it.each([
    ['one', ':)', drawn('slight_smile', '1f642')],
    ['several', ':( ;) <3', `${drawn('frown', '1f641')} ${drawn('wink', '1f609')} ${drawn('heart', '2764')}`],
    ['between marks', '(:P)!', `(${drawn('stuck_out_tongue', '1f61b')})!`],
    ['on each line', ':D\n:D', `${drawn('grinning', '1f600')}<br>\n${drawn('grinning', '1f600')}`],
    ['not in a word or a number', 'a:) :)b 1:)', 'a:) :)b 1:)'],
    ['not in code', '`:)`', '<code>:)</code>'],
    ['not with a space in it', ': )', ': )'],
  ])('%s', (_says, text, html) => {
    expect(shown(text)).toBe(html);
  });

  it('stay text unless the writer turned their translation on', () => {
    expect(shown('hi :) <3', false)).toBe('hi :) &lt;3');
  });

  it('all become known emoji', () => {
    const faces = [':)', '(:', ':(', '<3', ':|', ':/', ';)', ':D', ':P', ':p', ':O', ':o'];
    for (const face of faces)
      expect(shown(face), face).toMatch(/^<span aria-label="[a-z ]+" class="emoji emoji-/);
  });
});

describe('the table of emoji', () => {
  it.each([
    ['smile', '1f604'],
    ['slight_smile', '1f642'],
    ['flag_germany', '1f1e9-1f1ea'],
    ['hammer_and_wrench', '1f6e0'],
    ['heart', '2764'],
    ['tada', '1f389'],
    ['octopus', '1f419'],
    ['working_on_it', '1f6e0'],
    ['time_ticking', '23f3'],
    ['check', '2705'],
    ['dog', '1f415'],
    ['puppy', '1f436'],
    ['melting_face', '1fae0'],
    ['hash', '0023-20e3'],
    ['100', '1f4af'],
  ])('%s is %s', (name, code) => {
    expect(emojiCode(name)).toBe(code);
    expect(isBuiltInEmoji(name)).toBe(true);
  });

  it.each(['', 'no_such_thing', 'constructor', '__proto__', 'SMILE', ':smile:'])(
    '%j is not an emoji',
    (name) => {
      expect(emojiCode(name)).toBeUndefined();
      expect(isBuiltInEmoji(name)).toBe(false);
    },
  );

  const lines = emojiLines()
    .split('\n')
    .map((line) => line.split(' '));

  it('has a code and valid names for every emoji, and no name twice', () => {
    const seen = new Set<string>();
    for (const [code, ...names] of lines) {
      expect(code).toMatch(/^[0-9a-f]{4,5}(-[0-9a-f]{4,5})*$/);
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) {
        expect(name).toMatch(/^[\p{Ll}\p{M}0-9_+-]+$/u);
        expect(seen.has(name), name).toBe(false);
        seen.add(name);
      }
    }
    expect(lines.length).toBeGreaterThan(1800);
  });

  it('has every name of the reference, and displays the first one', () => {
    const codes = Object.entries(table.code_to_names);
    expect(codes).toHaveLength(1_875);
    for (const [code, names] of codes) {
      expect(emojiName(code), code).toBe(names[0]);
      for (const name of names) expect(emojiCode(name), name).toBe(code);
    }
  });
});
