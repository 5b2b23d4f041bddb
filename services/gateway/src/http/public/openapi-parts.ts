import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import type { EndpointId, QueryParameter } from '@phds/catalog/endpoints';
import { METRICS } from '@phds/catalog/metrics';
import { PAGE_DEFAULT, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import { PROBLEM_CODES } from '@phds/catalog/problems';
import {
  ADHERENCE_STATUSES,
  AGGREGATION_BASES,
  BLOOD_TYPES,
  GENDERS,
  MEDICATION_PATTERNS,
  MOODS,
  SEVERITIES,
  TREND_BUCKETS,
} from '@phds/catalog/wire-names';

const text = { type: 'string' };
const maybeText = { type: ['string', 'null'] };
const count = { type: 'integer', minimum: 0 };
const number = { type: 'number' };
const maybeNumber = { type: ['number', 'null'] };
const instant = { type: 'string', format: 'date-time' };
const maybeInstant = { type: ['string', 'null'], format: 'date-time' };
const date = { type: 'string', format: 'date' };
const oneOf = (values: readonly string[]) => ({ enum: values });
const oneOfOrNull = (values: readonly string[]) => ({ enum: [...values, null] });
const metricType = oneOf(METRICS.map(({ name }) => name));

/** Every property is always present; an unknown value is null (contract section 1). */
function object(properties: Readonly<Record<string, unknown>>) {
  return { type: 'object', required: Object.keys(properties), properties };
}

const range = { ...object({ low: number, high: number, source: text }), type: ['object', 'null'] };
const outOfRange = { ...object({ below: count, above: count, total: count }), type: ['object', 'null'] };
const summary = { count, average: maybeNumber, min: maybeNumber, max: maybeNumber, sum: maybeNumber };

const aggregation = object({
  type: metricType,
  category: oneOf(CATEGORY_SLUGS),
  unit: text,
  basis: oneOf(AGGREGATION_BASES),
  ...summary,
  latest: { ...object({ value: maybeNumber, timestamp: instant }), type: ['object', 'null'] },
  referenceRange: range,
  outOfRange,
});

const dataId = {
  ...text,
  description: 'Stable for one app; other apps get other ids for the same item.',
};

const since = object({
  id: dataId,
  name: text,
  severity: oneOfOrNull(SEVERITIES),
  // May be partial: 2019 or 2019-05.
  sinceDate: maybeText,
});

const ITEMS: Readonly<Record<EndpointId, unknown>> = {
  'health-data': object({
    id: dataId,
    type: metricType,
    value: maybeNumber,
    unit: text,
    timestamp: instant,
    source: text,
  }),
  aggregations: object({
    from: maybeText,
    to: maybeText,
    timeZone: text,
    generatedAt: instant,
    metrics: { type: 'array', items: aggregation },
  }),
  trends: object({
    type: metricType,
    bucket: oneOf(TREND_BUCKETS),
    start: {
      ...instant,
      description: 'Of the part of the bucket that lies in the window; with the offset of the zone',
    },
    end: { ...instant, description: 'Exclusive; of the same part' },
    unit: text,
    value: maybeNumber,
    ...summary,
  }),
  symptoms: object({ id: dataId, description: text, severity: oneOfOrNull(SEVERITIES), timestamp: instant }),
  medications: object({
    id: dataId,
    name: text,
    dosage: maybeText,
    frequency: maybeText,
    condition: maybeText,
    pattern: oneOfOrNull(MEDICATION_PATTERNS),
  }),
  adherence: object({
    id: dataId,
    scheduledAt: maybeInstant,
    status: oneOf(ADHERENCE_STATUSES),
    takenAt: maybeInstant,
    dose: maybeText,
    reason: maybeText,
  }),
  conditions: since,
  allergies: since,
  appointments: object({
    id: dataId,
    title: text,
    dateTime: instant,
    specialty: maybeText,
    location: maybeText,
  }),
  weight: object({ id: dataId, weightKg: number, date }),
  mood: object({ id: dataId, mood: oneOf(MOODS), note: maybeText, timestamp: instant }),
  reports: object({
    id: dataId,
    generatedAt: instant,
    dateRange: object({ from: date, to: date }),
    summary: text,
  }),
  profile: object({
    name: maybeText,
    gender: oneOfOrNull(GENDERS),
    dateOfBirth: { type: ['string', 'null'], format: 'date' },
    bloodType: oneOfOrNull(BLOOD_TYPES),
  }),
  ehr: object({
    id: dataId,
    resourceType: text,
    summary: { type: 'string', maxLength: 500 },
    timestamp: instant,
  }),
};

/** Schemas of the endpoints' items by endpoint id, of the pagination, and of the error body. */
export const SCHEMAS = {
  ...ITEMS,
  pagination: object({ page: count, pageSize: count, total: count, totalPages: count }),
  problem: {
    type: 'object',
    required: ['type', 'title', 'status', 'code', 'detail'],
    properties: {
      type: {
        ...text,
        format: 'uri-reference',
        description: 'Address of a page about the code on this server',
      },
      title: text,
      status: count,
      code: oneOf(PROBLEM_CODES),
      detail: text,
      requestId: text,
    },
    externalDocs: { url: '/problems', description: 'What each code means and what to do' },
  },
};

type Parameter = Readonly<Record<string, unknown>>;

function inQuery(name: QueryParameter, description: string, schema: unknown): Parameter {
  return { name, in: 'query', description, schema };
}

export const PARAMETERS: Readonly<Record<QueryParameter, Parameter>> = {
  page: inQuery('page', 'Which page', { type: 'integer', minimum: 1, default: PAGE_DEFAULT }),
  pageSize: inQuery('pageSize', `Items on a page; more than ${PAGE_SIZE_MAX} is taken as ${PAGE_SIZE_MAX}`, {
    type: 'integer',
    minimum: 1,
    default: PAGE_SIZE_DEFAULT,
  }),
  from: inQuery('from', 'Inclusive: a date or an RFC 3339 instant', text),
  to: inQuery('to', 'Exclusive: a date or an RFC 3339 instant', text),
  type: inQuery('type', 'Metric type', metricType),
  bucket: inQuery('bucket', 'Width of a point', { enum: TREND_BUCKETS, default: 'day' }),
  timeZone: inQuery('timeZone', 'IANA time zone; absent: the user’s', text),
};

export const PATH_PARAMETERS = {
  category: { name: 'category', in: 'path', required: true, schema: oneOf(CATEGORY_SLUGS) },
  id: { name: 'id', in: 'path', required: true, description: 'Medication id', schema: text },
};

const errorResponse = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/problem' } } },
});

/** The errors that every endpoint can return, by status (contract section 2). */
export const ERROR_RESPONSES = {
  400: errorResponse('INVALID_REQUEST or UNSUPPORTED_VERSION'),
  401: errorResponse('TOKEN_EXPIRED or UNAUTHORIZED'),
  403: errorResponse('INSUFFICIENT_SCOPE or CONSENT_REQUIRED'),
  404: errorResponse('NOT_FOUND'),
  429: {
    ...errorResponse('RATE_LIMITED; ask again after the seconds in Retry-After'),
    headers: {
      'Retry-After': { description: 'Seconds', schema: count },
      'RateLimit-Policy': { description: 'Name, requests (q) and seconds (w) of the limit', schema: text },
      RateLimit: {
        description: 'Requests left (r), and seconds until all are there again (t)',
        schema: text,
      },
    },
  },
  500: errorResponse('INTERNAL_ERROR'),
  503: errorResponse('ACCESS_NOT_RECORDED or INTERNAL_ERROR; ask again later'),
};
