/**
 * What the operator states about the deployment. The build writes the name of the statement in double braces, which the gateway replaces in
 * the page; in the browser, the values come from the `meta` element that the gateway fills.
 */
export function Deployment({ of }: { of: string }): string {
  if (typeof document === 'undefined') return `{{${of}}}`;
  const stated = document.querySelector<HTMLMetaElement>('meta[name="deployment"]')?.content ?? '{}';
  return (JSON.parse(stated) as Record<string, string>)[of] ?? 'not stated';
}
Deployment.props = ['of'];
