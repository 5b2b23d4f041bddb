import { SANDBOX_USER_PREFIX, SELF_TEST_APP } from '@phds/catalog/sandbox';
import { AppError } from '@phds/service-kit/errors';
import { equalHash } from '@phds/service-kit/secrets';
import { parseRegistration } from '../domain/app-settings.ts';
import { addSeconds } from '../domain/token.ts';
import { type AppsDependencies, putNewApp, toTrace } from './apps.ts';
import type { Credential } from './ports.ts';

/** How long a replaced secret works, so that gateways can be restarted one after the other. */
const OVERLAP_SECONDS = 3_600;

const SETTINGS = parseRegistration({
  name: 'Self-test',
  description: 'With this app the gateways test that a revocation takes effect. The deployment has made it.',
  redirectUris: [SELF_TEST_APP.redirectUri],
  scopes: [SELF_TEST_APP.scope],
});

/**
 * Returns a function that registers the app of the gateways' self-test, or gives it the secret of the settings. It may run at any time
 * and at several replicas at once. It leaves a status that an operator has set. Throws `conflict` if the app is a developer's.
 */
export function createSelfTestApp(
  dependencies: Pick<AppsDependencies, 'apps' | 'ledger' | 'clock'> & {
    readonly log: { info(fields: object, message: string): void };
  },
  { clientId, clientSecret }: { readonly clientId: string; readonly clientSecret: string },
): () => Promise<void> {
  const { apps, ledger, clock, log } = dependencies;
  const secret = toTrace(clientSecret);
  // Nobody has a session of this user. Each app has an owner of its own, so of two replicas one registers it.
  const ownerId = `${SANDBOX_USER_PREFIX}${clientId}`;
  return async () => {
    const found = await apps.findCredential(clientId);
    if (found === null) {
      const named = { ...SETTINGS, clientId, ownerId, applicationType: 'server' as const };
      const app = await putNewApp(dependencies, named, secret, { limit: 1, waits: false });
      if (app !== null) log.info({ clientId }, 'registered the app of the self-test');
      return;
    }
    if (found.app.ownerId !== ownerId) {
      throw new AppError('conflict', 'The app of SELF_TEST_CLIENT_ID belongs to a developer.');
    }
    // A restored ledger may lack it.
    await ledger.putApp(found.app);
    const now = clock.now();
    if (isAccepted(found, secret.hash, now)) return;
    const replaced = await apps.replaceSecret(clientId, secret, now, addSeconds(now, OVERLAP_SECONDS));
    if (replaced) log.info({ clientId }, 'replaced the secret of the app of the self-test');
  };
}

/**
 * Whether this is the secret, or the one before it that still works: a replica that is not yet restarted with the new secret must not put
 * its own back.
 */
function isAccepted({ secretHash, previous }: Credential, hash: Uint8Array, now: Date): boolean {
  if (secretHash !== null && equalHash(hash, secretHash)) return true;
  return previous !== null && previous.expiresAt > now && equalHash(hash, previous.hash);
}
