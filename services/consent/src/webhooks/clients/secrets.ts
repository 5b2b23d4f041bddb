import { createHmac } from 'node:crypto';
import type { WebhookSecrets } from '../app/ports.ts';
import { type HostWebhook, isHostId } from '../host-webhooks.ts';

/**
 * Secrets and signatures of Standard Webhooks, symmetric (`v1`). The secret of an app's endpoint is derived from the service's key, so that
 * the database does not contain it.
 */
export function createWebhookSecrets(key: Uint8Array, hosts: readonly HostWebhook[] = []): WebhookSecrets {
  const ofHost = new Map(hosts.map(({ id, secret }) => [id, secret]));
  const derive = (endpointId: string, version: number) =>
    createHmac('sha256', key).update(`webhook ${endpointId} ${version}`).digest();
  return {
    secretOf: (endpointId, version) => `whsec_${derive(endpointId, version).toString('base64')}`,
    sign({ id: endpointId, secretVersion, isOverlapping }, { id, timestamp, body }) {
      const own = ofHost.get(endpointId);
      // While replicas are restarted with other settings. One that has the secret takes the event over when the lease ends.
      if (own === undefined && isHostId(endpointId)) throw new Error(`HOST_WEBHOOKS has no ${endpointId}`);
      const versions = isOverlapping ? [secretVersion, secretVersion - 1] : [secretVersion];
      const keys = own === undefined ? versions.map((version) => derive(endpointId, version)) : [own];
      return keys
        .map((each) => createHmac('sha256', each))
        .map((hmac) => `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`)
        .join(' ');
    },
  };
}
