import MiniSearch from 'minisearch';
import type { RenderedPage } from './markdown.ts';
import { SEARCH_OPTIONS } from './search-options.ts';

/** How much of a section the search shows below its title. */
const EXCERPT_LENGTH = 140;

/** The address in examples. Pages show that of the service in its place; the index is the same everywhere. */
const WRITTEN_URL = 'http://localhost:8080';

/** The index of all sections, as JSON. */
export function toSearchIndex(
  pages: readonly { readonly path: string; readonly page: RenderedPage }[],
): string {
  const index = new MiniSearch(SEARCH_OPTIONS);
  for (const { path, page } of pages) {
    for (const { anchor, title, text, prose } of page.sections) {
      const id = anchor === '' ? path : `${path}#${anchor}`;
      index.add({ id, page: page.title, title, text, excerpt: shorten(prose === '' ? text : prose) });
    }
  }
  return JSON.stringify(index);
}

function shorten(written: string): string {
  const text = written.replaceAll(WRITTEN_URL, '…');
  if (text.length <= EXCERPT_LENGTH) return text;
  return `${text.slice(0, text.lastIndexOf(' ', EXCERPT_LENGTH))} …`;
}
