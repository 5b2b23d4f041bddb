import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ServiceTokenSource } from '@phds/service-kit/service-token';
import { seedUsers } from './seed-users.ts';

/**
 * Creates the synthetic users' data up to `until`, unless `file` records that this was done. If interrupted, it is repeated;
 * existing data is kept.
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
