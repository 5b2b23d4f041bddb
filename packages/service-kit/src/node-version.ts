/**
 * Throws on a Node with which a service is not safe. Before 24.14.1, and in 25, a header `__proto__` ends the process (CVE-2026-21710);
 * before 24.5 proxies are ignored (`proxyEnv` of https.Agent).
 */
export function refuseUnsafeNode(version = process.versions.node): void {
  const isFixed = version.localeCompare('24.14.1', 'en', { numeric: true }) >= 0;
  if (isFixed && !version.startsWith('25.')) return;
  throw new Error(`Node ${version} cannot be used: 24.14.1 or a later 24 is needed, or 26`);
}
