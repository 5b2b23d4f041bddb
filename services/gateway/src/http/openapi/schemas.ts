import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

type Json = Record<string, unknown>;

/** Collects the schemas that have an id, for `components.schemas`. */
export class SchemaComponents {
  readonly #schemas = new Map<string, unknown>();
  /** Many operations share schemas, and zod takes its time. */
  readonly #written = { input: new Map<z.ZodType, object>(), output: new Map<z.ZodType, object>() };

  /**
   * The JSON Schema of what a client sends (`input`) or receives (`output`). Schemas with an id become references. Throws RangeError
   * for two different schemas of one id.
   */
  add(schema: z.ZodType, io: 'input' | 'output'): object {
    const known = this.#written[io].get(schema);
    if (known !== undefined) return known;
    const written = this.#write(schema, io);
    this.#written[io].set(schema, written);
    return written;
  }

  #write(schema: z.ZodType, io: 'input' | 'output'): object {
    // Inside of an object, because zod writes a schema with an id as a reference only there.
    const written = JSON.stringify(z.toJSONSchema(z.object({ it: schema }), { io }));
    const { $defs = {}, properties } = JSON.parse(
      written.replaceAll('"#/$defs/', '"#/components/schemas/'),
      (_, node: unknown) => adapt(node, io),
    ) as { $defs?: Json; properties: { it: object } };
    for (const [id, definition] of Object.entries($defs)) this.#define(id, definition);
    return properties.it;
  }

  /** All collected schemas by id, ordered by id. */
  toJson(): Readonly<Json> {
    return Object.fromEntries([...this.#schemas].sort(([one], [other]) => (one < other ? -1 : 1)));
  }

  #define(id: string, schema: unknown): void {
    const known = this.#schemas.get(id);
    if (known !== undefined && !isDeepStrictEqual(known, schema)) {
      throw new RangeError(`Two different schemas have the id ${id}.`);
    }
    this.#schemas.set(id, schema);
  }
}

/**
 * Adapts what zod writes: integers have no limits of JavaScript, and `null` is one of several types. No object that clients receive is
 * closed, because those outside of the data under `/api/v1` may get further members in later releases.
 */
function adapt(node: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(node) || typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(([key, value]) => {
    if (key === 'additionalProperties') return value !== false || io === 'input';
    return !['minimum', 'maximum'].includes(key) || Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER;
  });
  return toNullable(Object.fromEntries(kept));
}

/** Turns `anyOf: [schema, null]` into a schema with two types. */
function toNullable(schema: Json): Json {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [value, nothing] = anyOf as [Json, Json];
  if (nothing['type'] !== 'null' || typeof value['type'] !== 'string' || 'const' in value) return schema;
  const values = Array.isArray(value['enum']) ? { enum: [...value['enum'], null] } : {};
  return { ...value, ...rest, type: [value['type'], 'null'], ...values };
}
