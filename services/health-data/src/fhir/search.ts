import type { EndpointScope } from '@phds/catalog/endpoints';
import { ANY_TIME, both } from '@phds/catalog/fhir/dates';
import { OWN_SYSTEMS, ownCategoryOf } from '@phds/catalog/fhir/observation-kinds';
import { COUNTED_MAX, type SentParameter } from '@phds/catalog/fhir/search';
import { formatScopeList } from '@phds/catalog/scopes';
import { type AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import type { Answer } from '../document.ts';
import type { ReaderIds } from '../public-ids.ts';
import type { DataParts } from '../resources.ts';
import { type Entry, type FhirRead, openSources, type Place, type Source } from './sources.ts';

/** One resource; NOT_FOUND for an id that names none that the app may see. */
export async function readById(data: DataParts, request: FhirRead): Promise<Answer | AppError> {
  const [found] = await readAll(openSources(data, request), request, null, 1);
  return found === undefined
    ? notFound()
    : { ...toAnswer(found.toText(), 1), scope: formatScopeList([found.scope]) };
}

/** A page of a search as a Bundle. */
export async function readSearch(
  data: DataParts,
  request: FhirRead,
  cursor: SearchCursor | null,
): Promise<Answer | AppError> {
  const { search } = request;
  const sources = canMatch(request) ? openSources(data, request) : [];
  const total = search.countOnly || search.withTotal ? await countAll(sources, request) : null;
  if (search.countOnly && total === null)
    return invalidRequest(
      search.count === 0 ? '_count' : '_summary',
      `finds more than ${COUNTED_MAX} readings; narrow the search`,
    );
  if (search.countOnly) return toAnswer(toBundle(request, total, [], null), 0);
  const seen = cursor?.tied ?? 0;
  const found = await readAll(sources, request, cursor, search.count + seen + 1);
  const later = cursor === null ? found : found.filter((entry) => comparePlaces(entry, cursor.place) > 0);
  const page = later.slice(0, search.count);
  // Results that arrived at the time where the page before ended may have taken the place of later ones.
  const hasMore = later.length > search.count || found.length > search.count + seen;
  const next = hasMore ? toNext(request, found, page.at(-1) ?? cursor?.place) : null;
  return {
    ...toAnswer(toBundle(request, total, page, next), page.length),
    scope: formatScopeList(request.scopes),
  };
}

function toAnswer(text: string, recordCount: number): Answer {
  // A search may be sent again with other links for the same results, so the tag is weak.
  return { text, timeless: text, total: 0, recordCount };
}

/** Whether the search is for the person of the token, and a parameter does not exclude everything. */
function canMatch({ search, patientId }: FhirRead): boolean {
  return !search.isEmpty && (search.patients === null || search.patients.includes(patientId));
}

/** In order, those at the time of the cursor or later in the order. */
async function readAll(
  sources: readonly Source[],
  { search: { ids, when } }: FhirRead,
  cursor: SearchCursor | null,
  limit: number,
): Promise<Entry[]> {
  const time = cursor?.place.time;
  const wanted = typeof time === 'number' ? both(when, { ...ANY_TIME, startBefore: time + 1 }) : when;
  // Resources without a time are the last.
  const left = time === null ? sources.filter(({ isDated }) => !isDated) : sources;
  const entries: Entry[] = [];
  // One after the other, so that a search holds one connection.
  for (const source of left) entries.push(...(await source.read(wanted, limit)));
  const isLeft = (entry: Entry) =>
    (ids === null || ids.includes(entry.id)) &&
    (time === undefined || comparePlaces(entry, { time, id: '' }) > 0);
  return entries.filter(isLeft).sort(comparePlaces);
}

/** Null for too many. */
async function countAll(sources: readonly Source[], request: FhirRead): Promise<number | null> {
  const { search } = request;
  let total = 0;
  for (const source of sources) {
    const count =
      search.ids === null && source.count !== undefined
        ? await source.count()
        : (await readAll([source], request, null, Number.MAX_SAFE_INTEGER)).length;
    if (count === null) return null;
    total += count;
  }
  return total;
}

/** The cursor behind a place. */
function toNext(
  { search, scopes, ids, userId }: FhirRead,
  found: readonly Entry[],
  place: SearchCursor['place'] | undefined,
): string {
  if (place === undefined) throw new RangeError('A page with a next one has a result, or one before it.');
  const tied = found.filter((entry) => entry.time === place.time && comparePlaces(entry, place) <= 0).length;
  return formatCursor(ids, toContext(userId, search), {
    place: { time: place.time, id: place.id },
    tied,
    scopes,
  });
}

/** What a cursor belongs to: the search of this person, whatever the size of its pages. */
export function toContext(userId: string, { type, applied }: FhirRead['search']): string {
  return JSON.stringify(['fhir', userId, type, applied.filter(([name]) => name !== '_count')]);
}

function toBundle(
  request: FhirRead,
  total: number | null,
  entries: readonly Entry[],
  next: string | null,
): string {
  const { base, search } = request;
  const { type, applied } = search;
  const links = [{ relation: 'self', url: toUrl(request, [...applied, ...toNarrowing(request)]) }];
  if (next !== null) links.push({ relation: 'next', url: toUrl(request, [...applied, ['_cursor', next]]) });
  const counted = total === null ? '' : `"total":${total},`;
  const items = entries.map(
    ({ id, toText }) =>
      `{"fullUrl":"${base}/${type}/${id}","resource":${toText()},"search":{"mode":"match"}}`,
  );
  // R4 allows no empty list.
  const entry = items.length === 0 ? '' : `,"entry":[${items.join(',')}]`;
  return `{"resourceType":"Bundle","type":"searchset",${counted}"link":${JSON.stringify(links)}${entry}}`;
}

/** The categories that were searched, if not all that the search could find. */
function toNarrowing({ search, scopes, base }: FhirRead): SentParameter[] {
  if (search.type !== 'Observation' || search.scopes.length === scopes.length) return [];
  const toToken = (scope: EndpointScope) => `${base}/${OWN_SYSTEMS.category}|${ownCategoryOf(scope)}`;
  return [['category', scopes.map(toToken).join(',')]];
}

function toUrl({ base, search }: FhirRead, parameters: readonly SentParameter[]): string {
  const query = new URLSearchParams(parameters as [string, string][]).toString();
  return `${base}/${search.type}${query && `?${query}`}`;
}

/** Where a page of a search ended. */
export interface SearchCursor {
  readonly place: Place;
  /** How many results up to this one have the same time. */
  readonly tied: number;
  /** What the search was judged by. */
  readonly scopes: readonly EndpointScope[];
}

function comparePlaces(one: Place, other: Place): number {
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
