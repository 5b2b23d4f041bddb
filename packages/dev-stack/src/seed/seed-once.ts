import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ServiceTokenSource } from '@phds/service-kit/service-token';
import { seedUsers } from './seed-users.ts';

/**
 * Fills in the synthetic users unless `file` says that it was done. Interrupted, it is done again; the data already
 * there stays as it is.
 */
export async function seedOnce(file: string, address: string, tokens: ServiceTokenSource): Promise<void> {
  if (existsSync(file)) return;
  const now = new Date();
  await seedUsers(address, tokens, now);
  await writeFile(file, `${JSON.stringify({ seededAt: now.toISOString() })}\n`);
}
