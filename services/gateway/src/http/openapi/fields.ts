import { PROFILE_FIELDS, type ProfileField } from '@phds/catalog/app-profile';
import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { METRICS } from '@phds/catalog/metrics';
import { PAGE_DEFAULT, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { GRANT_ENDERS } from '@phds/catalog/wire-names';
import { z } from 'zod';

/** Query parameters, header fields or path parameters of an operation, by name. */
export type Fields = Readonly<Record<string, z.ZodType>>;

export const text = z.string();
export const textOrNull = text.nullable();

/** The fields of what an app says of itself besides its name. */
export function profileFields<T extends z.ZodType>(field: T) {
  const fields = PROFILE_FIELDS.filter((name) => name !== 'name').map((name) => [name, field]);
  return Object.fromEntries(fields) as Record<Exclude<ProfileField, 'name'>, T>;
}

/** Null when the app has no such text. */
export const profileTexts = profileFields(textOrNull);

export const count = z.int().min(0);
export const date = z.string().meta({ format: 'date' });

/**
 * An instant that is always present: RFC 3339, UTC, milliseconds. In TypeScript it may be null, because every timestamp of a message
 * is optional there.
 */
export const instant = z.string().meta({ format: 'date-time' }) as unknown as z.ZodType<string | null>;
export const instantOrNull = z.string().meta({ format: 'date-time' }).nullable();

/** The first day of what a grant opens. */
export const dataFrom = date
  .nullable()
  .meta({ description: 'First day of the data that is shared; null for all.' });

/** In TypeScript a text, as in the messages of the services. */
export const scope = z
  .enum(SCOPE_NAMES)
  .meta({ id: 'Scope', description: 'A kind of data.' }) as unknown as z.ZodType<string>;
export const metricType = z
  .enum(METRICS.map(({ name }) => name))
  .meta({ id: 'MetricType', description: 'A kind of measurement.' });
export const category = z
  .enum(CATEGORY_SLUGS)
  .meta({ id: 'Category', description: 'A category of readings.' });

export const SUB = /^sub_[0-9A-Za-z]{22}$/;

/** Names a person for one app; other apps get another one. */
export const sub = text.regex(SUB);

/** Who ended a grant. In TypeScript a text, as in the messages of the services. */
export const grantEnder = z.enum(GRANT_ENDERS).meta({ id: 'GrantEnder' }) as unknown as z.ZodType<string>;

const pagination = z.object({ page: count, pageSize: count, total: count, totalPages: count }).meta({
  id: 'Pagination',
  description: 'Which page of a list this is; `total` counts the items of all pages.',
});

/** The list envelope. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), pagination });
}

/** The envelope of a single object. */
export function dataOf<T extends z.ZodType>(item: T) {
  return z.object({ data: item });
}

/** The query parameters of every list. */
export const PAGE_QUERY = {
  page: z.int().min(1).meta({ description: 'Which page.', default: PAGE_DEFAULT }),
  pageSize: z
    .int()
    .min(1)
    .meta({
      description: `Items on a page: 1 to ${PAGE_SIZE_MAX}; more is taken as ${PAGE_SIZE_MAX}.`,
      default: PAGE_SIZE_DEFAULT,
    }),
} as const;

interface HeaderField {
  readonly description: string;
  readonly schema: z.ZodType;
  /** Whether the field may be absent from an answer that has it in its list. */
  readonly optional?: true;
}

/** The header fields of answers that a client may want to read. Fields of HTTP itself and those for browsers are not listed. */
const HEADERS = {
  'API-Version': { description: 'The version of the API that answered.', schema: z.literal('1') },
  ETag: {
    description:
      'Names this state of the body. Send it in `If-None-Match` to get 304 if nothing has changed.',
    schema: text.regex(/^(W\/)?"[^"]*"$/),
  },
  Link: {
    description:
      'Addresses of other pages (RFC 8288), relative to the request: `first`, `prev`, `next`, `last`.',
    schema: text.regex(/^<[^>]*>; rel="[a-z]+"(, <[^>]*>; rel="[a-z]+")*$/),
  },
  Location: { description: 'Where to go on.', schema: text.min(1) },
  'RateLimit-Policy': {
    description: 'The name of the limit, its requests (`q`) and its seconds (`w`).',
    schema: text.regex(/^"[\w-]+";q=\d+;w=\d+$/),
  },
  RateLimit: {
    description: 'Requests left (`r`), and seconds until all are there again (`t`).',
    schema: text.regex(/^"[\w-]+";r=\d+;t=\d+$/),
  },
  'X-Request-Id': {
    description: 'The id of this request. Give it to the operator with a question about the answer.',
    schema: text.regex(/^req_[A-Za-z0-9]+$/),
  },
  'Retry-After': { description: 'Seconds to wait before the same request.', schema: count },
  'WWW-Authenticate': {
    description: 'Which credential is asked for (RFC 6750, RFC 9449).',
    schema: text.min(1),
  },
  Deprecation: {
    description: 'Since when this version is deprecated (RFC 9745). Absent while it is not.',
    schema: text.regex(/^@\d+$/),
    optional: true,
  },
  Sunset: {
    description: 'When this version is removed (RFC 8594). Absent while no date is set.',
    schema: text.min(1),
    optional: true,
  },
  'Cache-Control': { description: 'Whether and how long the answer may be kept.', schema: text.min(1) },
  Pragma: { description: 'For caches of HTTP/1.0 (RFC 6749 5.1).', schema: z.literal('no-cache') },
  'Set-Cookie': { description: 'Removes the session cookie.', schema: text.min(1) },
  'Content-Disposition': { description: 'The name of the file.', schema: text.min(1) },
  'Access-Control-Allow-Origin': { description: 'Open to every origin.', schema: z.literal('*') },
} as const satisfies Readonly<Record<string, HeaderField>>;

export type HeaderName = keyof typeof HEADERS;

/** The fields of an answer within a limit. */
export const LIMITED: readonly HeaderName[] = ['RateLimit-Policy', 'RateLimit'];

/** A reference to each field; for fields that the status alone does not promise, a reference that allows absence. */
export function toHeaderReferences(names: readonly HeaderName[], maybe: readonly HeaderName[] = []) {
  const reference = (name: string) => ({ $ref: `#/components/headers/${name}` });
  return Object.fromEntries([
    ...names.map((name) => [name, reference(name)]),
    ...maybe.map((name) => [name, reference(isOptional(name) ? name : `Maybe-${name}`)]),
  ]);
}

function isOptional(name: HeaderName): boolean {
  return (HEADERS[name] as HeaderField).optional === true;
}

/** `components.headers`: each field as required and as optional, as far as the written answers refer to it. */
export function toHeaderComponents(answers: string, toSchema: (schema: z.ZodType) => unknown) {
  const names = Object.keys(HEADERS) as HeaderName[];
  const components = Object.fromEntries(
    names.flatMap((name) => {
      const { description, schema } = HEADERS[name];
      const header = { description, schema: toSchema(schema) };
      if (isOptional(name)) return [[name, header]];
      return [
        [name, { ...header, required: true }],
        [`Maybe-${name}`, header],
      ];
    }),
  );
  const isUsed = (name: string) => answers.includes(`"#/components/headers/${name}"`);
  return Object.fromEntries(Object.entries(components).filter(([name]) => isUsed(name)));
}
