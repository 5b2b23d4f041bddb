import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import type { AccessRecordStore } from '../src/app/access-ports.ts';
import {
  accessOf,
  approve,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;
let between: () => Promise<unknown> = async () => undefined;
let afterwards: () => Promise<unknown> = async () => undefined;

/** The real store, with a moment for the test between its steps. */
function interrupted(store: AccessRecordStore): AccessRecordStore {
  return {
    ...store,
    judge: async (...judged) => {
      await between();
      const verdicts = await store.judge(...judged);
      await afterwards();
      return verdicts;
    },
  };
}

beforeAll(async () => {
  consent = await startConsent({ overrides: { accessRecords: interrupted } });
});
afterEach(() => {
  between = async () => undefined;
  afterwards = async () => undefined;
});
afterAll(() => consent[Symbol.asyncDispose]());

test('the record is committed and visible to others before the judgement begins', async () => {
  const grant = await approve(consent, await registerApp(consent), 'order');
  const access = accessOf(grant);
  let seen: unknown;
  between = async () => {
    const { rows } = await consent.owner.query('SELECT request_id FROM access_record');
    seen = rows;
  };
  expect(await record(consent, access)).toBe(Verdict.RELEASED);
  expect(seen).toEqual([{ request_id: access.requestId }]);
});

test('a revocation acknowledged between record and judgement is effective', async () => {
  const grant = await approve(consent, await registerApp(consent), 'race');
  const session = await consent.session('race');
  between = async () => consent.asGateway.revokeGrant({ id: grant.grantId }, session);
  expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
});

test('a failed judgement releases nothing of the batch', async () => {
  const grant = await approve(consent, await registerApp(consent), 'failure');
  afterwards = () => Promise.reject(new Error('planted'));
  await expect(record(consent, accessOf(grant))).rejects.toMatchObject({ reason: 'access_not_recorded' });
});

test('no access that starts after an acknowledged revocation is ever released, under load', async () => {
  const app = await registerApp(consent);
  for (let round = 0; round < 20; round += 1) {
    const grant = await approve(consent, app, `load-${round}`);
    let acknowledged = false;
    const late: (Verdict | undefined)[] = [];
    const read = async () => {
      for (let request = 0; request < 10; request += 1) {
        const startedAfter = acknowledged;
        const verdict = await record(consent, accessOf(grant));
        if (startedAfter) late.push(verdict);
      }
    };
    const readers = [read(), read(), read(), read()];
    await consent.asGateway.revokeGrant({ id: grant.grantId }, await consent.session(`load-${round}`));
    acknowledged = true;
    await Promise.all(readers);
    late.push(await record(consent, accessOf(grant)));
    expect(new Set(late)).toEqual(new Set([Verdict.GRANT_REVOKED]));
  }
});
