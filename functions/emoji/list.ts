import { emojiObjects, loadEmoji } from '../../shared/domain/emoji/emoji.ts';
import { listEmoji } from '../../shared/endpoints/emoji.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(listEmoji, {
  load: ({ outside, realm }) => loadEmoji(outside, realm),
  run: (_, emoji) => ({ emoji: emojiObjects(emoji) }),
});
