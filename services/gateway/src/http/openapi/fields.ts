import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { METRICS } from '@phds/catalog/metrics';
import { PAGE_DEFAULT, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '@phds/catalog/pagination';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { GRANT_ENDERS } from '@phds/catalog/wire-names';
import { z } from 'zod';

/** Query parameters, header fields or path parameters of an operation, by name. */
export type Fields = Readonly<Record<string, z.ZodType>>;

export const text = z.string();
export const count = z.int().min(0);
export const date = z.string().meta({ format: 'date' });

/**
 * An instant that is always present: RFC 3339, UTC, milliseconds. In TypeScript it may be null, because every timestamp of a message
 * is optional there.
 */
export const instant = z.string().meta({ format: 'date-time' }) as unknown as z.ZodType<string | null>;
export const instantOrNull = z.string().meta({ format: 'date-time' }).nullable();

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
