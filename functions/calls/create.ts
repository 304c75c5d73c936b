import { awsSecrets } from '../../shared/adapters/secrets.ts';
import { kmsVault } from '../../shared/adapters/vault.ts';
import { createCall } from '../../shared/domain/calls/create.ts';
import { accessProvider } from '../../shared/domain/calls/provider.ts';
import { createCall as declaration } from '../../shared/endpoints/calls.ts';
import { serveByRole } from '../../shared/serve/serve.ts';

const LETTERS = 'abcdefghijkmnpqrstuvwxyz';

export const handler = serveByRole(
  declaration,
  {
    run: async ({ input, realm, userId, caller, outside, clients }) => {
      const provider = await accessProvider(outside.environment, clients.secrets, input.provider);
      const holder = { realm, userId, provider };
      const url = await createCall(
        { outside, vault: clients.vault, holder },
        {
          title: caller.realm.name,
          isVideoCall: input.is_video_call ?? true,
          now: outside.now(),
          password: Array.from(outside.randomBytes(5), (byte) => LETTERS[byte % LETTERS.length]).join(''),
        },
      );
      return { url };
    },
  },
  { secrets: awsSecrets, vault: kmsVault },
);
