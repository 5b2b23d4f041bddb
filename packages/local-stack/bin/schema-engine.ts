import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { applyMigrations, type MigrationTarget } from '@phds/service-kit/postgres/migrations';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

interface EngineOptions {
  readonly connectionString: string;
  readonly schema: string;
  /** Content of schema.prisma. */
  readonly datamodel: string;
}

type EngineClass = typeof SchemaEngine;

/**
 * Runs Prisma's schema engine, taken from its WebAssembly package, on a database. `prisma migrate` would do the same but downloads its
 * engine when it first runs. For comparisons during development and in CI; deployments apply migrations without it.
 */
async function withSchemaEngine<T>(
  { connectionString, schema, datamodel }: EngineOptions,
  use: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const Engine = await loadEngine();
  const pool = new CatalogPool({
    connectionString,
    max: 1,
    application_name: 'phds-schema-engine',
    options: `-c search_path=${schema}`,
  });
  try {
    const factory = bindMigrationAwareSqlAdapterFactory(createAdapterFactory(pool, schema));
    const engine = await Engine.new({ datamodels: [['schema.prisma', datamodel]] }, () => undefined, factory);
    return await use(engine);
  } finally {
    await pool.end();
  }
}

/** The one-byte type of Postgres's own catalogue columns, written `"char"`. */
const INTERNAL_CHAR = 18;
const BPCHAR = 1042;

// PrismaPg does not know the type "char" and rejects every result with such a column, which the catalogue tables have. Such columns
// pass as character(1), and the adapter then reports the right type.
class CatalogPool extends pg.Pool {
  readonly charColumns = new WeakMap<object, number[]>();

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of Pool.query cannot be written down again
  override async query(...args: any[]): Promise<any> {
    const result: pg.QueryResult | pg.QueryResult[] = await Reflect.apply(super.query, this, args);
    if (!Array.isArray(result)) this.noteCharColumns(result);
    return result;
  }

  private noteCharColumns(result: pg.QueryResult): void {
    const columns: number[] = [];
    for (const [index, field] of result.fields.entries()) {
      if (field.dataTypeID !== INTERNAL_CHAR) continue;
      field.dataTypeID = BPCHAR;
      columns.push(index);
    }
    this.charColumns.set(result.rows, columns);
  }
}

function createAdapterFactory(pool: CatalogPool, schema: string): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(pool, { schema });
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => prepareAdapter(await factory.connect(), pool),
    connectToShadowDb: () =>
      Promise.reject(new Error('a scratch database is used instead of a shadow database')),
  };
}

function prepareAdapter(adapter: SqlDriverAdapter, pool: CatalogPool): SqlDriverAdapter {
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query);
    for (const column of pool.charColumns.get(result.rows) ?? []) {
      result.columnTypes[column] = ColumnTypeEnum.Character;
    }
    return result;
  };
  return adapter;
}

// TypeScript declares WebAssembly only in the DOM library.
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: {
    instantiate(
      bytes: Uint8Array,
      imports: Record<string, unknown>,
    ): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
  };
};

let loading: Promise<EngineClass> | undefined;

function loadEngine(): Promise<EngineClass> {
  loading ??= instantiate();
  return loading;
}

async function instantiate(): Promise<EngineClass> {
  // The package's own entry point imports the .wasm file as a module, which Node supports only behind a flag.
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm');
  const bytes = await readFile(join(dirname(entry), 'schema_engine_bg.wasm'));
  const { instance } = await webAssembly.instantiate(bytes, { './schema_engine_bg.js': { ...glue } });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  // The engine reports a panic to this global before it traps, and fails with another error where there is none.
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { set_message: (message: string) => console.error(message) },
  });
  return glue.SchemaEngine;
}

/**
 * Compares what the migrations build with what schema.prisma says: applies them to the target, an empty scratch database, and returns
 * the SQL of the difference; empty when there is none. What a Prisma schema cannot express does not count: functions, triggers, grants,
 * checks, partial indexes, partitions. Tables that only SQL knows are declared in schema.prisma by a line
 * `// external tables: first, second`.
 */
export async function findDrift(target: MigrationTarget, datamodel: string): Promise<string> {
  await applyMigrations(target);
  const files = [{ path: 'schema.prisma', content: datamodel }];
  const { exitCode, stdout } = await withSchemaEngine({ ...target, datamodel }, (engine) =>
    engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '/' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: { externalTables: findExternalTables(datamodel, target.schema), externalEnums: [] },
    }),
  );
  return exitCode === 0 ? '' : `${(stdout ?? '').trim()}\n`;
}

function findExternalTables(datamodel: string, schema: string): string[] {
  const lines = datamodel.matchAll(/^\s*\/\/ external tables:(.*)$/gm);
  const names = [...lines].flatMap(([, list]) => (list ?? '').split(',')).map((name) => name.trim());
  return names.filter((name) => name !== '').map((name) => `${schema}.${name}`);
}
