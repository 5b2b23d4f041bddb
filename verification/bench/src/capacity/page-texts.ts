import { ASSUMPTIONS, SERVER } from './assumptions.ts';
import type { Costs } from './costs.ts';
import { toBytesAfter, toLoad, toPeople } from './model.ts';
import { toBytes, toCount } from './tables-text.ts';

export const INTRODUCTION = `# Capacity

What a rate of requests needs, computed from measured costs. The figures in the tables are written by one command:

\`\`\`sh
pnpm bench capacity --users 400 --readings 500    # measures, and writes verification/bench/capacity-costs.json and this page
pnpm bench capacity --computed                    # writes the page from the costs that are there, after a change of an assumption
\`\`\`

The formulae are \`verification/bench/src/capacity/model.ts\`, the assumptions \`assumptions.ts\` beside it. A test compares this page with the
costs. Change the assumptions to those of your deployment before you rely on a figure. The costs are of one machine with everything on it:
network between machines, replication to standbys, TLS and backups come on top.`;

const TOP_RATE = 10_000;

/** How to raise the limit of each bottleneck. */
export function toMoves(costs: Costs): string {
  const after = (days: number) => toBytes(toBytesAfter('consent', days, TOP_RATE, costs, ASSUMPTIONS));
  const health = toLoad('health-data', { rate: TOP_RATE, days: 365 }, costs, SERVER, ASSUMPTIONS);
  return `## How to raise the limits

- **1 request a second**: nothing. One small machine does it; the second replica is for availability.
- **100 requests a second**: one server of each database, two replicas of each service. health-data grows most, by what people measure and
  not by what is read.
- **${toCount(TOP_RATE)} requests a second, ${toCount(toPeople(TOP_RATE, ASSUMPTIONS))} people**:
  - **health-data** needs more disk than one server has: distribute it by person ([distribution.md](distribution.md)), over at least
    ${Math.ceil(Math.max(...Object.values(health)))} servers after a year. Disk reads divide by the same number. Reads by read replicas do not help, because disk space is the limit.
  - **consent** keeps records for ${costs.recordDays} days, which is ${after(costs.recordDays)}. \`RECORD_RETENTION_DAYS=90\`, the least, is ${after(90)}. Older
    months can be moved to another tablespace. Beyond that, distribute \`access_record\` and \`access_day\` by person.
  - **WAL of consent** is mostly full pages, because the index of records by person is hit at random: one page of 8 kB for each record.
    \`wal_compression = lz4\` comes first, then the same distribution. Longer times between checkpoints help little.
  - **authorization** keeps used refresh tokens for 30 days, and every 32nd of a family that lives, to notice a replay
    ([growth](growth.md#authorization)). Fewer refreshes by apps would lower that.
  - **connections** of one server: lower \`DATABASE_POOL_SIZE\` and, in consent, \`ACCESS_POOL_SIZE\`, which are sized for one replica.
  - **services**: all four scale by replicas, whose numbers are [in the table](#what-a-rate-needs).

What a single person can cause is limited by the rate limits; a single app with all people behind it by the
setting \`LIMIT_APP_PER_MINUTE\`.`;
}
