import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { ServiceTokenSource } from '@phds/service-kit/trust/service-token';
import { seedUsers } from './seed-users.ts';

/**
 * Creates the synthetic users' data up to `until`. `file` records how far it reaches, so a later run adds only what is missing. If
 * interrupted, it is repeated; existing data is kept.
 */
export async function seedUntil(
  file: string,
  address: string,
  tokens: ServiceTokenSource,
  until = new Date(),
): Promise<void> {
  const since = existsSync(file) ? new Date(JSON.parse(readFileSync(file, 'utf8')).seededAt) : null;
  if (since !== null && since >= until) return;
  await seedUsers(address, tokens, { since, until });
  await writeFile(file, `${JSON.stringify({ seededAt: until.toISOString() })}\n`);
}
