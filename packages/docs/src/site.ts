import { PROBLEM_CODES } from '@phds/catalog/problems';
import { type Frame, type NavigationGroup, renderDocument } from './layout.ts';
import { toMarkdownPath, toServedMarkdown } from './links.ts';
import { toLlmsText } from './llms.ts';
import { type RenderedPage, renderMarkdown } from './markdown.ts';
import { toProblemPage, toProblemPath, toProblemsPage } from './problem-pages.ts';
import type { SitePage } from './site-page.ts';
import { GROUPS, readPages, toPath } from './source.ts';

/** All pages in the order of the navigation, then one for each error code. */
export function readSite(): SitePage[] {
  // On the server, the page of all codes links to a page for each of them; the file in the repository contains them.
  const pages = readPages().map(({ slug, path, markdown }) => ({
    path,
    markdown: slug === 'problems' ? toProblemsPage() : markdown,
  }));
  const problems = PROBLEM_CODES.map((code) => ({
    path: toProblemPath(code),
    markdown: toProblemPage(code),
  }));
  return [...pages, ...problems].map(({ path, markdown }) => ({
    path,
    markdown,
    page: render(path, markdown),
  }));
}

function render(path: string, markdown: string): RenderedPage {
  try {
    return renderMarkdown(markdown);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** The navigation of all pages. */
export function toNavigation(site: readonly SitePage[]): NavigationGroup[] {
  const titles = new Map(site.map(({ path, page }) => [path, page.title]));
  return GROUPS.map(({ title, slugs }) => ({
    title,
    links: slugs.map((slug) => ({ path: toPath(slug), title: titles.get(toPath(slug)) ?? slug })),
  }));
}

/** The files that a server serves, by path in its directory: pages as HTML and Markdown, and the overview for language models. */
export function renderFiles(site: readonly SitePage[], frame: Frame): Map<string, string> {
  const files = new Map<string, string>();
  for (const { path, markdown, page } of site) {
    const source = toMarkdownPath(path);
    files.set(source.slice(1).replace(/md$/, 'html'), renderDocument(page, path, source, frame));
    files.set(source.slice(1), toServedMarkdown(markdown));
  }
  files.set('llms.txt', toLlmsText(site, frame.navigation));
  return files;
}
