import { applyMigrations, type MigrationTarget } from '@phds/service-kit/postgres/migrations';
import { withSchemaEngine } from './schema-engine.ts';

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
