import { accessProvider, completionUrl } from '../../shared/domain/calls/call-provider.ts';
import { newCallState } from '../../shared/domain/calls/call-state.ts';
import { consentUrl } from '../../shared/domain/calls/call-talk.ts';
import { registerCalls } from '../../shared/endpoints/calls.ts';
import { awsSecrets } from '../../shared/secrets/secrets.ts';
import { Redirection } from '../../shared/serve/reply.ts';
import { serve } from '../../shared/serve/serve.ts';
import { kmsVault } from '../../shared/vault/vault.ts';

export const handler = serve(
  registerCalls,
  {
    run: async ({ input, realm, userId, baseUrl, outside, tools }) => {
      const provider = await accessProvider(outside.environment, tools.secrets, input.provider);
      const who = { realm, userId, provider: provider.name };
      const state = await newCallState(outside, tools.vault, who);
      return new Redirection(consentUrl(provider, completionUrl(baseUrl, provider), state));
    },
  },
  { secrets: awsSecrets, vault: kmsVault },
);
