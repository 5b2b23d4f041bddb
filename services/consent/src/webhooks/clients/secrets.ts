import { createHmac } from 'node:crypto';
import type { WebhookSecrets } from '../app/ports.ts';

/**
 * Secrets and signatures of Standard Webhooks, symmetric (`v1`). A secret is derived from the service's key, so that the database does not
 * contain it.
 */
export function createWebhookSecrets(key: Uint8Array): WebhookSecrets {
  const derive = (endpointId: string, version: number) =>
    createHmac('sha256', key).update(`webhook ${endpointId} ${version}`).digest();
  return {
    secretOf: (endpointId, version) => `whsec_${derive(endpointId, version).toString('base64')}`,
    sign({ id: endpointId, secretVersion, isOverlapping }, { id, timestamp, body }) {
      const versions = isOverlapping ? [secretVersion, secretVersion - 1] : [secretVersion];
      return versions
        .map((version) => createHmac('sha256', derive(endpointId, version)))
        .map((hmac) => `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`)
        .join(' ');
    },
  };
}
