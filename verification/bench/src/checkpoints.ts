import { execFile } from 'node:child_process';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { applyMigrations } from '@phds/database/migrations';
import { withScratchDatabase } from '@phds/local-servers/scratch-database';
import { CHECKPOINT_TYPE, type CheckpointContent, hashCheckpoint } from '@phds/record-chain/checkpoint';
import pg from 'pg';
import type { StoredCheckpoint } from '../../../services/consent/src/app/access-ports.ts';
import { toNextCheckpoint } from '../../../services/consent/src/app/checkpoint-content.ts';
import { createJoseSigner } from '../../../services/consent/src/clients/jose-signer.ts';
import { SimulatedReplicas } from './checkpoint-history.ts';
import type { Options } from './options.ts';

const WORKSPACE = resolve(import.meta.dirname, '../../..');
const MIGRATIONS = resolve(WORKSPACE, 'services/consent/prisma/migrations');
const MAIN = resolve(WORKSPACE, 'packages/cli/src/main.ts');
const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
const MINUTES_A_DAY = DAY_MS / MINUTE_MS;
const MINUTES_A_FLUSH = 120;
/** Days between releases, which restart all replicas. */
const RELEASE_DAYS = 7;
/** Chains end with a release. Checkpoints no longer list those of two months ago. */
const LISTED_RELEASES = 8;
const CHECKPOINTS_A_BASE = 500;

type Sign = (content: object, at: Date) => Promise<string>;

/**
 * Measures the checkpoint table and `phds records verify` after days in which all replicas move each minute. The minutes are
 * simulated and written with the service's own functions into a temporary database. With `--earlier` each replica signs all heads
 * each minute, as earlier releases did.
 */
export async function benchCheckpoints(options: Options): Promise<string> {
  const { days, replicas, earlier } = options;
  const { privateKey } = generateKeyPairSync('ed25519');
  const keys = JSON.stringify({ keys: [createPublicKey(privateKey).export({ format: 'jwk' })] });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const { sign } = await createJoseSigner(pem, CHECKPOINT_TYPE);
  return withScratchDatabase('consent', async ({ ownerUrl, schema }) => {
    await applyMigrations({ connectionString: ownerUrl, schema, directory: MIGRATIONS });
    const client = new pg.Client({
      connectionString: ownerUrl,
      options: '-c search_path=consent -c timezone=UTC -c synchronous_commit=off',
    });
    await client.connect();
    try {
      await makeMonths(client, days);
      const checkpoints = await fill(client, options, sign);
      const plain = await verify(ownerUrl, keys);
      await addCheckpoints(client, checkpoints);
      await client.query('ANALYZE');
      const { rows } = await client.query(
        `SELECT pg_size_pretty(pg_total_relation_size('consent_audit.access_checkpoint')) AS size`,
      );
      const full = await verify(ownerUrl, keys);
      return [
        `${replicas} replicas, ${days} days, ${earlier ? 'each signs all heads' : 'one signs what moved'}:`,
        `${full.checkpoints} checkpoints in ${rows[0].size}; ${full.records} records, ${full.writers} chains`,
        `records verify ${full.seconds} s, of which records alone ${plain.seconds} s`,
      ].join('\n');
    } finally {
      await client.end();
    }
  });
}

/** Creates the partitions of the simulated months. */
async function makeMonths(client: pg.Client, days: number): Promise<void> {
  await client.query(`DO $$
    DECLARE month timestamptz;
    BEGIN
      FOR month IN SELECT generate_series(date_trunc('month', now() - interval '${days} days'),
        date_trunc('month', now()) - interval '1 month', interval '1 month')
      LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF access_batch FOR VALUES FROM (%L) TO (%L)',
          'access_batch_' || to_char(month, 'YYYY_MM'), month, month + interval '1 month');
        EXECUTE format('CREATE TABLE %I PARTITION OF access_record FOR VALUES FROM (%L) TO (%L)',
          'access_record_' || to_char(month, 'YYYY_MM'), first_id_of(month), first_id_of(month + interval '1 month'));
      END LOOP;
    END $$`);
}

/** Writes the records and returns the checkpoints signed during that time. */
async function fill(
  client: pg.Client,
  { days, replicas, earlier }: Options,
  sign: Sign,
): Promise<StoredCheckpoint[]> {
  const chains = new SimulatedReplicas(client);
  const checkpoints: StoredCheckpoint[] = [];
  const minutes = days * MINUTES_A_DAY;
  const start = Math.floor(Date.now() / MINUTE_MS) - minutes;
  const signers = earlier ? replicas : 1;
  const toContent = earlier ? toEarlier : toPresent;
  for (let minute = 0; minute < minutes; minute += 1) {
    const at = (start + minute) * MINUTE_MS;
    if (minute % (RELEASE_DAYS * MINUTES_A_DAY) === 0) chains.restart(replicas);
    chains.move(at);
    for (let signer = 0; signer < signers; signer += 1) {
      const content = toContent(chains, replicas, checkpoints.at(-1));
      checkpoints.push({ number: content.number, jws: await sign(content, new Date(at)) });
    }
    if (minute % MINUTES_A_FLUSH === MINUTES_A_FLUSH - 1) await chains.flush();
  }
  return checkpoints;
}

/** As the service does it: the signer knows the last checkpoint and lists ended chains once, in a base checkpoint. */
function toPresent(chains: SimulatedReplicas, replicas: number, last?: StoredCheckpoint): CheckpointContent {
  const isBase = (last?.number ?? 0) % CHECKPOINTS_A_BASE === 0;
  const heads = chains.heads(isBase ? LISTED_RELEASES * replicas : 0);
  const recent = last === undefined ? [] : [last];
  const content = toNextCheckpoint({ recent, heads, keptFrom: null }, new Date(0));
  if (content === null) throw new Error('every chain has moved');
  return content;
}

/** As earlier releases did it: every head of two months, whether or not it has moved. */
function toEarlier(chains: SimulatedReplicas, replicas: number, last?: StoredCheckpoint): CheckpointContent {
  return {
    number: (last?.number ?? 0) + 1,
    previous: last === undefined ? null : hashCheckpoint(last.jws),
    keptFrom: null,
    heads: chains.heads(LISTED_RELEASES * replicas),
  };
}

async function addCheckpoints(client: pg.Client, checkpoints: readonly StoredCheckpoint[]): Promise<void> {
  for (let from = 0; from < checkpoints.length; from += 2_000) {
    const some = checkpoints.slice(from, from + 2_000);
    await client.query(
      `INSERT INTO consent_audit.access_checkpoint (number, jws) SELECT * FROM unnest($1::int[], $2::text[])`,
      [some.map(({ number }) => number), some.map(({ jws }) => jws)],
    );
  }
}

interface Verification {
  readonly ok: boolean;
  readonly records: number;
  readonly writers: number;
  readonly checkpoints: number;
  readonly seconds: number;
}

async function verify(databaseUrl: string, keys: string): Promise<Verification> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'records', 'verify', '--json'], {
    env: { PATH: process.env['PATH'], RECORDS_DATABASE_URL: databaseUrl, RECORDS_PUBLIC_KEYS: keys },
  });
  const verification = JSON.parse(stdout) as Verification;
  if (!verification.ok) throw new Error(stdout);
  return verification;
}
