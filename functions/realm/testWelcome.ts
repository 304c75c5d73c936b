import { doSendNotice, loadNoticeConversation } from '../../shared/domain/send/direct-notice.ts';
import { testWelcome } from '../../shared/endpoints/invites.ts';
import { checkContent, normalizedContent } from '../../shared/model/message/message.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

export const handler = serveByRole(testWelcome, {
  parse: ({ welcome_message_custom_text: given }) => {
    const content = normalizedContent(given);
    checkContent(content);
    return content;
  },
  reserve: 1,
  run: async ({ input: content, caller, realm, userId, outside, commit }) => {
    const place = await loadNoticeConversation(outside, realm, caller.realm.noticeBotId, userId);
    const now = outside.now();
    const { id } = await commit(1, (numbers) => doSendNotice(realm, place, content, now, numbers));
    return { message_id: id };
  },
});
