import type { paths } from './generated/openapi.ts';
import type { ItemOf, Query } from './resources.ts';

/** A consent grant, as `GET /oauth/grants` answers it. */
export type Grant = ItemOf<'/oauth/grants'>;

export type GrantQuery = Query<'/oauth/grants'>;

/** What is known about a token (RFC 7662). */
export type Introspection =
  paths['/oauth/introspect']['post']['responses'][200]['content']['application/json'];
