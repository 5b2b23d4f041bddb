/**
 * The limit key of a client: an IPv4 address, or the /64 network of an IPv6 address, because one client usually owns the whole /64.
 */
export function toAddressKey(address: string): string {
  return toNetwork(address, 4);
}

/** The network of a client: an IPv4 address, or so many of the eight groups of an IPv6 address. */
export function toNetwork(address: string, groupCount: number): string {
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
  if (!plain.includes(':')) return plain;
  const [head = '', tail = ''] = (plain.split('%')[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = plain.includes('::') ? Array.from({ length: 8 - left.length - right.length }, () => '0') : [];
  const groups = [...left, ...zeros, ...right].slice(0, groupCount);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}
