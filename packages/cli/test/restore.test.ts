import { create, type DescService } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { ListSuspendedResponseSchema, RestoreService } from '@phds/contracts/phds/common/v1/restore_pb';
import { GrantService } from '@phds/contracts/phds/consent/v1/grants_pb';
import { AppError, notFound, unavailable } from '@phds/service-kit/errors';
import { collectOutput } from '@phds/test-kit/collected-output';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { listSuspended, replayRevocations, runRestore } from '../src/commands/restore.ts';

const AT = new Date('2026-03-01T10:00:00Z');

/** What a command gets from these clients of services. */
function surroundings(clients: object) {
  const { output, errors, texts } = collectOutput();
  const connect = () => ({
    client: (_: string, { typeName }: DescService) => (clients as Record<string, never>)[typeName],
    [Symbol.dispose]: () => undefined,
  });
  return { parts: { output, errors, connect } as never, texts };
}

test('what is suspended is a table for each service, without the person when the id came from a file', async () => {
  const grant = { clientId: 'app_1', appName: 'One', grantId: 'grt_1', userId: 'ada' };
  const items = [{ ...grant, madeAt: timestampFromDate(AT) }];
  const { parts, texts } = surroundings({
    [RestoreService.typeName]: {
      listSuspended: async () => create(ListSuspendedResponseSchema, { items, total: 1 }),
    },
  });
  await listSuspended({ hidesUser: false, page: 1, json: false }, parts);
  expect(texts.stdout).toContain(
    'Suspended in consent:\napp    name  grant  user  since\napp_1  One   grt_1  ada   2026-03-01T10:00:00.000Z\n',
  );
  const before = texts.stdout.length;
  await listSuspended({ hidesUser: true, page: 1, json: true }, parts);
  expect(texts.stdout.slice(before)).toContain('grt_1');
  expect(texts.stdout.slice(before)).not.toContain('"ada"');
});

test('a service that answers that it cannot work now is not called unreachable', async () => {
  const fail = (error: AppError) => {
    const getRestoreStatus = async () => {
      throw error;
    };
    const { parts, texts } = surroundings({ [RestoreService.typeName]: { getRestoreStatus } });
    return runRestore({ action: 'status', json: false }, parts).then(() => texts.stderr);
  };
  expect(await fail(new AppError('unavailable', 'Temporarily unavailable.'))).toContain(
    'authorization answers that it cannot work now: its database or a service that it needs does not answer',
  );
  expect(await fail(unavailable(new Error('connect ECONNREFUSED')))).toContain(
    'authorization does not answer.',
  );
});

test('a replay ends every grant that the log names, however its lines begin, and nothing else', async () => {
  const asked: string[] = [];
  const { parts, texts } = surroundings({
    [GrantService.typeName]: {
      endGrant: async ({ grantId }: { grantId: string }) => {
        asked.push(grantId);
        if (grantId === 'grt_new') throw notFound();
        return { revokedAt: timestampFromDate(AT) };
      },
    },
  });
  using files = openFilesOfTest();
  const line = (fields: object) => JSON.stringify({ level: 'info', service: 'consent', ...fields });
  const log = [
    line({ grantId: 'grt_1', msg: 'grant ended' }),
    `consent-1  | ${line({ grantId: 'grt_2', msg: 'grant ended' })}`,
    line({ grantId: 'grt_1', msg: 'grant ended' }),
    line({ grantId: 'grt_new', msg: 'grant ended' }),
    line({ grantId: 'grt_3', msg: 'grant narrowed' }),
    line({ grantId: 'grt_4', msg: 'something else' }),
    '{"grantId":"grt_5","msg":"grant ended"',
    'no JSON',
  ];
  const file = files.write('consent.log', `${log.join('\n')}\n`);
  expect(await replayRevocations({ file, json: false }, parts)).toBe(0);
  expect(asked).toEqual(['grt_1', 'grt_2', 'grt_new']);
  expect(texts.stdout).toContain('2 grants are ended, 1 is not in the restored database.');
  expect(texts.stdout).toContain('grt_3');
});
