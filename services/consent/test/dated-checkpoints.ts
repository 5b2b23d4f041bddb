import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { CHECKPOINT_TYPE, readCheckpointContent } from '@phds/record-chain/checkpoint';
import { openPostgres } from '@phds/service-kit/postgres/postgres';
import { createTestDatabase } from '@phds/test-kit/databases';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { openTestPool } from '@phds/test-kit/test-pool';
import { type CheckpointTable, createCheckpoints, createCheckpointTable } from '../src/access/checkpoints.ts';
import type { Signer } from '../src/jose-signer.ts';
import { createJoseSigner } from '../src/jose-signer.ts';
import { connectAsSuperuser } from './database-clients.ts';
import { startDatedRecorder } from './dated-recorder.ts';
import { accessOf } from './running-service.ts';

/** One interval that contains every time since 1970, so no test depends on when it runs. */
const INTERVAL_MS = 1e15;

/** Records and checkpoints without the service, so that a test can set the time. */
export type DatedRecords = Awaited<ReturnType<typeof startDatedRecords>>;

export async function startDatedRecords(start: string, retentionDays = 90) {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(await createTestDatabase('consent'));
  const opened = resources.use(
    openPostgres({
      connectionString: database.url,
      schema: 'consent',
      poolSize: 4,
      statementTimeoutMs: 20_000,
      connectTimeoutMs: 20_000,
      applicationName: 'phds-test-checkpoints',
    }),
  );
  const owner = resources.adopt(
    openTestPool(database.ownerUrl, { max: 2, options: '-c search_path=consent' }),
    (pool) => pool.end(),
  );
  const admin = resources.adopt(await connectAsSuperuser(database), (client) => client.end());
  const { privateKey } = generateKeyPairSync('ed25519');
  const clock = new FakeClock(start);
  const signer = await createJoseSigner(
    privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    CHECKPOINT_TYPE,
  );
  const stored = createCheckpointTable(opened.pool);
  const table: CheckpointTable = {
    ...stored,
    async add(number, jws) {
      const isAdded = await stored.add(number, jws);
      const date = 'UPDATE consent_audit.access_checkpoint SET at = $1 WHERE number = $2';
      if (isAdded) await admin.query(date, [clock.now(), number]);
      return isAdded;
    },
  };
  const createInstance = (parts: { signer?: Signer; table?: CheckpointTable } = {}) =>
    createCheckpoints({
      table: parts.table ?? table,
      signer: parts.signer ?? signer,
      clock,
      retentionDays,
      intervalMs: INTERVAL_MS,
      onSigned: () => undefined,
    });
  const running = resources.move();
  const recorders = new Map<string, ReturnType<typeof startDatedRecorder>>();
  const openChain = (name: string) => {
    const recorder = recorders.get(name) ?? running.use(startDatedRecorder(database.url, clock));
    recorders.set(name, recorder);
    return recorder;
  };
  return {
    database,
    receiptPublicKey: createPublicKey(privateKey),
    clock,
    signer,
    table,
    /** A superuser, not limited by triggers or privileges. */
    admin,
    owner,
    checkpoints: createInstance(),
    /** Another instance, with replaced parts. */
    createInstance,
    /** Records an access in a new chain, or in the given one. */
    async record(chain = 'one') {
      const access = accessOf({ grantId: 'grt_1', clientId: 'app_1', userId: 'ada' });
      await openChain(chain).recorder.record([access]);
    },
    /** Simulates the end of the last checkpoint's interval. */
    async endInterval() {
      await admin.query(`UPDATE consent_audit.access_checkpoint SET at = '1969-06-01'`);
    },
    async stored() {
      const { rows } = await admin.query<{ jws: string }>(
        'SELECT jws FROM consent_audit.access_checkpoint ORDER BY number',
      );
      return rows.map(({ jws }) => readCheckpointContent(jws));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
