import type { AlertRule, RuleFile } from '../rule-files.ts';

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/**
 * The same rules in less time: every duration (`for`, windows, `offset`) and every age (`N * 60`) is divided by one factor. Rates, shares,
 * latencies and counts stay.
 */
export function shortenRules({ groups }: RuleFile, factor: number): RuleFile {
  return {
    groups: groups.map(({ name, rules }) => ({
      name,
      rules: rules.map((rule) => ({
        ...rule,
        expr: shortenExpression(rule.expr, factor),
        ...('for' in rule ? { for: shorten((rule as AlertRule).for ?? '0s', factor) } : {}),
      })),
    })),
  };
}

function shortenExpression(expr: string, factor: number): string {
  return expr
    .replace(/\[(\w+)\]/g, (_, duration: string) => `[${shorten(duration, factor)}]`)
    .replace(/\boffset (\w+)/g, (_, duration: string) => `offset ${shorten(duration, factor)}`)
    .replace(/\* 60\b/g, `* ${60 / factor}`);
}

function shorten(duration: string, factor: number): string {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  if (count === undefined || unit === undefined) throw new Error(`not a duration: ${duration}`);
  return `${Math.round((Number(count) * SECONDS[unit as keyof typeof SECONDS] * 1000) / factor)}ms`;
}
