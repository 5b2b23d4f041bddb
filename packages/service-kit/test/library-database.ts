import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';

/** Files of a small service that the database tests use. */
export const LIBRARY_PRISMA = join(import.meta.dirname, 'fixtures/library/prisma');

export function createLibraryDatabase(): Promise<TestDatabase> {
  return createTestDatabase('library', { migrations: join(LIBRARY_PRISMA, 'migrations') });
}
