import { sqsQueues } from '../../shared/adapters/queues.ts';
import { addDeviceKey } from '../../shared/domain/account/device-key.ts';
import { deviceName } from '../../shared/domain/account/device-name.ts';
import { spendLoginToken } from '../../shared/domain/single-sign-on/login-token.ts';
import { accessPerson } from '../../shared/domain/single-sign-on/person.ts';
import { useLoginToken } from '../../shared/endpoints/single-sign-on.ts';
import { badRequest } from '../../shared/kernel/errors.ts';
import { accessHost } from '../../shared/model/realm/hosts.ts';
import { seeOther, servePageToAnyone } from '../../shared/serve/page.ts';
import { beginSession } from '../../shared/serve/session.ts';

export const handler = servePageToAnyone(
  useLoginToken,
  async (request) => {
    const { input, host, baseUrl, userAgent, fromOtherSite, outside, clients } = request;
    // Otherwise a page of another site could sign its visitors in as somebody else.
    if (fromOtherSite) throw badRequest('A link of another site cannot sign you in.');
    const { realm } = await accessHost(outside, host);
    const claimed = await spendLoginToken(outside, realm, input.token);
    const person = await accessPerson(outside, realm, { email: claimed });
    const apiKey = await addDeviceKey(outside, clients.queues, person, deviceName(userAgent));
    return seeOther(baseUrl, '/account', beginSession(baseUrl, person.email, apiKey));
  },
  { queues: sqsQueues },
);
