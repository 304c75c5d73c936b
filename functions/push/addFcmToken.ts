import { doAddLegacyToken } from '../../shared/domain/push/legacy-token.ts';
import { addFcmToken } from '../../shared/endpoints/push.ts';
import { serveLegacyToken } from '../../shared/serve/legacy-token.ts';

export const handler = serveLegacyToken(addFcmToken, 'fcm', doAddLegacyToken);
