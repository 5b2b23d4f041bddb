import { CATEGORIES, CATEGORY_SLUGS } from '@phds/catalog/categories';
import { DATA_PATHS, getEndpoint } from '@phds/catalog/endpoints';
import { METRICS } from '@phds/catalog/metrics';
import { SCOPES } from '@phds/catalog/scopes';
import { z } from 'zod';
import { publicScope } from '../oauth/metadata.ts';
import { category, count, metricType, scope, text } from '../openapi/fields.ts';
import { publicDocument } from '../operation.ts';

const referenceRange = z.object({ low: z.number(), high: z.number(), source: text });

const catalogJson = z.object({
  data: z.object({
    scopes: z.array(publicScope),
    categories: z.array(z.object({ slug: category, title: text, types: z.array(metricType) })),
    endpoints: z.array(
      z.object({
        method: z.literal('GET'),
        path: text,
        scope,
        envelope: z.enum(['list', 'object']),
        parameters: z.array(text),
      }),
    ),
    types: z.array(
      z.object({
        type: metricType,
        category,
        unit: text,
        additive: z.boolean(),
        decimals: count,
        loinc: text.nullable(),
        referenceRange: referenceRange.nullable(),
      }),
    ),
  }),
});

/** `GET /catalog.json`: the scopes, endpoints, categories and metric types. */
function toCatalogDocument(): z.infer<typeof catalogJson> {
  return {
    data: {
      scopes: SCOPES.map((entry) => ({ ...entry, endpoints: [...entry.endpoints] })),
      categories: CATEGORIES.map(({ slug, title }) => ({
        slug,
        title,
        types: METRICS.filter(({ category }) => category === slug).map(({ name }) => name),
      })),
      endpoints: DATA_PATHS.map(({ path, endpoint, scope }) => ({
        method: 'GET',
        path,
        scope,
        envelope: getEndpoint(endpoint).envelope,
        parameters: [...getEndpoint(endpoint).query],
      })),
      types: METRICS.map(({ name, category, unit, kind, decimals, loinc, referenceRange }) => ({
        type: name,
        category,
        unit,
        additive: kind === 'additive',
        decimals,
        loinc,
        referenceRange,
      })).sort((a, b) => CATEGORY_SLUGS.indexOf(a.category) - CATEGORY_SLUGS.indexOf(b.category)),
    },
  };
}

const publicKeysJson = z.object({
  keys: z.array(
    z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: text,
      kid: text,
      alg: z.literal('EdDSA'),
      use: z.literal('sig'),
    }),
  ),
});

export const RECEIPT_KEYS = publicDocument({
  path: '/.well-known/jwks.json',
  operationId: 'getReceiptKeys',
  summary: 'List the public keys of consent receipts',
  body: publicKeysJson,
  toContent: ({ config }) => config.RECEIPT_PUBLIC_KEYS,
});

export const CATALOG = publicDocument({
  path: '/catalog.json',
  operationId: 'getCatalog',
  summary: 'List scopes, categories, data endpoints and metric types',
  body: catalogJson,
  toContent: toCatalogDocument,
});
