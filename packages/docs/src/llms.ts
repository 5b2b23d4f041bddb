import type { NavigationGroup } from './layout.ts';
import { toMarkdownPath } from './links.ts';
import type { SitePage } from './site-page.ts';

/** The overview for language models (llmstxt.org): every page with its Markdown address and its first paragraph. */
export function toLlmsText(site: readonly SitePage[], navigation: readonly NavigationGroup[]): string {
  const byPath = new Map(site.map((page) => [page.path, page]));
  const toLine = (path: string) => {
    const { page } = byPath.get(path) ?? fail(path);
    return `- [${page.title}](${toMarkdownPath(path)}): ${page.summary}\n`;
  };
  const groups = navigation.map(
    ({ title, links }) => `## ${title}\n\n${links.map(({ path }) => toLine(path)).join('')}`,
  );
  return `# Partner Health Data Service

> ${byPath.get('/docs')?.page.summary}

Machine-readable: [OpenAPI 3.1](/openapi.json), [scopes, endpoints, metric types](/catalog.json),
[authorization server metadata](/.well-known/oauth-authorization-server).

${groups.join('\n')}`;
}

function fail(path: string): never {
  throw new Error(`No page ${path}.`);
}
