import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { toMetricsPage } from './metrics-page.ts';
import { toProblemsPage } from './problem-pages.ts';

const GUIDES_DIRECTORY = resolve(import.meta.dirname, '../../../docs/partners');

/** A page of the documentation, as Markdown. */
interface SourcePage {
  /** Name of the page: of its file in docs/partners, if it has one, without `.md`. */
  readonly slug: string;
  readonly markdown: string;
}

/** Headings of the navigation, and below each the slugs of its pages in the order of reading. */
export const GROUPS = [
  { title: 'Start', slugs: ['README', 'first-call', 'sdk', 'sandbox', 'before-you-go-live'] },
  {
    title: 'Guides',
    slugs: [
      'scopes-and-consent',
      'tokens',
      'sender-constrained',
      'public-apps',
      'fhir',
      'pagination-and-sync',
      'time',
      'webhooks',
      'errors',
      'limits',
      'versions',
    ],
  },
  { title: 'Reference', slugs: ['metrics', 'problems'] },
] as const;

/** The pages of docs/partners and those that are made from the catalog, in the order of the navigation. */
export function readPages(): SourcePage[] {
  return GROUPS.flatMap(({ slugs }) => slugs).map((slug) => ({ slug, markdown: readPage(slug) }));
}

function readPage(slug: string): string {
  if (slug === 'metrics') return toMetricsPage();
  if (slug === 'problems') return toProblemsPage();
  return readFileSync(join(GUIDES_DIRECTORY, `${slug}.md`), 'utf8');
}

/** The title of a page: its first line. */
export function titleOf(markdown: string): string {
  const [, title] = /^# (.+)\n/.exec(markdown) ?? [];
  if (title === undefined)
    throw new Error(`A page begins with its title, not with "${markdown.slice(0, 40)}".`);
  return title;
}
