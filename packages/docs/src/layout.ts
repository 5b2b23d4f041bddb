import { escapeHtml } from './escape.ts';
import type { RenderedPage } from './markdown.ts';

/** A group of links in the navigation. */
export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly { readonly path: string; readonly title: string }[];
}

/** The addresses of the files that every page uses. */
export interface Assets {
  readonly style: string;
  readonly script: string;
  readonly index: string;
}

/** What surrounds the pages. */
export interface Frame {
  readonly navigation: readonly NavigationGroup[];
  readonly assets: Assets;
}

const PRODUCT = 'Partner Health Data Service';

/** A whole page. `source` is the address of its Markdown. */
export function renderDocument(page: RenderedPage, path: string, source: string, frame: Frame): string {
  const { assets } = frame;
  const title = path === '/docs' ? PRODUCT : `${page.title} · ${PRODUCT}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(page.summary)}">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${assets.style}">
<script type="module" src="${assets.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="/docs">${PRODUCT}</a>
<search class="search">
<label for="search">Search the documentation</label>
<input id="search" type="search" placeholder="Search ( / )" autocomplete="off" spellcheck="false" data-index="${assets.index}" disabled>
<div id="results" hidden></div>
<p id="found" class="quiet" role="status"></p>
</search>
<a class="console" href="/console">Console</a>
</header>
<div class="columns">
<nav class="pages" aria-label="Pages"><details><summary>Pages</summary>
${renderNavigation(frame.navigation, path)}</details></nav>
<main id="content">
${page.html}${renderFooter(path, source, frame.navigation)}</main>
${renderContents(page)}</div>
</body>
</html>
`;
}

function renderNavigation(groups: readonly NavigationGroup[], path: string): string {
  const toItem = (link: { path: string; title: string }) => {
    const current = link.path === path ? ' aria-current="page"' : '';
    return `<li><a href="${link.path}"${current}>${escapeHtml(link.title)}</a></li>\n`;
  };
  const toGroup = ({ title, links }: NavigationGroup) =>
    `<p class="group">${escapeHtml(title)}</p>\n<ul>\n${links.map(toItem).join('')}</ul>\n`;
  return groups.map(toGroup).join('');
}

function renderContents({ sections }: RenderedPage): string {
  const shown = sections.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return '';
  const items = shown.map(
    ({ level, anchor, title }) =>
      `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(title)}</a></li>\n`,
  );
  return `<nav class="contents" aria-label="On this page"><p class="group">On this page</p>\n<ul>\n${items.join('')}</ul></nav>\n`;
}

function renderFooter(path: string, source: string, groups: readonly NavigationGroup[]): string {
  const links = groups.flatMap((group) => group.links);
  const place = links.findIndex((link) => link.path === path);
  const next = place < 0 ? undefined : links[place + 1];
  const parts = [
    next === undefined ? '' : `<a class="action" href="${next.path}">Next: ${escapeHtml(next.title)}</a>`,
    `<a class="action" href="${source}">This page as Markdown</a>`,
  ];
  return `<footer>${parts.join('')}</footer>\n`;
}
