import { checkHasToken, doRemoveLegacyToken } from '../../shared/domain/push/legacy-token.ts';
import { removeApnsToken } from '../../shared/endpoints/push.ts';
import { serveLegacyToken } from '../../shared/serve/legacy-token.ts';

export const handler = serveLegacyToken(removeApnsToken, 'apns', doRemoveLegacyToken, checkHasToken);
