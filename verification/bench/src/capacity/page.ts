import { resolve } from 'node:path';
import { toTable } from '../report.ts';
import { ASSUMPTIONS, RATES, SERVER } from './assumptions.ts';
import {
  bytesPer,
  bytesPerRecord,
  type Costs,
  DATABASES,
  type DatabaseName,
  type Resource,
  SERVICES,
  toBottleneck,
  toBytesAfter,
  toCores,
  toDailyBytes,
  toDatabaseCores,
  toDiskPages,
  toFullPageBytes,
  toHighestRate,
  toLoad,
  toNetworkBytes,
  toPeople,
  toRedisBytes,
  toReplicas,
  toWalBytes,
  toWork,
  type UnitCost,
} from './model.ts';

const INTRODUCTION = `# Capacity

What a rate of requests needs, computed from measured costs. The figures in the tables are written by one command:

\`\`\`sh
pnpm bench capacity --users 400 --readings 500    # measures, and writes verification/bench/capacity-costs.json and this page
pnpm bench capacity --computed                    # writes the page from the costs that are there, after a change of an assumption
\`\`\`

The formulae are \`verification/bench/src/capacity/model.ts\`, the assumptions \`assumptions.ts\` beside it. Change the assumptions to those of your deployment before you rely on a figure. The costs are of one machine with everything on it:
network between machines, replication to standbys, TLS and backups come on top.`;

export const PAGE_FILE = resolve(import.meta.dirname, '../../../../docs/operations/capacity.md');

/** Days after which disks are compared: a year. */
const DAYS = 365;

/** The page docs/operations/capacity.md. */
export function renderPage(costs: Costs): string {
  const parts = [
    INTRODUCTION,
    '## What was measured',
    `${costs.measuredAt.slice(0, 10)}, ${costs.machine}. Load averages at the beginning and the end, from other work on the machine: ${costs.loads.before}; ${costs.loads.after}. CPU grows with such a load, so these figures are on the high side.`,
    renderUnits(costs),
    renderRows(costs),
    '## What is assumed',
    renderAssumptions(),
    '## What a rate needs',
    renderRates(costs),
    '## The first bottleneck of each database',
    renderBottlenecks(costs),
    '## How far one server carries',
    renderCarried(costs),
    toMoves(costs),
  ];
  return `${parts.join('\n\n')}\n`;
}

function renderUnits(costs: Costs): string {
  const units: readonly (readonly [string, UnitCost])[] = [
    ['read, as many as 32 connections can', costs.read],
    ['read, at half that rate', costs.readAtHalfRate],
    ['refresh of a token', costs.refresh],
    ['new connection', costs.connection],
    [`reading stored, in calls of ${costs.readingsPerCall}`, costs.reading],
  ];
  const header = [
    'one',
    'a second',
    ...SERVICES,
    ...DATABASES.map((name) => `Postgres of ${name}`),
    'Redis',
    'WAL bytes',
    'pages accessed',
  ];
  const rows = units.map(([name, cost]) => [
    name,
    toCount(cost.perSecond),
    ...SERVICES.map((service) => toCount(cost.service[service])),
    ...DATABASES.map((database) => toCount(cost.database[database])),
    toCount(cost.redis),
    toCount(cost.walBytes),
    toCount(DATABASES.reduce((sum, name) => sum + cost.pages[name], 0)),
  ]);
  return `CPU in microseconds, of one core:\n\n${toTable(header, rows)}`;
}

