import { expect, test } from '@jest/globals';
import { toPrismaOptions } from '@phds/service-kit/postgres/prisma';
import pg from 'pg';
import { PrismaClient } from '../src/store/generated/client.ts';

test('an undefined in a filter is rejected instead of dropping the filter, which would match every row', async () => {
  const unused = new pg.Pool({ host: '127.0.0.1', port: 1 });
  const options = toPrismaOptions(unused, { schema: 'authorization', statementTimeoutMs: 1_000 });
  const prisma = new PrismaClient(options);
  const userId = undefined as unknown as string;
  await expect(prisma.developer.deleteMany({ where: { userId } })).rejects.toThrow(/undefined/);
});
