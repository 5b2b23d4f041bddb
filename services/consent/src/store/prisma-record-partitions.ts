import type { RecordPartitions } from '../app/record-ports.ts';
import type { PrismaClient } from './generated/client.ts';

/** By functions of the schema's owner: the service itself may change no table. */
export function createPrismaRecordPartitions(prisma: PrismaClient): RecordPartitions {
  return {
    async ensure(monthsAhead) {
      const [row] = await prisma.$queryRaw<{ made: number }[]>`
        SELECT ensure_access_partitions(${monthsAhead}::int) AS made`;
      return row?.made ?? 0;
    },
    async drop(keepDays) {
      const rows = await prisma.$queryRaw<{ name: string }[]>`
        SELECT name FROM drop_access_partitions(${keepDays}::int) AS dropped(name)`;
      return rows.map((row) => row.name);
    },
  };
}
