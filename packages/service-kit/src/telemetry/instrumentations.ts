import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { Redis } from 'ioredis';
import pg from 'pg';

/**
 * Creates spans for the statements of `pg` (also those of Prisma, which runs on it) and the commands of `ioredis`, within recorded
 * traces only.
 *
 * The instrumentations replace methods of the two classes. They are given the classes here, because their own way, hooks for module
 * loading, has to be set before the first import (`node --import`), and then depends on how the libraries are loaded.
 */
export function instrumentDatabases(): void {
  const postgres = new PgInstrumentation({
    enabled: false,
    requireParentSpan: true,
    // How long work waits for a connection is a metric. A span for each would double their number.
    ignoreConnectSpans: true,
  });
  patch(postgres, 'pg', pg);
  const redis = new IORedisInstrumentation({
    enabled: false,
    requireParentSpan: true,
    // Keys contain ids.
    dbStatementSerializer: (command) => command,
  });
  patch(redis, 'ioredis', Redis);
}

interface Instrumentation {
  getModuleDefinitions(): readonly {
    readonly name: string;
    readonly patch?: ((module: unknown) => unknown) | undefined;
  }[];
}

function patch(instrumentation: Instrumentation, name: string, module: unknown): void {
  const definition = instrumentation.getModuleDefinitions().find((each) => each.name === name);
  if (definition?.patch === undefined) throw new Error(`no instrumentation of ${name}`);
  definition.patch(module);
}
