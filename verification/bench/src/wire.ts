import type { Category } from '@phds/catalog/categories';
import { metricsOfCategory } from '@phds/catalog/metrics';

/** Names and units of a category's types by their database key. */
export function categoryMetrics(category: Category): Record<string, { name: string; unit: string }> {
  return Object.fromEntries(metricsOfCategory(category).map(({ key, name, unit }) => [key, { name, unit }]));
}
