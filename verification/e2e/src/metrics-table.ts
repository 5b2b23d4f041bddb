import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';

/** A metric in the table of docs/operations/observability.md. */
export interface DocumentedMetric {
  readonly name: string;
  readonly services: readonly string[];
  readonly type: string;
  readonly labels: readonly string[];
  /** The setting without which the metric is absent; null for none. */
  readonly needs: string | null;
}

const SERVICES = ['gateway', 'authorization', 'consent', 'health-data'] as const;
/** The columns behind that of the services. */
const TYPES = ['gauge', 'counter', 'histogram'] as const;

export function readMetricsTable(): DocumentedMetric[] {
  const page = readFileSync(join(repositoryRoot, 'docs/operations/observability.md'), 'utf8');
  const absent = [...page.matchAll(/^Without `(\w+)`, these are absent: (.+)$/gm)];
  const rows = page.split('\n').filter((line) => line.startsWith('|') && line.includes('`phds_'));
  return rows.flatMap((row) => {
    const [, services = '', ...cells] = row.split('|').map((cell) => cell.trim());
    return TYPES.flatMap((type, column) =>
      [...(cells[column] ?? '').matchAll(/`(phds_\w+)(?:\{([\w,]+)\})?`/g)].map(([, name = '', labels]) => ({
        name,
        services: services === 'all' ? SERVICES : services.split(', '),
        type,
        labels: labels?.split(',') ?? [],
        needs: absent.find(([, , names]) => names?.includes(`\`${name}\``))?.[1] ?? null,
      })),
    );
  });
}
