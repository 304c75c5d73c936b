import { emojiObjects } from '../../shared/domain/emoji/emoji.ts';
import { listEmoji } from '../../shared/endpoints/emoji.ts';
import { loadList } from '../../shared/kernel/list-cache.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listEmoji, {
  load: ({ outside, realm }) => loadList(outside, 'emoji', realm),
  run: (_, emoji) => ({ emoji: emojiObjects(emoji) }),
});
