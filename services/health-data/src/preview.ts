import { DATA_PATHS, type DataPath, getEndpoint } from '@phds/catalog/endpoints';
import { isDate } from '@phds/catalog/instants';
import { localDate, startOfDay } from '@phds/catalog/local-time';
import { METRICS, type MetricKey, metricsOfCategory } from '@phds/catalog/metrics';
import { SUMMARY_SCOPES } from '@phds/catalog/scopes';
import { type PreviewRequest, PreviewService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { Turns } from '@phds/service-kit/batcher';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { sessionOf } from '@phds/service-kit/rpc/context';
import { implement } from '@phds/service-kit/rpc/service';
import type { SessionVerifier } from '@phds/service-kit/trust/session';
import { addDays } from './dates.ts';
import { readOwn } from './own-data.ts';
import { findOwnWindow } from './profiles.ts';
import type { PublicIds } from './public-ids.ts';
import { readNewestDoses } from './records.ts';
import { type DataParts, readResource } from './resources.ts';
import { presentPoint } from './summaries.ts';
import { EVERYTHING } from './window.ts';

const NEWEST = 5;
const TREND_DAYS = 30;

/** A grant that does not exist yet. */
type Previewed = Parameters<typeof findOwnWindow>[1] & { readonly scope: string };

/**
 * The user's own data as an app with this grant would receive it, as JSON text. Throws INVALID_REQUEST for an
 * unknown scope. Nothing is released to an app, so nothing is recorded.
 */
export async function preview(parts: DataParts, publicIds: PublicIds, grant: Previewed): Promise<string> {
  const { userId, scope } = grant;
  // For read:medications, which has two endpoints, this is the list. The other one has the doses.
  const path = DATA_PATHS.find((candidate) => candidate.scope === scope);
  if (path === undefined) throw invalidRequest('scope', 'is not a known scope');
  const { total, newest } = await readNewest(parts, publicIds, grant, path, NEWEST);
  const window = await findOwnWindow(parts.profiles, grant);
  const trend = await readRecentTrend(parts, userId, metricsOf(path), window);
  const doses =
    path.endpoint === 'medications'
      ? await readNewestDoses(parts, { userId, since: window.since, limit: NEWEST })
      : undefined;
  return JSON.stringify({ data: { scope, total, newest, trend, doses } });
}

/** The paths of what is held, one for each scope; summaries are computed from it. */
const HELD = DATA_PATHS.filter(
  ({ endpoint, scope }) => endpoint !== 'adherence' && !SUMMARY_SCOPES.includes(scope),
);

/** The number of items of each type of data that is held, and the newest one if they have a time, as JSON text. */
export async function overview(parts: DataParts, publicIds: PublicIds, userId: string): Promise<string> {
  const everything = { userId, dataFrom: null };
  const data = await Promise.all(
    HELD.map(async (path) => {
      const { total, newest } = await readNewest(parts, publicIds, everything, path, 1);
      const isDated = getEndpoint(path.endpoint).timeField !== null;
      return { scope: path.scope, total, latest: isDated ? (newest[0] ?? null) : null };
    }),
  );
  return JSON.stringify({ data });
}

/** The response that an app would get except for the ids, limited to a few items. */
async function readNewest(
  parts: DataParts,
  publicIds: PublicIds,
  { userId, dataFrom }: Omit<Previewed, 'scope'>,
  path: DataPath,
  pageSize: number,
): Promise<{ total: number; newest: unknown[] }> {
  const askedBy = toAsker(userId);
  const answer = await readResource(parts, {
    path,
    medicationId: '',
    parameters: {
      page: 1,
      pageSize,
      window: EVERYTHING,
      metric: null,
      bucket: 'day',
      timeZone: null,
      updatedSince: null,
    },
    askedBy,
    ids: publicIds(askedBy),
    userId,
    dataFrom,
  });
  if (answer instanceof AppError) throw answer;
  const { data } = JSON.parse(answer.text) as { data: unknown };
  if (Array.isArray(data)) return { total: answer.total, newest: data };
  if (path.endpoint !== 'aggregations') return { total: answer.recordCount, newest: [data] };
  const { metrics } = data as { metrics: unknown[] };
  return { total: metrics.length, newest: metrics.slice(0, pageSize) };
}

/** The reader name of a person looking at their own data; no client id contains a space. */
function toAsker(userId: string): string {
  return `person ${userId}`;
}

function metricsOf({ endpoint, category }: DataPath): MetricKey[] {
  if (category !== null) return metricsOfCategory(category).map((metric) => metric.key);
  if (endpoint === 'weight') return ['weight'];
  return endpoint === 'aggregations' || endpoint === 'trends' ? METRICS.map((metric) => metric.key) : [];
}

/** Daily points of today and the 29 days before, in the user's zone, as far as they are in the data window. */
async function readRecentTrend(
  parts: DataParts,
  userId: string,
  metrics: readonly MetricKey[],
  { timeZone, since }: Awaited<ReturnType<typeof findOwnWindow>>,
) {
  if (metrics.length === 0) return [];
  const firstDay = addDays(localDate(parts.clock.now(), timeZone), 1 - TREND_DAYS);
  const page = await parts.summaries.trend({
    askedBy: toAsker(userId),
    userId,
    metrics,
    timeZone,
    range: { from: startOfDay(firstDay, timeZone), to: null },
    since,
    bucket: 'day',
    // One more day, because the importers' clock may be ahead.
    limit: (TREND_DAYS + 1) * metrics.length,
    offset: 0,
  });
  return page.items.map((point) => presentPoint(point, 'day'));
}

function findDataFrom({ dataFrom }: PreviewRequest): string | null {
  if (dataFrom === '') return null;
  if (!isDate(dataFrom)) throw invalidRequest('dataFrom', 'must be a date (2026-03-01)');
  return dataFrom;
}

function parseTime(ms: bigint): number {
  const time = Number(ms);
  if (Number.isNaN(new Date(time).getTime())) throw invalidRequest('beforeMs', 'is not a time');
  return time;
}

/** The person's own view of their data. The session is verified here again, whatever the caller did. */
export function createPreviewService(dependencies: {
  readonly data: DataParts;
  readonly publicIds: PublicIds;
  readonly turns: Turns;
  readonly verifySession: SessionVerifier;
}) {
  const { data, publicIds, turns, verifySession } = dependencies;
  return implement(
    PreviewService,
    {
      preview: async (request, context) => {
        const { userId } = await verifySession(sessionOf(context));
        const grant = { userId, scope: request.scope, dataFrom: findDataFrom(request) };
        return { body: new TextEncoder().encode(await preview(data, publicIds, grant)) };
      },
      overview: async (_, context) => {
        const { userId } = await verifySession(sessionOf(context));
        const body = await turns(toAsker(userId), () => overview(data, publicIds, userId));
        return { body: new TextEncoder().encode(body) };
      },
      readOwn: async ({ kind, beforeMs }, context) => {
        const { userId } = await verifySession(sessionOf(context));
        const before = beforeMs === undefined ? null : parseTime(beforeMs);
        const { items, next } = await turns(toAsker(userId), () => readOwn(data, userId, kind, before));
        return {
          items: new TextEncoder().encode(JSON.stringify(items)),
          ...(next === null ? {} : { nextBeforeMs: BigInt(next) }),
        };
      },
    },
    { preview: ['gateway'], overview: ['gateway'], readOwn: ['gateway'] },
  );
}
