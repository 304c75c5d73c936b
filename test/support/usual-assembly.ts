import { assemble } from '../../infra/local/assembly.ts';
import { readConfiguration } from '../../infra/local/configuration.ts';
import { relayContext } from '../../infra/local/push-relay.ts';

/** Names the folder of the assembly in the environment of a run of all tests. */
export const ASSEMBLY = 'PARLANCE_ASSEMBLY';

/** What tests that start the service set, unless they want something else: no limits for clients, and a store of its own. */
export const usualEnvironment: Readonly<Record<string, string>> = {
  DYNAMODB_ENDPOINT: '',
  API_RATE_LIMIT: '0',
};

/**
 * Builds every function and synthesizes the template for these settings. Services of a run of all tests begin with it, so that
 * they do so only if they have other settings.
 */
export async function assembleUsual(outdir: string): Promise<void> {
  await assemble(outdir, { ...readConfiguration(usualEnvironment).context, ...relayContext });
}
