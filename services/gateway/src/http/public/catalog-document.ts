import { CATEGORIES, CATEGORY_SLUGS } from '@phds/catalog/categories';
import { DATA_PATHS, getEndpoint } from '@phds/catalog/endpoints';
import { METRICS } from '@phds/catalog/metrics';
import { SCOPES } from '@phds/catalog/scopes';

/** `GET /catalog.json`: the scopes, endpoints, categories and metric types. */
export function toCatalogDocument() {
  return {
    data: {
      scopes: SCOPES,
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
        parameters: getEndpoint(endpoint).query,
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
