import { describe, expect, it } from 'vitest';
import { render, renderDescription } from '../../shared/markdown/render.ts';
import { KNOWN } from '../support/known-names.ts';

type Example = readonly [says: string, text: string, html: string];

const examples = (rows: readonly Example[]): void => {
  it.each(rows)('%s', (_says, text, html) => {
    expect(render(text, KNOWN).html).toBe(`<p>${html}</p>`);
  });
};

const ADA = '<span class="user-mention" data-user-id="12">@Ada Lovelace</span>';
const SILENT_ADA = '<span class="user-mention silent" data-user-id="12">Ada Lovelace</span>';

describe('mentions', () => {
  examples([
    ['a person', 'hi @**Ada Lovelace**!', `hi ${ADA}!`],
    ['the name is shown as it is, not as it was spelt', '@**ada lovelace**', ADA],
    ['a person by name and ID', '@**Ada Lovelace|12**', ADA],
    ['a person by ID', '@**|12**', ADA],
    ['an ID with the name of another', '@**Grace Hopper|12**', '@<strong>Grace Hopper|12</strong>'],
    ['silently', '@_**Ada Lovelace** @_**|12**', `${SILENT_ADA} ${SILENT_ADA}`],
    ['nobody', '@**Nobody** @**|99**', '@<strong>Nobody</strong> @<strong>|99</strong>'],
    [
      'a hostile name',
      '@**<b>"Mallory"</b>**',
      '<span class="user-mention" data-user-id="66">@&lt;b&gt;&quot;Mallory&quot;&lt;/b&gt;</span>',
    ],
    ['a group', '@*devs*', '<span class="user-group-mention" data-user-group-id="5">@devs</span>'],
    [
      'a group silently',
      '@_*devs*',
      '<span class="user-group-mention silent" data-user-group-id="5">devs</span>',
    ],
    ['no group', '@*nobody*', '@<em>nobody</em>'],
    [
      'everybody in the channel',
      '@**all**',
      '<span class="user-mention channel-wildcard-mention" data-user-id="*">@all</span>',
    ],
    [
      'silently everybody',
      '@_**stream**',
      '<span class="user-mention channel-wildcard-mention silent" data-user-id="*">stream</span>',
    ],
    [
      'everybody in the topic',
      '@**topic** @_**topic**',
      '<span class="topic-mention">@topic</span> <span class="topic-mention silent">topic</span>',
    ],
    ['in emphasis of its own', '**see @**Ada Lovelace** there**', `<strong>see ${ADA} there</strong>`],
    ['in a link', '[@**Ada Lovelace**](/x)', `<a href="/x">${ADA}</a>`],
    ['not over two lines', '@**Ada\nLovelace**', '@**Ada<br>\nLovelace**'],
    ['not in code', '`@**Ada Lovelace**`', '<code>@**Ada Lovelace**</code>'],
  ]);

  it.each([...' \n\t\'"({[/<'].map((before) => [before]))('may follow %j', (before) => {
    expect(render(`x${before}@**Ada Lovelace**`, KNOWN).mentionedUserIds).toEqual([12]);
  });

  it.each([...'xé1)*_>.,:;-@'].map((before) => [before]))('may not follow %j', (before) => {
    expect(render(`x${before}@**Ada Lovelace** x${before}@**all** x${before}@*devs*`, KNOWN)).toMatchObject({
      mentionedUserIds: [],
      mentionedGroupIds: [],
      channelWildcard: false,
    });
  });

  it.each(['all', 'everyone', 'channel', 'stream'])('@**%s** is a wildcard of the channel', (word) => {
    expect(render(`@**${word}**`, KNOWN)).toMatchObject({ channelWildcard: true, topicWildcard: false });
  });

  it('distinguish @**topic** from the wildcards of a channel', () => {
    expect(render('@**topic**', KNOWN)).toMatchObject({ channelWildcard: false, topicWildcard: true });
    expect(render('@**All** @**here**', KNOWN)).toMatchObject({
      channelWildcard: false,
      topicWildcard: false,
    });
  });

  it('are listed once each, in ascending order', () => {
    const text = '@**Ada Lovelace** @**Grace Hopper** @**|12** @*devs* @*devs*';
    expect(render(text, KNOWN)).toMatchObject({ mentionedUserIds: [7, 12], mentionedGroupIds: [5] });
  });

  const everybody = '@**Ada Lovelace** @*devs* @**all** @**topic**';
  const nobody = {
    mentionedUserIds: [],
    mentionedGroupIds: [],
    channelWildcard: false,
    topicWildcard: false,
  };
  it.each([
    ['silent', everybody.replaceAll('@', '@_')],
    ['in code', `\`${everybody}\``],
    ['in a block of code', `\`\`\`\n${everybody}\n\`\`\``],
    ['in indented code', `    ${everybody}`],
    ['quoted', `> ${everybody}`],
    ['in a list in a quote', `> - ${everybody}`],
    ['in a table in a quote', `> a|b\n> -|-\n> ${everybody}|c`],
    ['in a fenced quote', `\`\`\`quote\n${everybody}\n\`\`\``],
    ['in a spoiler in a quote', `\`\`\`quote\n\`\`\`spoiler ${everybody}\n${everybody}\n\`\`\`\n\`\`\``],
  ])('list no user: %s', (_says, text) => {
    expect(render(text, KNOWN)).toMatchObject(nobody);
  });

  it.each([
    ['after a quote', `> a\n\n${everybody}`],
    ['after a fenced quote', `\`\`\`quote\na\n\`\`\`\n${everybody}`],
    ['in a list', `- ${everybody}`],
    ['in a table', `a|b\n-|-\n${everybody}|c`],
    ['in the header of a spoiler', `\`\`\`spoiler ${everybody}\na\n\`\`\``],
    ['in a spoiler', `\`\`\`spoiler\n${everybody}\n\`\`\``],
  ])('include everybody: %s', (_says, text) => {
    expect(render(text, KNOWN)).toMatchObject({
      mentionedUserIds: [12],
      mentionedGroupIds: [5],
      channelWildcard: true,
      topicWildcard: true,
    });
  });

  it('are silent in quotes', () => {
    expect(render('> @**Ada Lovelace**', KNOWN).html).toBe(
      `<blockquote>\n<p>${SILENT_ADA}</p>\n</blockquote>`,
    );
  });
});

