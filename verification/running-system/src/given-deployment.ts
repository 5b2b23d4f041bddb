import type { Stack } from '@phds/local-stack/stack';

/** The URLs of the gateway and the development identity provider of a running deployment, such as that of docker-compose.yml. */
const GATEWAY = 'E2E_GATEWAY_URL';
const IDENTITY_PROVIDER = 'E2E_IDENTITY_PROVIDER_URL';

type GivenDeployment = Stack & { readonly gateway: string };

/** The parts of a stack that are not accessible in a deployment. */
const OWN_ONLY = [
  'processes',
  'adminDatabaseUrl',
  'databases',
  'redis',
  'keys',
  'rpcAddresses',
  'connectUrls',
  'probeUrls',
  'gatewayProbeUrls',
  'logs',
  'serviceTokens',
] as const satisfies readonly (keyof Stack)[];

/**
 * The deployment named by the environment; null when there is none. Tests can use it over HTTP as a partner or a person. It throws
 * for everything else that a local stack has (processes, databases, keys).
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