function renderRows(costs: Costs): string {
  const { rows, rowsOfConnections } = costs;
  const one = (table: string) => rows[table]?.bytes ?? Number.NaN;
  const lines: readonly (readonly [string, number])[] = [
    ['a reading, with its share of counts, rollups and changes', bytesPer(rows, 'health_data', 'reading')],
    ['an access record, with its share of the batch', bytesPerRecord(costs)],
    ['counts of an app, person, day, scope and endpoint', one('consent.access_day')],
    [
      'a connection in consent: grant, history, approval, person',
      bytesPer(rowsOfConnections, 'consent', 'consent_grant'),
    ],
    [
      'a connection in authorization: request, code, family, tokens',
      bytesPer(rowsOfConnections, 'authorization', 'token_family'),
    ],
    ['an access token', one('authorization.access_token')],
    ['a refresh token', one('authorization.refresh_token')],
    ['a webhook event, delivered', one('consent.webhook_event') + one('consent.webhook_attempt')],
    ['a revoked family; a revoked token is about the same', one('consent.revoked_family')],
    ['a pair of person and app in Redis', costs.redisBytesPerPair],
  ];
  const table = toTable(
    ['one', 'bytes'],
    lines.map(([name, bytes]) => [name, toCount(bytes)]),
  );
  const { authorization, consent, 'health-data': healthData } = costs.connections;
  return [
    'Bytes on disk, indexes included:',
    table,
    `A batch of access records had ${toCount(costs.recordsPerBatch)} records. The first call for a person after a checkpoint put ${toCount(
      costs.fullPagesPerCall,
    )} full pages into the WAL. A replica opens at most ${authorization} (authorization), ${consent} (consent) and ${healthData} (health-data) connections to Postgres.`,
  ].join('\n\n');
}

function renderAssumptions(): string {
  const a = ASSUMPTIONS;
  return [
    `- ${toCount(a.peoplePerRequest)} people for each request a second, the same rate day and night.`,
    `- ${a.readsPerRefresh} reads for each refresh of a token; all reads are newest pages. A person has ${a.appsPerPerson} apps, each connected again after ${a.daysPerConnection} days, each with ${a.countsPerAppAndDay} rows of counts a day, and stores ${a.readingsPerPersonAndDay} readings a day.`,
    `- A core is ${a.utilisation * 100} % busy. A process uses one core, and there are two replicas at least.`,
    `- A checkpoint every ${a.checkpointSeconds / 60} minutes. An index entry of a record takes ${a.indexEntryBytes} bytes, leaf pages are ${a.leafFill * 100} % full, and nearly every record is of another person than the one before.`,
    `- ${a.leafShare * 100} % of the pages that a statement looks at are leaves of an index or rows; of these, memory holds the share that it is of the database.`,
    `- A database server has ${SERVER.cores} cores, ${toBytes(SERVER.memoryBytes)} of memory, ${toBytes(SERVER.diskBytes)} of disk, reads ${toCount(SERVER.pagesPerSecond)} random pages a second, takes ${toBytes(SERVER.walBytesPerSecond)} of WAL a second and ${SERVER.connections} connections. One for each service.`,
  ].join('\n');
}

function renderRates(costs: Costs): string {
  const a = ASSUMPTIONS;
  const row = (name: string, of: (rate: number) => string) => [name, ...RATES.map(of)];
  const workOf = (rate: number) => toWork(rate, a);
  const replicas = (rate: number, service: (typeof SERVICES)[number]) => {
    const cores = toCores(service, workOf(rate), costs);
    return `${toReplicas(cores, a)} (${cores.toFixed(2)})`;
  };
  return toTable(
    ['requests a second', ...RATES.map(toCount)],
    [
      row('people', (rate) => toCount(toPeople(rate, a))),
      row(
        'reads, refreshes a second',
        (rate) => `${toCount(workOf(rate).reads)}, ${toCount(workOf(rate).refreshes)}`,
      ),
      row('readings stored a second', (rate) => toCount(workOf(rate).readings)),
      ...SERVICES.map((service) =>
        row(`${service}: replicas (cores busy)`, (rate) => replicas(rate, service)),
      ),
      ...DATABASES.map((database) =>
        row(`Postgres of ${database}: cores busy`, (rate) =>
          toDatabaseCores(database, workOf(rate), costs).toFixed(2),
        ),
      ),
      ...DATABASES.map((database) =>
        row(
          `${database}: grows a day; after a year`,
          (rate) =>
            `${toBytes(toDailyBytes(database, rate, costs, a))}; ${toBytes(toBytesAfter(database, DAYS, rate, costs, a))}`,
        ),
      ),
      ...DATABASES.map((database) =>
        row(`${database}: WAL a second`, (rate) => toBytes(toWalBytes(database, rate, costs, a))),
      ),
      row('of which full pages of consent', (rate) => toBytes(toFullPageBytes(workOf(rate).reads, a))),
      ...DATABASES.map((database) =>
        row(`${database}: pages from disk a second, after a year`, (rate) =>
          toCount(toDiskPages(database, { rate, days: DAYS }, costs, SERVER, a)),
        ),
      ),
      row('network of all gateways a second, both sides', (rate) =>
        toBytes(toNetworkBytes('gateway', workOf(rate), costs)),
      ),
      row('Redis memory', (rate) => toBytes(toRedisBytes(rate, costs, a))),
    ],
  );
}

