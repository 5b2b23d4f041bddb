import { expect, test } from '@jest/globals';
import { crashDatabase, endServer, stopReplacements } from '@phds/running-system/outages';
import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import { startThrowawayRecordsServer } from '@phds/running-system/records-server';
import { DELETE_OF_THE_GRANT } from '@phds/running-system/revocation-ways';
import { startRunningStack } from '@phds/running-system/running-stack';
import { connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import pg from 'pg';
import { verifyChain } from '../src/judge.ts';

const replacements: { stop(): Promise<void> }[] = [];
/** Ids of the requests that were answered with data. */
const released: string[] = [];

const records = shared.use(await startThrowawayRecordsServer());
const environment = { consent: { RECORDS_DATABASE_URL: records.database.url } };
const stack = shared.use(await startRunningStack({ redis: false, environment }));
shared.defer(() => stopReplacements(stack, replacements));

async function read(app: PartnerApp, token: string) {
  const answer = await app.read(token, HEART_PATH);
  if (answer.status === 200) released.push(answer.headers.get('x-request-id') ?? '');
  return answer;
}

test('no server of the two can be lost with data released without its record, or with a revocation undone', async () => {
  const { app, tokens } = await connectPerson(stack, 'reader');
  const ended = await connectPerson(stack, 'ended');
  for (const each of [{ app, tokens }, ended])
    expectStatus(200, await read(each.app, each.tokens.accessToken));

  await endServer(records.directory, 'SIGQUIT');
  for (let n = 0; n < 20; n += 1) {
    const { status, body, headers } = await read(app, tokens.accessToken);
    expect({ status, code: body?.code }).toEqual({ status: 503, code: 'ACCESS_NOT_RECORDED' });
    expect(headers.get('retry-after')).toBe('1');
  }
  await DELETE_OF_THE_GRANT.end(ended, ended.tokens as never, stack.gateway);
  await records.restart();
  await eventually(async () => expectStatus(200, await read(app, tokens.accessToken)));
  expectStatus(401, await read(ended.app, ended.tokens.accessToken));

  const start = await crashDatabase(stack);
  for (let n = 0; n < 20; n += 1) expectStatus(503, await read(app, tokens.accessToken));
  replacements.push(await start());
  await eventually(async () => expectStatus(200, await read(app, tokens.accessToken)));
  expectStatus(401, await read(ended.app, ended.tokens.accessToken));

  const owner = new pg.Client({ connectionString: records.database.ownerUrl });
  await owner.connect();
  const { rows } = await owner.query(
    `SELECT count(DISTINCT request_id)::int AS n FROM access_record WHERE request_id = ANY($1) AND refers_to IS NULL`,
    [released],
  );
  await owner.end();
  expect(rows).toEqual([{ n: released.length }]);
  const databases = { ...stack.databases, consent: records.database };
  expect(await verifyChain({ ...stack, databases })).toMatchObject({ ok: true });
});
