import { resolve, type Schema } from './openapi.ts';

/** Lists of values longer than this are left to the page that explains them. */
const MOST_VALUES = 20;
const MAX_DEPTH = 6;

interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** The fields of an object as the rows of a table; nested ones as `data[].id`. Alternatives are shown one below the other. */
export function toFieldTables(schema: Schema, isRequest: boolean): string {
  const { oneOf, anyOf, ...whole } = resolve(schema);
  const variants = oneOf ?? anyOf ?? [whole];
  return variants.map((variant) => toTable(listFields(resolve(variant), '', 0), isRequest)).join('\n');
}

function toTable(fields: readonly Field[], isRequest: boolean): string {
  if (fields.length === 0) return '';
  const [head, line] = isRequest
    ? ['| Field | Type | Required | Description |', '|---|---|---|---|']
    : ['| Field | Type | Description |', '|---|---|---|'];
  const rows = fields.map(({ name, type, isRequired, description }) => {
    const need = isRequest ? ` ${isRequired ? 'yes' : 'no'} |` : '';
    const absent = isRequest || isRequired ? '' : 'May be absent. ';
    return `| \`${name}\` | ${escapeCell(type)} |${need} ${escapeCell((absent + description).trim())} |\n`;
  });
  return `${head}\n${line}\n${rows.join('')}`;
}

function listFields(schema: Schema, prefix: string, depth: number): Field[] {
  if (depth > MAX_DEPTH) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const resolved = resolve(property);
    const whole = prefix + name;
    const field = {
      name: whole,
      type: toType(property),
      isRequired: schema.required?.includes(name) ?? false,
      description: property.description ?? resolved.description ?? '',
    };
    return [field, ...listInner(resolved, whole, depth)];
  });
}

function listInner(schema: Schema, name: string, depth: number): Field[] {
  if (schema.items !== undefined) return listInner(resolve(schema.items), `${name}[]`, depth);
  const objects = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
    .map(resolve)
    .filter(({ properties }) => properties);
  const fields = objects.flatMap((object) => listFields(object, `${name}.`, depth + 1));
  // A field of several alternatives is one row.
  return [...Map.groupBy(fields, (field) => field.name)].map(([shared, same]) => ({
    name: shared,
    type: [...new Set(same.map(({ type }) => type))].join(' or '),
    isRequired: same.length === objects.length && same.every(({ isRequired }) => isRequired),
    description: same.find(({ description }) => description !== '')?.description ?? '',
  }));
}

/** The type of a value in words: `integer, from 1, default 20`. */
export function toType(schema: Schema): string {
  const resolved = resolve(schema);
  const limits = [
    resolved.format === undefined ? '' : ` (${resolved.format})`,
    resolved.minimum === undefined || resolved.minimum === 0 ? '' : `, from ${resolved.minimum}`,
    resolved.maximum === undefined || resolved.maximum >= Number.MAX_SAFE_INTEGER
      ? ''
      : `, to ${resolved.maximum}`,
    resolved.maxLength === undefined ? '' : `, at most ${resolved.maxLength} characters`,
    resolved.default === undefined ? '' : `, default \`${JSON.stringify(resolved.default)}\``,
  ];
  return toKind(resolved) + limits.join('');
}

function toKind(schema: Schema): string {
  if (schema.const !== undefined) return toCode(schema.const);
  if (schema.enum !== undefined) return toChoice(schema.enum);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return [...new Set(variants.map(toType))].join(' or ');
  if (schema.items !== undefined) return `list of ${toType(schema.items)}`;
  return [schema.type ?? 'any value'].flat().join(' or ');
}

function toChoice(values: readonly unknown[]): string {
  if (values.length <= MOST_VALUES) return values.map(toCode).join(', ');
  const isScope = String(values[0]).startsWith('read:');
  return isScope
    ? 'a [scope](scopes-and-consent.md#scopes)'
    : `one of ${values.length} values, such as ${toCode(values[0])}`;
}

function toCode(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

/** Text for a cell of a table. */
export function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
