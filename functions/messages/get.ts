import { parseRenderOptions } from '../../shared/domain/fetch/fetch.ts';
import { loadWithContext, serializeMessages } from '../../shared/domain/fetch/serialize.ts';
import { Reader } from '../../shared/domain/reader/reader.ts';
import { messageLookupKeys, resolvedMessage } from '../../shared/domain/reader/target.ts';
import { getMessage } from '../../shared/endpoints/messages.ts';
import { refusal } from '../../shared/kernel/errors.ts';
import { serve } from '../../shared/serve/serve.ts';

export const handler = serve(getMessage, {
  keys: (input) => messageLookupKeys(input.message_id),
  load: async ({ input, resolved, outside, realm, userId }) => {
    const stored = resolvedMessage(resolved, input.message_id);
    if (stored === undefined) return undefined;
    const reader = new Reader(outside, realm, userId);
    reader.keep([stored]);
    await loadWithContext(reader, [stored]);
    return { reader, stored };
  },
  run: async ({ input, outside, caller }, loaded) => {
    if (loaded === undefined) throw refusal('invalidMessages');
    const { reader, stored } = loaded;
    const [message] = await serializeMessages(outside, caller, reader, [stored], parseRenderOptions(input));
    if (message === undefined) throw refusal('invalidMessages');
    return { message, raw_content: stored.content };
  },
});
