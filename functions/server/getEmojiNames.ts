import { getEmojiNames } from '../../shared/endpoints/server.ts';
import { emojiNames } from '../../shared/markdown/emoji-table.ts';
import { serveDocument } from '../../shared/serve/serve.ts';

export const handler = serveDocument(getEmojiNames, () =>
  JSON.stringify({ code_to_names: Object.fromEntries(emojiNames()) }),
);
