import { createHmac, hkdfSync } from 'node:crypto';
import { toNetwork } from '../domain/client-address.ts';

/**
 * Returns what names a client's network without telling its address: a keyed hash of an IPv4 address, or of the /48 network of an IPv6
 * address, of which one customer may own the whole. All gateways with one key name it alike.
 */
export function createNetworkNames(secret: string): (address: string) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'phds networks of anonymous requests', 32));
  return (address) => createHmac('sha256', key).update(toNetwork(address, 3)).digest('base64url');
}
