import { AppError } from '@phds/service-kit/errors';
import { type Metrics, measurePools, measureRestores } from '@phds/service-kit/telemetry/metrics';
import type { ClientAuthentication } from './app/client-authentication.ts';
import type { TokenGrant } from './app/token-grants.ts';
import { isPublic } from './domain/app.ts';

/** The metrics of authorization. docs/operations/observability.md describes all of them. */
export function createAuthorizationMetrics(metrics: Metrics) {
  return {
    measurePools: (pools: Parameters<typeof measurePools>[1]) => measurePools(metrics, pools),
    measureRestores: (guard: Parameters<typeof measureRestores>[1]) => measureRestores(metrics, guard),
    measureGrants: (grants: Readonly<Record<string, TokenGrant>>) => measureGrants(metrics, grants),
    countKeyFetch: createKeyFetchCounter(metrics),
    measureClients: (clients: ClientAuthentication) => measureClients(metrics, clients),
  };
}

export type AuthorizationMetrics = ReturnType<typeof createAuthorizationMetrics>;

/** Counts the successful calls of each grant of the token endpoint. */
function measureGrants(
  metrics: Metrics,
  grants: Readonly<Record<string, TokenGrant>>,
): Readonly<Record<string, TokenGrant>> {
  const issued = metrics.counter({
    name: 'phds_tokens_issued_total',
    help: 'Answers of the token endpoint with an access token.',
    labels: ['grant_type'],
  });
  const measured = Object.entries(grants).map(([grantType, grant]) => {
    issued.inc({ grant_type: grantType }, 0);
    const measuredGrant: TokenGrant = async (app, parameters) => {
      const tokens = await grant(app, parameters);
      issued.inc({ grant_type: grantType });
      return tokens;
    };
    return [grantType, measuredGrant] as const;
  });
  return Object.fromEntries(measured);
}

function createKeyFetchCounter(metrics: Metrics): (result: 'fetched' | 'failed') => void {
  const fetches = metrics.counter({
    name: 'phds_key_fetches_total',
    help: 'Attempts to fetch the keys of an app from its jwksUri.',
    labels: ['result'],
  });
  for (const result of ['fetched', 'failed']) fetches.inc({ result }, 0);
  return (result) => fetches.inc({ result });
}

/** Counts client authentications. Requests without a credential count only where one is required. */
function measureClients(metrics: Metrics, clients: ClientAuthentication): ClientAuthentication {
  const results = metrics.counter({
    name: 'phds_client_authentications_total',
    help: 'Authentications of apps by secret or assertion.',
    labels: ['result'],
  });
  for (const result of ['accepted', 'refused']) results.inc({ result }, 0);
  const count = (isAccepted: boolean) => results.inc({ result: isAccepted ? 'accepted' : 'refused' });
  const counting =
    (authenticate: ClientAuthentication['authenticate']): ClientAuthentication['authenticate'] =>
    async (credentials) => {
      try {
        const app = await authenticate(credentials);
        // Everybody can name an app without a secret.
        if (!isPublic(app)) count(true);
        return app;
      } catch (error) {
        if (error instanceof AppError && error.reason === 'unauthorized') count(false);
        throw error;
      }
    };
  return {
    async identify(credentials) {
      const presented = await clients.identify(credentials);
      if (presented.credentialSent) count(presented.authenticated);
      return presented;
    },
    authenticate: counting(clients.authenticate),
    authenticateConfidential: counting(clients.authenticateConfidential),
    check: counting(clients.check),
  };
}
