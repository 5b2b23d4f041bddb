import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapter, SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

export interface EngineOptions {
  readonly connectionString: string;
  /** Postgres schema that the migrations' unqualified names mean. */
  readonly schema: string;
  /** Content of schema.prisma, where the operation compares with it. */
  readonly datamodel?: string;
}

type EngineClass = typeof SchemaEngine;

/**
 * Runs Prisma's own schema engine, the WebAssembly package of it, on a database. `prisma migrate` would do the same
 * but downloads its engine from a host of its own when it runs.
 */
export async function withSchemaEngine<T>(
  options: EngineOptions,
  use: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const Engine = await loadEngine();
  const pool = new CatalogPool({
    connectionString: options.connectionString,
    // One connection: a migration's SET lasts as long as its author expects.
    max: 1,
    application_name: 'phds-migrations',
    options: `-c search_path=${options.schema}`,
  });
  pool.on('error', () => undefined);
  const panics = recordPanics();
  const factory = bindMigrationAwareSqlAdapterFactory(engineAdapterFactory(pool, options.schema));
  const datamodels: [string, string][] | undefined =
    options.datamodel === undefined ? undefined : [['schema.prisma', options.datamodel]];
  try {
    const engine = await Engine.new({ datamodels }, () => undefined, factory);
    try {
      return await use(engine);
    } finally {
      engine.free();
    }
  } catch (error) {
    if (panics.length === 0) throw error;
    // After a panic the instance is unusable; the next use loads another.
    loading = undefined;
    throw new Error(`the schema engine failed: ${panics.join('; ')}`, { cause: error });
  } finally {
    await pool.end();
  }
}

/** Type of Postgres's own catalogue columns: one byte, written `"char"`. */
const INTERNAL_CHAR = 18;
const BPCHAR = 1042;

// PrismaPg does not know the type "char" and refuses every result that has a column of it. The catalogue tables that
// a comparison reads do: such columns pass as character(1), and are noted for the adapter to name them rightly.
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

function engineAdapterFactory(pool: CatalogPool, schema: string): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(pool, { schema });
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => prepareAdapter(await factory.connect(), pool),
    connectToShadowDb: () =>
      Promise.reject(new Error('a scratch database takes the place of a shadow database')),
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
  // PrismaPg splits a script at every semicolon, which breaks function bodies. Postgres takes a script as it is,
  // and runs it as one transaction: a migration is applied whole or not at all.
  adapter.executeScript = async (script) => {
    await adapter.executeRaw({ sql: script, args: [], argTypes: [] });
  };
  return adapter;
}

// The part of the platform that TypeScript only declares together with the browser's DOM.
const { WebAssembly: webAssembly } = globalThis as unknown as {
  WebAssembly: {
    instantiate(
      bytes: Uint8Array,
      imports: Record<string, unknown>,
    ): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>;
  };
};

/** The engine reports its panics to a global before it traps; without it the report itself is the error. */
function recordPanics(): string[] {
  const messages: string[] = [];
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { set_message: (message: string) => messages.push(message) },
  });
  return messages;
}

let loading: Promise<EngineClass> | undefined;

function loadEngine(): Promise<EngineClass> {
  loading ??= instantiate();
  return loading;
}

async function instantiate(): Promise<EngineClass> {
  // The package's own entry imports the .wasm as a module, which Node only does behind a flag.
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm');
  const bytes = await readFile(join(dirname(entry), 'schema_engine_bg.wasm'));
  const { instance } = await webAssembly.instantiate(bytes, {
    './schema_engine_bg.js': withIdleTimers(glue),
  });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  return glue.SchemaEngine;
}

// The engine bounds its lock by a timer of ten seconds that it never clears: a run would end that much later.
function withIdleTimers(glue: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(glue).map(([name, value]) => {
    if (!name.startsWith('__wbg_setTimeout_')) return [name, value] as const;
    return [name, (run: () => void, milliseconds: number) => setTimeout(run, milliseconds).unref()] as const;
  });
  return Object.fromEntries(entries);
}
