import { AppError } from '@phds/service-kit/errors';
import { type Metrics, measurePools, measureRestores } from '@phds/service-kit/telemetry/metrics';
import { isPublic } from './app.ts';
import type { ClientAuthentication } from './client-authentication.ts';

/** The metrics of authorization. docs/operations/observability.md lists all of them. */
export function createAuthorizationMetrics(metrics: Metrics) {
  return {
    measurePools: (pools: Parameters<typeof measurePools>[1]) => measurePools(metrics, pools),
    measureRestores: (guard: Parameters<typeof measureRestores>[1]) => measureRestores(metrics, guard),
    createIssueCounter: (grantTypes: readonly string[]) => createIssueCounter(metrics, grantTypes),
    countKeyFetch: createKeyFetchCounter(metrics),
    measureClients: (clients: ClientAuthentication) => measureClients(metrics, clients),
  };
}

export type AuthorizationMetrics = ReturnType<typeof createAuthorizationMetrics>;

function createIssueCounter(metrics: Metrics, grantTypes: readonly string[]): (grantType: string) => void {
  const issued = metrics.counter({
    name: 'phds_tokens_issued_total',
    help: 'Answers of the token endpoint with an access token.',
    labels: ['grant_type'],
  });
  for (const grantType of grantTypes) issued.inc({ grant_type: grantType }, 0);
  return (grantType) => issued.inc({ grant_type: grantType });
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
  };
}
