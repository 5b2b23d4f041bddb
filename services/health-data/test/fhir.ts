import type { FhirType } from '@phds/catalog/fhir/resource-types';
import { type FhirSearch, parseSearch, type SentParameter, searchForId } from '@phds/catalog/fhir/search';
import { formatScopeList, SCOPE_NAMES } from '@phds/catalog/scopes';
import type { AccessAssertion } from '@phds/service-kit/trust/access-assertion';
import type { Harness } from './harness.ts';

export const BASE = 'https://phds.example/fhir/R4';

/** The Patient of the harness's app, whose `sub` is `sub_test`. */
export const PATIENT = 'pat-test';

// biome-ignore lint/suspicious/noExplicitAny: resources are compared, not computed with
export type Resource = any;

export interface Bundle {
  readonly resourceType: 'Bundle';
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly fullUrl: string; readonly resource: Resource }[];
}

type Token = Partial<AccessAssertion> & { readonly userId?: string };

/** A search, by its query, as an app of the token makes it; judged by all scopes that it may, as the gateway does. */
export async function search(
  harness: Harness,
  type: FhirType,
  query = '',
  token: Token = {},
): Promise<Bundle> {
  const parameters = [...new URLSearchParams(query)];
  return parse(await ask(harness, { type, parameters }, toSearch(type, parameters), token));
}

/** A read of one resource. */
export async function readById(
  harness: Harness,
  type: FhirType,
  id: string,
  token: Token = {},
): Promise<Resource> {
  return parse(await ask(harness, { type, id }, searchForId(type, id, BASE), token));
}

/** Parses a body, in which FHIR allows no empty text, null, or empty object or list (R4, JSON). */
function parse({ body }: { readonly body: Uint8Array }) {
  return JSON.parse(new TextDecoder().decode(body), (name, value) => {
    const isEmpty = value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
    if (isEmpty) throw new Error(`${name} is empty`);
    return value;
  });
}

export function toSearch(type: FhirType, parameters: readonly SentParameter[]): FhirSearch {
  const parsed = parseSearch(type, parameters, BASE);
  if ('search' in parsed) return parsed.search;
  throw new Error(JSON.stringify(parsed.problems));
}

interface Sent {
  readonly type: string;
  readonly id?: string;
  readonly parameters?: readonly SentParameter[];
}

async function ask(
  harness: Harness,
  { type, id = '', parameters = [] }: Sent,
  found: FhirSearch,
  token: Token,
) {
  const { userId = 'ada', ...changes } = token;
  const { scopes = SCOPE_NAMES } = changes;
  return askFor(
    harness,
    { type, id, parameters },
    formatScopeList(found.scopes.filter((scope) => scopes.includes(scope))),
    await harness.about(userId, changes),
  );
}

/** A request with these scopes, whatever the search is. */
export function askFor(
  { reads }: Harness,
  { type, id = '', parameters = [] }: Sent,
  scope: string,
  about: Awaited<ReturnType<Harness['about']>>,
) {
  const sent = parameters.map(([name, value]) => ({ name, value }));
  return reads.read({ fhir: { base: BASE, resourceType: type, id, parameters: sent }, scope }, about);
}

export function resourcesOf({ entry = [] }: Bundle): Resource[] {
  return entry.map(({ resource }) => resource);
}

/** The query of the next page; null on the last. */
export function nextOf({ link }: Bundle): string | null {
  const next = link.find(({ relation }) => relation === 'next');
  return next === undefined ? null : new URL(next.url).search;
}

/** The resources of all pages, by page. */
export async function readPages(
  harness: Harness,
  type: FhirType,
  query: string,
  token: Token = {},
): Promise<Resource[][]> {
  const pages: Resource[][] = [];
  for (let next: string | null = query; next !== null; ) {
    const bundle = await search(harness, type, next, token);
    pages.push(resourcesOf(bundle));
    next = nextOf(bundle);
  }
  return pages;
}
