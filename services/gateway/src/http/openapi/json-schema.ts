import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

type Json = Readonly<Record<string, unknown>>;

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
    const { $defs = {}, properties } = z.toJSONSchema(z.object({ it: schema }), { io });
    for (const [id, definition] of Object.entries($defs)) this.#define(id, tidy(definition, io));
    return tidy(properties?.['it'], io) as object;
  }

  /** All collected schemas by id, ordered by id. */
  toJson(): Json {
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

const INTERNAL_REFERENCE = '#/$defs/';

/**
 * Adapts what zod writes: references point to the components, `null` is one of several types, integers have no limits of JavaScript.
 * Objects that clients receive may get further members in later releases, so they are not closed.
 */
function tidy(node: unknown, io: 'input' | 'output'): unknown {
  if (Array.isArray(node)) return node.map((item) => tidy(item, io));
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(node).filter(([key, value]) => !isNoise(key, value, io));
  return toNullable(Object.fromEntries(kept.map(([key, value]) => [key, toValue(key, value, io)])));
}

function toValue(key: string, value: unknown, io: 'input' | 'output'): unknown {
  if (key === '$ref' && typeof value === 'string' && value.startsWith(INTERNAL_REFERENCE)) {
    return `#/components/schemas/${value.slice(INTERNAL_REFERENCE.length)}`;
  }
  return tidy(value, io);
}

function isNoise(key: string, value: unknown, io: 'input' | 'output'): boolean {
  if (key === 'additionalProperties') return value === false && io === 'output';
  return (key === 'minimum' || key === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
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
