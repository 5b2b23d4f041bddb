/** What the gateway has put into the document about the deployment. */
interface Deployment {
  readonly operator?: string;
  readonly privacyUrl?: string;
  /** `https:` or `mailto:`. */
  readonly supportUrl?: string;
}

/** Who runs this deployment, and where it answers; without what is not set. */
export function readDeployment(): Deployment {
  const json = document.querySelector<HTMLMetaElement>('meta[name="deployment"]')?.content ?? '';
  try {
    return JSON.parse(json) as Deployment;
  } catch {
    // The document was not served by the gateway.
    return {};
  }
}
