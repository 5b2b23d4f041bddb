import { cp, rm } from 'node:fs/promises';
import { callInternally } from '@phds/running-system/ingestion';
import { type StoppedDatabase, stopDatabase } from '@phds/running-system/outages';
import { expectStatus } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { HEART } from '@phds/running-system/revocation-ways';
import { eventually } from '@phds/test-kit/conditions';
import { type Cause, CONSEQUENCES, type End } from './cause.ts';
import type { Site } from './site.ts';

const RPCS = 'phds.common.v1.RestoreService';

async function restartDatabase(
  { stack, servers }: Site,
  change: (directory: StoppedDatabase['directory']) => Promise<void>,
): Promise<void> {
  const stopped = await stopDatabase(stack);
  await change(stopped.directory);
  servers.push(await stopped.start());
}

async function connectAndRevoke({ stack, revoking: { app, session } }: Site): Promise<void> {
  const { grantId } = await app.expectCode(session, [HEART]);
  const url = `${stack.gateway}/partner/consent/grants/${grantId}`;
  expectStatus(200, await send(url, { method: 'DELETE', bearer: session }));
}

/** Puts a backup back under the running services that was made before a revocation. */
async function restore(site: Site): Promise<End> {
  await restartDatabase(site, (directory) => cp(directory, `${directory}.backup`, { recursive: true }));
  await eventually(() => connectAndRevoke(site));
  await restartDatabase(site, async (directory) => {
    await rm(directory, { recursive: true });
    await cp(`${directory}.backup`, directory, { recursive: true });
  });
  return async () => {
    for (const service of ['consent', 'authorization'] as const)
      await eventually(() => confirm(site, service));
  };
}

async function confirm({ stack }: Site, service: 'consent' | 'authorization'): Promise<void> {
  const call = async (name: string, request: object) => {
    const rpc = `${RPCS}/${name}`;
    return expectStatus(200, await callInternally(stack, { service, rpc, caller: 'operator', request })).body;
  };
  const { latest } = await call('GetRestoreStatus', {});
  if (latest !== undefined && latest.confirmedAt === undefined) {
    await call('ConfirmRestore', { number: latest.number });
  }
}

export const RESTORE_CAUSE: Cause = {
  alert: 'RestoreSuspended',
  what: 'a backup from before a revocation is put back under running services',
  also: [
    ...CONSEQUENCES,
    'AccessesNotRecorded',
    'BackgroundTaskFailing',
    'DatabasePoolExhausted',
    'ServiceNotReady',
    'RevocationsSlow',
    'DataChangesLate',
    'CheckpointOld',
  ],
  begin: restore,
};
