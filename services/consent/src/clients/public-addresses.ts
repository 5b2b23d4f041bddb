import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** All addresses of a host name, IPv4 and IPv6. Rejects or returns none when it has no address. */
export type ResolveName = (name: string) => Promise<readonly string[]>;

const LOOKUP_MS = 2_000;
const LOOKUP_TRIES = 2;

/** The block from which public IPv6 addresses are assigned (RFC 4291, section 2.4). */
const ASSIGNED_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Whether an address is public unicast, so that no machine of the network around this service has it. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(...ASSIGNED_IPV6);
}

export function isLoopbackAddress(text: string): boolean {
  return isIP(text) !== 0 && ipaddr.process(text).range() === 'loopback';
}

/** Resolves by DNS only, within some seconds. The hosts file and the search list of this machine are not used. */
export async function resolveByDns(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: LOOKUP_MS, tries: LOOKUP_TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
