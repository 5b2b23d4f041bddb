import { expectStatus } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import { type ConnectedPerson, connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { Command } from 'commander';
import { verifyChain } from '../../judge.ts';
import { type Cluster, fillIn, readDeployed } from '../cluster.ts';
import { confirmDatabases, readSuspension } from '../failover/revocations.ts';
import { type Proof, proveOnCluster } from '../proof.ts';

/**
 * Creates the cluster anew from the backups, at its state at this time: docs/operations/postgres.md. The data of before is kept beside
 * the new one.
 */
async function restoreTo(cluster: Cluster, time: string, label: string): Promise<void> {
  const leader = await cluster.leader();
  const standbys = await cluster.standbys();
  // The standbys first, so that none of them is promoted.
  for (const node of [...standbys, leader]) await node.stopPatroni();
  await cluster.forget(leader);
  for (const node of cluster.nodes) await node.setDataAside(label);
  const [first] = cluster.nodes;
  await first?.configure('30-restore.yml', fillIn(await readDeployed('restore.yml'), { RESTORE_TIME: time }));
  await cluster.create();
  await first?.removeConfiguration('30-restore.yml');
}

const LIMIT_MS = 15 * 60_000;
const SETTLED = { timeoutMs: 120_000, intervalMs: 200 } as const;
// So that the chain of the records is signed several times within the proof.
const ENVIRONMENT = { consent: { CHECKPOINT_INTERVAL_MS: '1000' } };

/** What the proof found, checked line by line. */
class Checks {
  #wrong = 0;

  check(what: string, found: unknown, wanted: unknown): void {
    const isRight = JSON.stringify(found) === JSON.stringify(wanted);
    if (!isRight) this.#wrong += 1;
    console.log(
      `  ${isRight ? 'ok   ' : 'WRONG'} ${what}${isRight ? '' : `: ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`}`,
    );
  }

  get areRight(): boolean {
    return this.#wrong === 0;
  }
}

/** What the proof works on. */
interface Situation extends Pick<Proof, 'cluster' | 'say'> {
  readonly stack: RunningStack;
  readonly checks: Checks;
  /** Connected before the backup, and after it. */
  readonly early: ConnectedPerson;
  readonly late: ConnectedPerson;
  /** Connected before the backup, and revokes after it. */
  readonly leaver: ConnectedPerson;
}

async function prove({ cluster, resources, say }: Proof): Promise<boolean> {
  const stack = resources.use(await startRunningStack({ ...cluster.services, environment: ENVIRONMENT }));
  const checks = new Checks();
  const early = await connectPerson(stack, 'connected-before-the-backup');
  const leaver = await connectPerson(stack, 'revokes-after-the-backup');
  await backUp(cluster);
  say(`full backup: ${await describeBackups(cluster)}`);
  const late = await connectPerson(stack, 'connected-after-the-backup');
  for (const person of [early, leaver, late]) checks.check('a consent reads', await readSettled(person), 200);

  const situation = { cluster, stack, checks, early, late, leaver, say };
  const beforeRevocation = await readTime(cluster);
  const url = `${stack.gateway}/partner/consent/grants/${leaver.tokens.grantId}`;
  expectStatus(200, await send(url, { method: 'DELETE', bearer: leaver.session }));
  checks.check('the revoked consent reads nothing', await readSettled(leaver), 401);
  await proveNothingLost(situation);
  await proveSuspension(situation, beforeRevocation);
  return checks.areRight;
}

/** Restores to the moment before an accident, after the last change that the services acknowledged. */
async function proveNothingLost(situation: Situation): Promise<void> {
  const { cluster, stack, checks, early, late, leaver, say } = situation;
  const records = await countRecords(cluster);
  const beforeAccident = await readTime(cluster);
  await cluster.query('DELETE FROM health_data.reading', 'phds');
  checks.check('the readings are gone', await countReadings(early), 0);
  say('all readings were deleted by accident');

  await restoreTo(cluster, beforeAccident, 'accident');
  say(`restored to ${beforeAccident}, after the last acknowledged change`);
  await checkConsents(situation);
  checks.check('the readings are there', await countReadings(early), 1);
  checks.check('those that came after the backup too', await countReadings(late), 1);
  checks.check('the revoked consent reads nothing', await readSettled(leaver), 401);
  checks.check('nobody has to confirm', await isSuspended(stack), [false, false]);
  checks.check('the access records are there', (await countRecords(cluster)) >= records, true);
  await checkChain(checks, stack);
  await checkChainOfStandby(checks, stack, cluster);
  await backUp(cluster);
}

/** Restores to a time before a revocation that the services acknowledged. */
async function proveSuspension(situation: Situation, time: string): Promise<void> {
  const { cluster, stack, checks, early, late, leaver, say } = situation;
  await restoreTo(cluster, time, 'too-early');
  say(`restored to ${time}, before an acknowledged revocation`);
  for (const person of [early, late, leaver]) {
    checks.check('a consent from before is suspended', await readSettled(person), 401);
  }
  checks.check('an operator has to confirm consent', (await isSuspended(stack))[0], true);
  await checkChain(checks, stack);
  await confirmDatabases(stack);
  say('confirmed');
  await checkConsents(situation);
  const lost = 'the consent whose revocation was lost reads, as the operator accepted';
  checks.check(lost, await readSettled(leaver), 200);
}

async function checkConsents({ checks, early, late }: Situation): Promise<void> {
  checks.check('a consent from before the backup reads again', await readSettled(early), 200);
  checks.check('a consent from after the backup reads again', await readSettled(late), 200);
}

async function checkChain(checks: Checks, stack: RunningStack): Promise<void> {
  const chain = await verifyChain(stack);
  checks.check(`the chain of the records verifies (${chain.text})`, chain.ok, true);
}

/** Verification is one long statement that only reads: an operator runs it where it does not disturb the leader. */
async function checkChainOfStandby(checks: Checks, stack: RunningStack, cluster: Cluster): Promise<void> {
  const url = new URL(stack.databases.consent.ownerUrl);
  url.port = String(cluster.replicasPort);
  const consent = { ...stack.databases.consent, ownerUrl: url.href };
  const chain = await verifyChain({ ...stack, databases: { ...stack.databases, consent } });
  checks.check(`so does that of a standby (${chain.text})`, chain.ok, true);
}

/** The status of a read, once the services have settled whether to trust the database. */
async function readSettled({ app, tokens }: ConnectedPerson): Promise<number> {
  return eventually(async () => {
    const { status } = await app.read(tokens.accessToken, HEART_PATH);
    return status === 503 || status === 500 ? false : status;
  }, SETTLED);
}

async function countReadings({ app, tokens }: ConnectedPerson): Promise<number> {
  return expectStatus(200, await app.read(tokens.accessToken, HEART_PATH)).body.data.length;
}

/** Whether consent and authorization wait for an operator. */
async function isSuspended(stack: RunningStack): Promise<boolean[]> {
  const { consent, authorization } = await readSuspension(stack);
  return [consent.latest !== null, authorization.latest !== null];
}

async function backUp(cluster: Cluster): Promise<void> {
  const leader = await cluster.leader();
  await cluster.pgbackrest(leader, '--type=full', 'backup');
  // Also checks that the archive receives what is written.
  await cluster.pgbackrest(leader, 'check');
}

async function describeBackups(cluster: Cluster): Promise<string> {
  const [stanza] = JSON.parse(await cluster.pgbackrest(await cluster.leader(), '--output=json', 'info'));
  const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
  return stanza.backup
    .map(({ label, info }: { label: string; info: { size: number; repository: { delta: number } } }) =>
      [label, megabytes(info.size), `${megabytes(info.repository.delta)} stored`].join(', '),
    )
    .join('; ');
}

async function readTime(cluster: Cluster): Promise<string> {
  return (await cluster.query('SELECT clock_timestamp()::text AS now')).rows[0].now;
}

async function countRecords(cluster: Cluster): Promise<number> {
  const { rows } = await cluster.query('SELECT count(*)::int AS records FROM consent.access_record', 'phds');
  return rows[0].records;
}

const command = new Command('pnpm prove:backup').description(
  'Backs a cluster of databases up and restores it to points in time: docs/operations/postgres.md.',
);

await proveOnCluster(command, LIMIT_MS, prove);
