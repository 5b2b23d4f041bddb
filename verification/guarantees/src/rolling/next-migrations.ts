import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import type { RunningStack } from '@phds/running-system/running-stack';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';

/** Tables that every read, token request or revocation uses. */
const TABLES = {
  authorization: ['app', 'access_token', 'token_family'],
  consent: ['app', 'consent_grant', 'access_record', 'access_day'],
  'health-data': ['reading'],
} as const;

/**
 * Applies to each database what a next release may bring (docs/operations/upgrade-and-release.md): a column in each of these tables, and then an
 * index that is built while the service writes.
 */
export async function applyNextMigrations({ databases }: Pick<RunningStack, 'databases'>): Promise<void> {
  for (const [service, tables] of Object.entries(TABLES)) {
    const { ownerUrl, schema } = databases[service as keyof typeof TABLES];
    const columns = tables.map(
      (table) => `ALTER TABLE ${table} ADD COLUMN next_release text DEFAULT 'next';`,
    );
    const index = `CREATE INDEX CONCURRENTLY IF NOT EXISTS next_release_idx ON ${tables[0]} (next_release);`;
    const directory = await mkdtemp(join(tmpdir(), 'phds-next-'));
    try {
      await cp(join(repositoryRoot, 'services', service, 'prisma/migrations'), directory, {
        recursive: true,
      });
      for (const [name, sql] of Object.entries({
        '90000000000000_next': columns.join('\n'),
        '90000000000001_next_index': index,
      })) {
        await mkdir(join(directory, name));
        await writeFile(join(directory, name, 'migration.sql'), sql);
      }
      await applyMigrations({ connectionString: ownerUrl, schema, directory });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}
