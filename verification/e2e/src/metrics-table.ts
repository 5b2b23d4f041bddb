import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';

/** A row of the table of all metrics in docs/operations/observability.md. */
export interface DocumentedMetric {
  readonly name: string;
  readonly services: readonly string[];
  readonly type: string;
  readonly labels: readonly string[];
  /** The setting without which the metric is absent; null for none. */
  readonly needs: string | null;
}

const SERVICES = ['gateway', 'authorization', 'consent', 'health-data'] as const;
export type ServiceName = (typeof SERVICES)[number];

export function readMetricsTable(): DocumentedMetric[] {
  const page = readFileSync(join(repositoryRoot, 'docs/operations/observability.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(phds_\w+)` \| ([^|]+) \| (\w+) \|([^|]*)\|(.*)\|$/gm)];
  return rows.map(([, name = '', services = '', type = '', labels = '', meaning = '']) => ({
    name,
    services: services === 'all' ? SERVICES : services.split(', '),
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
    needs: /Absent without `(\w+)`/.exec(meaning)?.[1] ?? null,
  }));
}
