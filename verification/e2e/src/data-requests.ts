import { DATA_PATHS, type DataPath, type Endpoint, getEndpoint } from '@phds/catalog/endpoints';
import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import type { Answer } from '@phds/running-system/request';

/** One of the 23 data endpoints as a row of `test.each`: its path, then the rest. */
export type DataRow = readonly [path: string, row: DataPath & { readonly definition: Endpoint }];

/** The 23 data endpoints. */
export const DATA_ROWS: readonly DataRow[] = DATA_PATHS.map((row) => [
  row.path,
  { ...row, definition: getEndpoint(row.endpoint) },
]);

/** The data endpoints that are lists. */
export const LIST_ROWS: readonly DataRow[] = DATA_ROWS.filter(
  ([, row]) => row.definition.envelope === 'list',
);

/** A well-formed id of a medication that does not exist. */
export const NO_MEDICATION = 'med_00000000000000000000000000000000';

/** The path with the medication id filled in. */
export function toPath(path: string, medicationId = NO_MEDICATION): string {
  return path.replace('{id}', medicationId);
}

const NARROW_FILTERS: Readonly<Record<string, string>> = {
  '/api/v1/health-data/heart': '&type=resting-hr',
  '/api/v1/health-data/activity': '&type=exercise',
  '/api/v1/health-data/sleep': '&type=sleep-deep',
  '/api/v1/trends': '&type=weight',
};

/** A filter that reduces large lists to at most a few hundred items. */
export function narrowFilterOf(path: string): string {
  return NARROW_FILTERS[path] ?? '';
}

/** The first medication of the token's user. Throws when there is none. */
export async function expectMedication(app: PartnerApp, accessToken: string): Promise<string> {
  const [medication] = expectStatus(200, await app.read(accessToken, '/api/v1/medications')).body.data;
  if (medication === undefined) throw new Error('the user has no medication');
  return medication.id;
}

/** Reads every page of a list. Throws when a request is refused. */
export async function readAll(
  app: PartnerApp,
  accessToken: string,
  path: string,
  query = '',
): Promise<Answer['body'][]> {
  const items: Answer['body'][] = [];
  for (let page = 1; ; page += 1) {
    const url = `${path}?page=${page}&pageSize=100${query}`;
    const { data, pagination } = expectStatus(200, await app.read(accessToken, url)).body;
    items.push(...data);
    if (page >= pagination.totalPages) return items;
  }
}
