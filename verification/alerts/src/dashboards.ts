import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const DIRECTORY = resolve(import.meta.dirname, '../../../deploy/grafana/dashboards');

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  /** Rows have none. */
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly datasource: { readonly type: string; readonly uid: string };
  }[];
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: unknown;
  readonly allValue?: string;
}

export interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly Variable[] };
  readonly panels: readonly Panel[];
}

/** The dashboards of deploy/grafana, by file name. */
export function readDashboards(): [file: string, dashboard: Dashboard][] {
  const files = readdirSync(DIRECTORY).filter((file) => file.endsWith('.json'));
  return files.toSorted().map((file) => [file, JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8'))]);
}

/** The PromQL expressions of a dashboard, with values in place of Grafana's variables. */
export function listExpressions({ panels }: Pick<Dashboard, 'panels'>): string[] {
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return expressions.map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'phds-.+'));
}