describe('channel links', () => {
  const link = (id: number, path: string, text: string, kind = 'stream-topic'): string =>
    `<a class="${kind}" data-stream-id="${id}" href="/#narrow/channel/${path}">${text}</a>`;
  examples([
    ['a channel', 'see #**general**', `see ${link(3, '3-general', '#general', 'stream')}`],
    ['a topic', '#**general>to do**', link(3, '3-general/topic/to.20do', '#general &gt; to do')],
    [
      'a topic with messages, by the newest of them',
      '#**general>with messages**',
      link(3, '3-general/topic/with.20messages/with/77', '#general &gt; with messages'),
    ],
    [
      'a topic of odd characters',
      "#**general>50.5% (it's) <ü>!**",
      link(
        3,
        '3-general/topic/50.2E5.25.20.28it.27s.29.20.3C.C3.BC.3E.21',
        "#general &gt; 50.5% (it's) &lt;ü&gt;!",
      ),
    ],
    ['the empty topic', '#**general>**', link(3, '3-general/topic/', '#general &gt; <em>general chat</em>')],
    [
      'a message',
      '#**general>a@42**',
      '<a class="message-link" href="/#narrow/channel/3-general/topic/a/near/42">#general &gt; a @ 💬</a>',
    ],
    [
      'a channel of odd characters',
      '#**R&D (50%)**',
      link(4, '4-R.26D-.2850.25.29', '#R&amp;D (50%)', 'stream'),
    ],
    ['a channel with a bracket in its name', '#**a>b**', link(9, '9-a.3Eb', '#a&gt;b', 'stream')],
    [
      'no such channel',
      '#**secret** #**secret>a**',
      '#<strong>secret</strong> #<strong>secret&gt;a</strong>',
    ],
    ['not in the middle of a word', 'a#**general**', 'a#<strong>general</strong>'],
    ['no link in a link', '[#**general**](/x)', '<a href="/x">#general</a>'],
    ['not in code', '`#**general**`', '<code>#**general**</code>'],
  ]);

  it('do not count as links for search', () => {
    expect(render('#**general>a**', KNOWN).hasLink).toBe(false);
  });

  it('work in descriptions', () => {
    expect(renderDescription('@**Ada Lovelace** minds #**general**', KNOWN)).toBe(
      `<p>${ADA} minds ${link(3, '3-general', '#general', 'stream')}</p>`,
    );
  });
});
