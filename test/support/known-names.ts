import type { ResolvedReferences } from '../../shared/markdown/references.ts';

const ada = { id: 12, fullName: 'Ada Lovelace' };
const mallory = { id: 66, fullName: '<b>"Mallory"</b>' };

/** An organization as the examples know it. */
export const KNOWN: ResolvedReferences = {
  usersByName: new Map([
    ['Ada Lovelace', ada],
    ['ada lovelace', ada],
    ['Grace Hopper', { id: 7, fullName: 'Grace Hopper' }],
    [mallory.fullName, mallory],
  ]),
  usersById: new Map([[12, ada]]),
  groups: new Map([['devs', { id: 5, name: 'devs' }]]),
  channels: new Map([
    ['general', { id: 3, name: 'general', newestByTopic: new Map([['with messages', 77]]) }],
    ['R&D (50%)', { id: 4, name: 'R&D (50%)' }],
    ['a>b', { id: 9, name: 'a>b' }],
  ]),
  emoji: new Map([
    ['party_parrot', { sourceUrl: '/user_avatars/2/emoji/images/1.gif' }],
    ['octopus', { sourceUrl: 'https://example.com/o.png?a=1&b=2' }],
    ['evil', { sourceUrl: 'javascript:alert(1)' }],
  ]),
};
