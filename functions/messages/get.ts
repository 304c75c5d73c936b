import { isId } from '../../shared/domain/channel/channel-access.ts';
import { loadForTelling, tellMessages } from '../../shared/domain/fetch/message-tell.ts';
import { Reader } from '../../shared/domain/fetch/reader.ts';
import type { Pointer } from '../../shared/domain/pointer.ts';
import { refusal } from '../../shared/domain/problems.ts';
import { getMessage } from '../../shared/endpoints/messages.ts';
import type { Slot } from '../../shared/log/slot.ts';
import { serve } from '../../shared/serve/serve.ts';

const pointers = ({ message_id: id }: { readonly message_id: number }): Pointer[] =>
  isId(id) ? [{ kind: 'message', id }] : [];

export const handler = serve(getMessage, {
  pointers,
  load: async ({ input, known, outside, realm, userId }) => {
    const [slot] = pointers(input).map((pointer) => known.follow<Slot>(pointer));
    if (slot?.kind !== 'message') return undefined;
    const reader = new Reader(outside, realm, userId);
    reader.keep([slot]);
    await loadForTelling(reader, [slot]);
    return { reader, stored: slot };
  },
  run: async ({ input, outside, caller }, loaded) => {
    if (loaded === undefined) throw refusal('invalidMessages');
    const { reader, stored } = loaded;
    const [message] = await tellMessages(outside, caller, reader, [stored], {
      applyMarkdown: input.apply_markdown ?? true,
      emptyTopicName: input.allow_empty_topic_name ?? false,
      clientGravatar: input.client_gravatar ?? true,
    });
    if (message === undefined) throw refusal('invalidMessages');
    return { message, raw_content: stored.content };
  },
});
