import { createHmac } from 'node:crypto';
import { type HostWebhook, isHostId } from './host-webhooks.ts';
import type { ClaimedEvent } from './queue.ts';

export type WebhookSecrets = ReturnType<typeof createWebhookSecrets>;

/**
 * Secrets and signatures of Standard Webhooks, symmetric (`v1`). The secret of an app's endpoint is derived from the service's key, so that
 * the database does not contain it.
 */
export function createWebhookSecrets(key: Uint8Array, hosts: readonly HostWebhook[] = []) {
  const ofHost = new Map(hosts.map(({ id, secret }) => [id, secret]));
  const derive = (endpointId: string, version: number) =>
    createHmac('sha256', key).update(`webhook ${endpointId} ${version}`).digest();
  return {
    /** The secret as its developer configures it: `whsec_…`. */
    secretOf: (endpointId: string, version: number) =>
      `whsec_${derive(endpointId, version).toString('base64')}`,
    /** The value of `webhook-signature`. */
    sign(
      {
        id: endpointId,
        secretVersion,
        isOverlapping,
      }: Pick<ClaimedEvent['endpoint'], 'id' | 'secretVersion' | 'isOverlapping'>,
      { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
    ): string {
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
