import type { Stack } from '@phds/dev-stack/stack';

/** Names the gateway and the development identity provider of a deployment that runs already, such as that of docker-compose.yml. */
const GATEWAY = 'E2E_GATEWAY_URL';
const IDENTITY_PROVIDER = 'E2E_IDENTITY_PROVIDER_URL';

type GivenDeployment = Stack & { readonly gateway: string };

/** What of a stack is out of reach in a deployment. */
const OWN_ONLY = [
  'processes',
  'adminDatabaseUrl',
  'databases',
  'redis',
  'keys',
  'rpcAddresses',
  'internalUrls',
  'probeUrls',
  'logs',
  'serviceTokens',
] as const satisfies readonly (keyof Stack)[];

/**
 * The deployment that the environment names; null when it names none. Tests can use it as any partner and person can, over HTTP: for
 * all else that a stack of our own has (processes, databases, keys) it throws.
 */
export function findGivenDeployment(env: NodeJS.ProcessEnv): GivenDeployment | null {
  const gateway = env[GATEWAY];
  if (gateway === undefined) return null;
  const identityProviderUrl = env[IDENTITY_PROVIDER];
  if (identityProviderUrl === undefined) throw new Error(`${GATEWAY} is set and ${IDENTITY_PROVIDER} is not`);
  const stack: Partial<GivenDeployment> = {
    gateway,
    gatewayUrls: [gateway],
    identityProviderUrl,
    [Symbol.asyncDispose]: async () => undefined,
  };
  for (const name of OWN_ONLY) {
    Object.defineProperty(stack, name, {
      get() {
        throw new Error(
          `this test needs ${name}, which only a stack of our own has: run it without ${GATEWAY}`,
        );
      },
    });
  }
  return stack as GivenDeployment;
}
