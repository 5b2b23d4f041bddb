import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ServiceTokenSource } from '@phds/service-kit/service-token';
import { seedUsers } from './seed-users.ts';

/**
 * Fills in the synthetic users unless `file` says that it was done. Interrupted, it is done again; the data already
 * there stays as it is. Their data ends at `until`.
 */
export async function seedOnce(
  file: string,
  address: string,
  tokens: ServiceTokenSource,
  until = new Date(),
): Promise<void> {
  if (existsSync(file)) return;
  await seedUsers(address, tokens, until);
  await writeFile(file, `${JSON.stringify({ seededAt: until.toISOString() })}\n`);
}
