import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const DIRECTORY = resolve(import.meta.dirname, '../../../../deploy/grafana/dashboards');

interface Dashboard {
  readonly templating: { readonly list: readonly object[] };
  /** Rows have no targets. */
  readonly panels: readonly {
    readonly type: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
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

/** A metric as an expression of PromQL uses it. */
export interface Use {
  readonly metric: string;
  /** Labels that the expression compares with `=`, by name. */
  readonly equals: Readonly<Record<string, string>>;
  /** Labels that it compares in any way. */
  readonly labels: readonly string[];
}

const WORDS = new Set(['and', 'or', 'unless', 'offset', 'bool', 'by', 'without', 'on', 'ignoring']);
const LABEL_LISTS = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^()]*)\)/g;
const STRINGS = /"(?:[^"\\]|\\.)*"/g;

/**
 * The metrics that a PromQL expression reads. Not a parser of the language: promtool checks the syntax, and this finds the names. A metric
 * is given by its name, never by a matcher for `__name__`.
 */
export function listUses(expr: string): Use[] {
  if (expr.includes('__name__')) throw new Error(`a metric without a name: ${expr}`);
  const uses: Use[] = [];
  // Braces in strings would end the matchers early.
  const strings: string[] = [];
  const plain = expr.replace(STRINGS, (text) => `"${strings.push(text.slice(1, -1)) - 1}"`);
  const bare = plain.replace(LABEL_LISTS, ' ').replace(/\[[^\]]*\]/g, ' ');
  for (const [, metric = '', matchers = ''] of bare.matchAll(
    /(?<![\w:.])([a-zA-Z_:][\w:]*)(?!\s*\()\b(?:\s*\{([^}]*)\})?/g,
  )) {
    if (WORDS.has(metric)) continue;
    const pairs = [...matchers.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"(\d+)"/g)];
    uses.push({
      metric,
      labels: pairs.map(([, label = '']) => label),
      equals: Object.fromEntries(
        pairs.flatMap(([, label = '', operator, index]) =>
          operator === '=' ? [[label, strings[Number(index)] ?? '']] : [],
        ),
      ),
    });
  }
  return uses;
}

/** The labels by which an expression groups or joins. */
export function listGroupings(expr: string): string[] {
  const plain = expr.replace(STRINGS, '""');
  const labels = [...plain.matchAll(LABEL_LISTS)].flatMap(([, list = '']) => list.split(','));
  return [...new Set(labels.map((label) => label.trim()).filter((label) => label !== ''))];
}
