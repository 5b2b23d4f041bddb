import { z } from 'zod';

/** What the settings page says about one setting. */
export interface SettingRow {
  readonly name: string;
  readonly meaning: string;
  /** Unit or form of the value, and its bounds. */
  readonly value: string;
  readonly standard: string;
  readonly secret: string;
}

/** Strict, so that a misspelt property of `.meta({…})` is an error. */
const DESCRIPTION = z.strictObject({
  description: z
    .string('has no .describe(…)')
    .regex(/\.\)?$/, 'has a description that does not end with a full stop'),
  unit: z.string().optional(),
  fallback: z.string().optional(),
  secret: z.union([z.literal(true), z.string()]).optional(),
});

/** The rows of a schema's settings. Throws an error that names each setting without a description or unit. */
export function toSettingRows(settings: z.ZodObject): SettingRow[] {
  const problems: string[] = [];
  const rows = Object.entries(settings.shape).flatMap(([name, schema]) => {
    try {
      return [toRow(name, schema as z.ZodType)];
    } catch (error) {
      problems.push(
        `${name} ${error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message}`,
      );
      return [];
    }
  });
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return rows;
}

function toRow(name: string, schema: z.ZodType): SettingRow {
  const layers = listLayers(schema);
  const { description, unit, fallback, secret } = DESCRIPTION.parse(mergeMeta(layers));
  if (isNamedSecret(name) && secret === undefined)
    throw new Error('is named like a secret, but not marked as one');
  return {
    name,
    meaning: description,
    value: describeValue(layers, unit),
    standard: fallback ?? describeDefault(layers),
    secret: secret === true ? 'yes' : (secret ?? ''),
  };
}

function isNamedSecret(name: string): boolean {
  return /(_KEY|_SECRET|_PASSWORD|DATABASE_URL)$/.test(name);
}

/** The schema and everything that it wraps, outermost first. */
function listLayers(schema: z.ZodType): z.ZodType[] {
  if (schema instanceof z.ZodPipe) return [schema, ...listLayers(schema.in as z.ZodType)];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return [schema, ...listLayers(schema.unwrap() as z.ZodType)];
  }
  return [schema];
}

/** Outer layers take precedence. */
function mergeMeta(layers: readonly z.ZodType[]): Record<string, unknown> {
  const all = layers.toReversed().flatMap((layer) => Object.entries(layer.meta() ?? {}));
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

function describeValue(layers: readonly z.ZodType[], unit: string | undefined): string {
  const innermost = layers.at(-1);
  if (unit === undefined) {
    if (innermost instanceof z.ZodEnum) return innermost.options.map((option) => `\`${option}\``).join(', ');
    throw new Error('has no unit');
  }
  const bounds = innermost instanceof z.ZodNumber && unit !== 'port' ? describeBounds(innermost) : '';
  return `${unit}${bounds}`;
}

/** The largest values that are only technical limits: of numbers, and of timers in milliseconds. */
const UNBOUNDED = [Number.MAX_SAFE_INTEGER, 2_147_483_647];

function describeBounds({ minValue, maxValue }: z.ZodNumber): string {
  const min = minValue ?? 0;
  if (maxValue !== null && !UNBOUNDED.includes(maxValue)) return `, ${min} to ${maxValue}`;
  return min > 1 ? `, at least ${min}` : '';
}

function describeDefault(layers: readonly z.ZodType[]): string {
  const withDefault = layers.find((layer) => layer instanceof z.ZodDefault);
  if (withDefault !== undefined) {
    const value = withDefault.def.defaultValue;
    return Array.isArray(value) && value.length === 0 ? 'none' : `\`${String(value)}\``;
  }
  return layers.some((layer) => layer instanceof z.ZodOptional) ? 'none' : 'required';
}
