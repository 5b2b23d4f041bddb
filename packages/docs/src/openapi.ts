import { readFileSync } from 'node:fs';

/** The parts of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

export interface ApiResponse extends Content {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, unknown>>;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

export interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
  };
}

/** An operation with its method and path. */
export interface PlacedOperation extends Operation {
  readonly method: string;
  readonly path: string;
}

/** The checked-in copy of what a gateway serves at `/openapi.json`. */
const FILE = new URL('../../../services/gateway/openapi.json', import.meta.url);

export const document = JSON.parse(readFileSync(FILE, 'utf8')) as OpenApi;

/** The operations in the order of the document. */
export function listOperations(): PlacedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** What a reference points to; other values are returned unchanged. */
export function resolve<T>(value: T | { readonly $ref: string }): T {
  const reference = (value as { $ref?: string }).$ref;
  if (reference === undefined) return value as T;
  const names = reference.split('/').slice(1);
  const found = names.reduce<unknown>(
    (part, name) => (part as Record<string, unknown> | undefined)?.[name],
    document,
  );
  if (found === undefined) throw new Error(`${reference} is not in the OpenAPI document.`);
  return resolve(found as T);
}