const loadOf = (costs: Costs, database: DatabaseName, rate: number) =>
  toLoad(database, { rate, days: DAYS }, costs, SERVER, ASSUMPTIONS);

function renderBottlenecks(costs: Costs): string {
  const rows = DATABASES.flatMap((database) =>
    RATES.map((rate) => {
      const load = loadOf(costs, database, rate);
      const first = toBottleneck(load);
      const shares = (Object.keys(load) as Resource[]).map((resource) => toShare(load[resource]));
      return [database, toCount(rate), ...shares, load[first] > 1 ? `**${first}**` : first];
    }),
  );
  const header = ['database', 'requests/s', 'cores', 'disk', 'WAL', 'disk reads', 'connections', 'first'];
  return `Need after a year as a multiple of what one server has; above 1 it is not enough:\n\n${toTable(header, rows)}`;
}

function renderCarried(costs: Costs): string {
  const resources: readonly Resource[] = ['cores', 'disk', 'WAL', 'disk reads', 'connections'];
  const rows = DATABASES.map((database) => [
    database,
    ...resources.map((resource) => toCount(toHighestRate((rate) => loadOf(costs, database, rate)[resource]))),
  ]);
  return `Requests a second at which each resource of one server is exhausted, with a year of data:\n\n${toTable(['database', ...resources], rows)}`;
}

function toShare(load: number): string {
  if (load < 0.0005) return '0.000';
  return load >= 0.995 ? load.toFixed(1) : load.toFixed(3);
}

const TOP_RATE = 10_000;

/** How to raise the limit of each bottleneck. */
function toMoves(costs: Costs): string {
  const after = (days: number) => toBytes(toBytesAfter('consent', days, TOP_RATE, costs, ASSUMPTIONS));
  const health = toLoad('health-data', { rate: TOP_RATE, days: 365 }, costs, SERVER, ASSUMPTIONS);
  return `## How to raise the limits

- **1 request a second**: one small machine does it; the second replica is for availability.
- **100 requests a second**: one server of each database, two replicas of each service.
- **${toCount(TOP_RATE)} requests a second, ${toCount(toPeople(TOP_RATE, ASSUMPTIONS))} people**:
  - **health-data** needs more disk than one server has: distribute it by person ([distribution.md](distribution.md)), over at least
    ${Math.ceil(Math.max(...Object.values(health)))} servers after a year. Read replicas do not help, because disk space is the limit.
  - **consent** keeps records for ${costs.recordDays} days, which is ${after(costs.recordDays)}. \`RECORD_RETENTION_DAYS=90\`, the least, is ${after(90)}. Older
    months can be moved to another tablespace. Beyond that, the records get [a server of their own](access-records.md#a-database-of-their-own).
  - **WAL of consent** is mostly full pages, because the index of records by person is hit at random: one page of 8 kB for each record.
    \`wal_compression = lz4\` comes first, then the same server.
  - **connections** of one server: lower \`DATABASE_POOL_SIZE\` and, in consent, \`ACCESS_POOL_SIZE\`, which are sized for one replica.
  - **services**: all four scale by replicas, whose numbers are [in the table](#what-a-rate-needs). The [autoscalers](kubernetes.md#autoscaling)
    end at 4 replicas of authorization and consent: raise them first.

What a single person can cause is limited by the rate limits; a single app with all people behind it by the
setting \`LIMIT_APP_PER_MINUTE\`.`;
}

/** Three significant digits, with separators. */
function toCount(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 4 });
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Bytes in powers of 1,000. */
function toBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  return `${toCount(bytes / 1000 ** power)} ${UNITS[power]}`;
}
