import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The directory of the guides' sources. */
export const GUIDES_DIRECTORY = resolve(import.meta.dirname, '../../../docs/partners');

/** A page of the documentation, as Markdown. */
export interface SourcePage {
  /** Name of the page: of its file in docs/partners, without `.md`. */
  readonly slug: string;
  /** The address on a server. */
  readonly path: string;
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
  {
    title: 'Reference',
    slugs: [
      'reference',
      'reference-data',
      'reference-fhir',
      'reference-oauth',
      'reference-apps',
      'reference-consent',
      'reference-documents',
      'metrics',
      'problems',
      'changelog',
    ],
  },
] as const;

/** The pages of docs/partners, in the order of the navigation. */
export function readPages(): SourcePage[] {
  return GROUPS.flatMap(({ slugs }) => slugs).map((slug) => ({
    slug,
    path: toPath(slug),
    markdown: readFileSync(join(GUIDES_DIRECTORY, `${slug}.md`), 'utf8'),
  }));
}

/** The address of a page of docs/partners. */
export function toPath(slug: string): string {
  if (slug === 'README') return '/docs';
  return slug === 'problems' ? '/problems' : `/docs/${slug}`;
}
