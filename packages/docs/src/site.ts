import { PROBLEM_CODES, toProblemType } from '@phds/catalog/problems';
import { toProblemPage } from './problem-pages.ts';
import { GROUPS, readPages, titleOf } from './source.ts';

const LINK = /\[([^\]]+)\]\(([^)\s]+)\)/g;
const PAGE = /^([\w-]+)\.md(?:#(.+))?$/;

/** The Markdown of the site by its path below `/docs`: the guides, and a page for each error code. */
export function toSite(): Map<string, string> {
  const guides = readPages().map(({ slug, markdown }) => [toName(slug), markdown] as const);
  const problems = PROBLEM_CODES.map((code) => [toProblemType(code).slice(1), toProblemPage(code)] as const);
  return new Map([...guides, ...problems]);
}

/** A page as VitePress reads it: links to other pages by their path on the site, other paths of the service as links that leave the site. */
export function toVitePress(markdown: string): string {
  const linked = markdown.replaceAll(LINK, (link, text: string, href: string) => {
    if (href.startsWith('/')) return `<a href="${href}" target="_self">${text}</a>`;
    const path = toPath(href);
    return path === null ? link : `[${text}](${path})`;
  });
  return linked.replaceAll(/\{\{([\w ]+)\}\}/g, '<Deployment of="$1" />');
}

/** A page as it is served beside the rendered one. */
export function toServedMarkdown(markdown: string): string {
  return markdown.replaceAll(LINK, (link, text: string, href: string) => {
    const [path, anchor] = toPath(href)?.split('#') ?? [];
    if (path === undefined) return link;
    return `[${text}](/docs${path === '/' ? '/index' : path}.md${anchor === undefined ? '' : `#${anchor}`})`;
  });
}

/** The overview for language models (llmstxt.org): every guide with the address of its Markdown. */
export function toLlmsText(): string {
  const titles = new Map(readPages().map(({ slug, markdown }) => [slug as string, titleOf(markdown)]));
  const groups = GROUPS.map(({ title, slugs }) => {
    const lines = slugs.map((slug) => `- [${titles.get(slug)}](/docs/${toName(slug)}.md)\n`);
    return `## ${title}\n\n${lines.join('')}`;
  });
  return `# Partner Health Data Service

Machine-readable: [OpenAPI 3.1](/openapi.json), [scopes, endpoints, metric types](/catalog.json),
[authorization server metadata](/.well-known/oauth-authorization-server).

${groups.join('\n')}`;
}

/** The path on the site of a link to a file of docs/partners; null for any other link. Each error code has a page of its own. */
function toPath(href: string): string | null {
  const [, slug, anchor] = PAGE.exec(href) ?? [];
  if (slug === undefined) return null;
  if (slug === 'problems' && anchor !== undefined) return `/problems/${anchor.replaceAll('_', '-')}`;
  return `/${slug === 'README' ? '' : slug}${anchor === undefined ? '' : `#${anchor}`}`;
}

function toName(slug: string): string {
  return slug === 'README' ? 'index' : slug;
}
