import type { EndpointScope } from '@phds/catalog/endpoints';
import type { ReaderIds } from '../public-ids.ts';

/** The order of search results: newest first by start, without a time last; then by id. */
export interface Place {
  /** Unix milliseconds; null for a resource without a time. */
  readonly time: number | null;
  readonly id: string;
}

/** Where a page of a search ended. */
export interface SearchCursor {
  readonly place: Place;
  /** How many results up to this one have the same time. */
  readonly tied: number;
  /** What the search was judged by. */
  readonly scopes: readonly EndpointScope[];
}

export function comparePlaces(one: Place, other: Place): number {
  if (one.time !== other.time)
    return (other.time ?? Number.NEGATIVE_INFINITY) - (one.time ?? Number.NEGATIVE_INFINITY);
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}

type Sealed = readonly [time: number | null, id: string, tied: number, scopes: readonly EndpointScope[]];

/** A cursor as text. It works only for the reader and the search that it was made for. The same place always has the same text. */
export function formatCursor(ids: ReaderIds, context: string, { place, tied, scopes }: SearchCursor): string {
  return ids.seal(JSON.stringify([place.time, place.id, tied, scopes] satisfies Sealed), context);
}

/** The cursor of a text; null if `formatCursor` did not make it for this reader and context. */
export function findCursor(ids: ReaderIds, context: string, text: string): SearchCursor | null {
  const sealed = ids.open(text, context);
  if (sealed === null) return null;
  // Only `formatCursor` can have sealed it.
  const [time, id, tied, scopes] = JSON.parse(sealed) as Sealed;
  return { place: { time, id }, tied, scopes };
}
