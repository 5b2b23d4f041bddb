import { createHmac, hkdfSync } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/**
 * The limit key of a client: an IPv4 address, or the /64 network of an IPv6 address, because one client usually owns the whole /64.
 */
export function toAddressKey(address: string): string {
  return toNetwork(address, 4);
}

/** The network of a client: an IPv4 address, or so many of the eight groups of an IPv6 address. */
function toNetwork(text: string, groupCount: number): string {
  const address = withoutPort(text);
  if (!ipaddr.isValid(address)) return NO_ADDRESS;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const groups = (parsed as ipaddr.IPv6).parts.slice(0, groupCount);
  return groups.map((group) => group.toString(16)).join(':');
}

/** The key of whatever is no address: a caller who can write texts here would have a limit for each. */
const NO_ADDRESS = 'none';

/** The address alone. An IPv4 client of a port that also listens on IPv6 has an address like `::ffff:192.0.2.1`. */
export function toPlainAddress(text: string): string {
  return withoutPort(text).replace(/^::ffff:(?=\d+\.)/i, '');
}

/** Some proxies write `192.0.2.1:50001` or `[2001:db8::7]:443` into X-Forwarded-For. */
function withoutPort(address: string): string {
  const { v4, v6 } = /^(?:(?<v4>[\d.]+):\d+|\[(?<v6>[^\]]+)\](?::\d+)?)$/.exec(address)?.groups ?? {};
  return v4 ?? v6 ?? address;
}

/**
 * Returns what names a client's network without telling its address: a keyed hash of an IPv4 address, or of the /48 network of an IPv6
 * address, of which one customer may own the whole. All gateways with one key name it alike.
 */
export function createNetworkNames(secret: string): (address: string) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'phds networks of anonymous requests', 32));
  return (address) => createHmac('sha256', key).update(toNetwork(address, 3)).digest('base64url');
}
