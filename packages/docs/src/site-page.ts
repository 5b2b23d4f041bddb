import type { RenderedPage } from './markdown.ts';

/** A page of the site. */
export interface SitePage {
  readonly path: string;
  readonly markdown: string;
  readonly page: RenderedPage;
}
