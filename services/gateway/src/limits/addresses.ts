import { createHmac, hkdfSync } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/**
 * The limit key of a client: an IPv4 address, or the /64 network of an IPv6 address, because one client usually owns the whole /64.
 */
export function toAddressKey(address: string): string {
  return toNetwork(address, 4);
}

/** The network of a client: an IPv4 address, or so many of the eight groups of an IPv6 address. */
function toNetwork(address: string, groupCount: number): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const groups = (parsed as ipaddr.IPv6).parts.slice(0, groupCount);
  return groups.map((group) => group.toString(16)).join(':');
}

/**
 * Returns what names a client's network without telling its address: a keyed hash of an IPv4 address, or of the /48 network of an IPv6
 * address, of which one customer may own the whole. All gateways with one key name it alike.
 */
export function createNetworkNames(secret: string): (address: string) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'phds networks of anonymous requests', 32));
  return (address) => createHmac('sha256', key).update(toNetwork(address, 3)).digest('base64url');
}
