import type { EndpointScope } from '../endpoints.ts';

/** Key of a heading for scopes. */
export type ScopeCategory =
  | 'vital-signs'
  | 'activity-sleep-body'
  | 'mind-mood'
  | 'summaries'
  | 'medical-history'
  | 'about-you';

interface TitledText {
  readonly title: string;
  /** One plain sentence, addressed to the person who decides. */
  readonly description: string;
}

/** All texts about scopes in one language. */
export interface CatalogTexts {
  readonly categories: Readonly<Record<ScopeCategory, string>>;
  readonly scopes: Readonly<Record<EndpointScope, TitledText>>;
}
