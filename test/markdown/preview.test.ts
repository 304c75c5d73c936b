import { describe, expect, it } from 'vitest';
import { NOTHING_RESOLVED, type ResolvedImage } from '../../shared/markdown/references.ts';
import { render } from '../../shared/markdown/render.ts';
import { inspect } from './safe-html.ts';

const imageAt = (url: string, isAnimated = false): ResolvedImage => ({
  url,
  thumbnailUrl: url.replace('/user_uploads/', '/user_uploads/thumbnail/').concat('/840x560.webp'),
  contentType: 'image/png',
  width: 1920,
  height: 1080,
  isAnimated,
});

/** Images by the ends of their addresses; `film` moves. */
const images = {
  get: (href: string): ResolvedImage | undefined => {
    const path = href.replace(/^https:\/\/chat\.example(?=\/)/, '');
    if (!/^\/user_uploads\/\w+\.png$/.test(path)) return undefined;
    return imageAt(path, path.includes('film'));
  },
};

const rendered = (text: string) => render(text, { ...NOTHING_RESOLVED, images });

/** The markup of a preview, as clients look for it. */
const preview = (name: string, title: string | undefined = name, moving = '') =>
  `<div class="message_inline_image"><a href="/user_uploads/${name}.png"${title === '' ? '' : ` title="${title}"`}>` +
  `<img ${moving}data-original-content-type="image/png" data-original-dimensions="1920x1080" ` +
  `src="/user_uploads/thumbnail/${name}.png/840x560.webp"></a></div>`;

const link = (name: string) => `<a href="/user_uploads/${name}.png">${name}</a>`;
const written = (name: string) => `[${name}](/user_uploads/${name}.png)`;
const ADDRESS = 'https://chat.example/user_uploads/a.png';

describe('previews of images', () => {
  it.each([
    ['after the paragraph', `see ${written('a')}!`, `<p>see ${link('a')}!</p>\n${preview('a')}`],
    [
      'of what moves',
      written('film'),
      `<p>${link('film')}</p>\n${preview('film', 'film', 'data-animated="true" ')}`,
    ],
    [
      'of several, in their order, before what follows',
      `${written('a')} ${written('b')}\n\nend`,
      `<p>${link('a')} ${link('b')}</p>\n${preview('a')}${preview('b')}<p>end</p>`,
    ],
    [
      'once each',
      `${written('a')}\n\n${written('a')}`,
      `<p>${link('a')}</p>\n${preview('a')}<p>${link('a')}</p>`,
    ],
    ['in place of an address alone', ADDRESS, preview('a', '')],
    [
      'beside an address with a text',
      `${ADDRESS} there`,
      `<p><a href="${ADDRESS}">${ADDRESS}</a> there</p>\n${preview('a', '')}`,
    ],
    ['in a list', `* ${written('a')}\n* b`, `<ul>\n<li>${link('a')}${preview('a')}</li>\n<li>b</li>\n</ul>`],
    ['after a heading', `# ${written('a')}\n\nb`, `<h1>${link('a')}</h1>\n${preview('a')}<p>b</p>`],
    [
      'with a text that is no markup',
      '[<b>"](/user_uploads/a.png)',
      `<p><a href="/user_uploads/a.png">&lt;b&gt;&quot;</a></p>\n${preview('a', '&lt;b&gt;&quot;')}`,
    ],
  ])('appear %s', (_, text, html) => {
    expect(rendered(text).html).toBe(html);
  });

  it.each([
    ['a quote', `> ${written('a')}`],
    ['code', '`/user_uploads/a.png`'],
    ['a link elsewhere', '[a](https://example.com/a.png)'],
    ['a file that is no image', '[a](/user_uploads/a.txt)'],
    ['a text with more than 24 links', Array.from({ length: 25 }, (_, i) => written(`a${i}`)).join(' ')],
  ])('are not made of %s', (_, text) => {
    expect(rendered(text).html).toBe(render(text, NOTHING_RESOLVED).html);
  });

  it('of 24 links are all made', () => {
    const text = Array.from({ length: 24 }, (_, i) => written(`a${i}`)).join(' ');
    expect(rendered(text).html.match(/message_inline_image/g)).toHaveLength(24);
  });

  it('leave the links of the text as they are, also of a hidden address', () => {
    for (const text of [ADDRESS, `> ${written('a')}`, written('b')]) {
      expect(rendered(text).links).toEqual(render(text, NOTHING_RESOLVED).links);
    }
  });

  it.each([written('a'), ADDRESS, `* ${ADDRESS}`, `\`\`\`spoiler ${written('a')}\n${written('b')}\n\`\`\``])(
    'are safe HTML: %s',
    (text) => {
      expect(rendered(text).html).toContain('message_inline_image');
      expect(inspect(rendered(text).html).problem).toBeUndefined();
    },
  );
});
