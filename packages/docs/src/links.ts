import { toPath } from './source.ts';

/** An address on another site, or a path on the server that is no page of the documentation. */
const ELSEWHERE = /^(https?:|mailto:|\/)/;
const PAGE = /^([\w-]+)\.md(?:#(.+))?$/;

/**
 * The address on the server of a link between the files of docs/partners. Each problem has a page of its own on the server. Throws for a
 * link to a file that the server does not have.
 */
export function toAddress(href: string): string {
  if (ELSEWHERE.test(href) || href.startsWith('#')) return href;
  const [, slug, anchor] = PAGE.exec(href) ?? [];
  if (slug === undefined) throw new Error(`The link "${href}" leads out of docs/partners.`);
  if (slug === 'problems' && anchor !== undefined) return `/problems/${anchor.replaceAll('_', '-')}`;
  return toPath(slug) + (anchor === undefined ? '' : `#${anchor}`);
}

const LINK = /(?<=\]\()[\w-]+\.md(?:#[^)]+)?(?=\))/g;

/** Markdown of docs/partners with the links of a server, where each page has its Markdown at its address with `.md`. */
export function toServedMarkdown(markdown: string): string {
  return markdown.replaceAll(LINK, (href) => {
    const [path = '', anchor] = toAddress(href).split('#');
    return toMarkdownPath(path) + (anchor === undefined ? '' : `#${anchor}`);
  });
}

/** The address of the Markdown of a page. */
export function toMarkdownPath(path: string): string {
  return path.slice(1).includes('/') ? `${path}.md` : `${path}/index.md`;
}
