import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@phds/test-kit/databases';

/** The files of the small service that the database tests use in place of a real one. */
export const LIBRARY_PRISMA = join(import.meta.dirname, 'fixtures/library/prisma');

export function createLibraryDatabase(): Promise<TestDatabase> {
  return createTestDatabase('library', { migrations: join(LIBRARY_PRISMA, 'migrations') });
}
