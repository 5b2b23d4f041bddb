import { create, type DescMessage, type MessageInitShape } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { ListAllAppsResponseSchema } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { AppLockKind, AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { GetPersonResponseSchema } from '@phds/contracts/phds/consent/v1/people_pb';
import { unavailable } from '@phds/service-kit/errors';
import { collectOutput } from '@phds/test-kit/collected-output';
import { erasePerson } from '../src/commands/erase.ts';
import { toText } from '../src/operator/command.ts';
import { OPERATOR_COMMANDS, type OperatorCommand } from '../src/operator/commands.ts';

const rowOf = (name: string) => OPERATOR_COMMANDS.filter((row) => row.name === name)[0] as OperatorCommand;

function hasPath(message: DescMessage | undefined, path: string): boolean {
  const [name = '', ...rest] = path.split('.');
  const field = message?.field[name];
  return field !== undefined && (rest.length === 0 || hasPath(field.message, rest.join('.')));
}

test.each(OPERATOR_COMMANDS)('$name names only fields that its messages have', (row) => {
  const { rpc, argument = [], user, options = {}, fields = {}, prints, columns = {} } = row;
  const given = [...argument.slice(0, 1), ...(user === undefined ? [] : ['userId'])];
  for (const name of [...given, ...Object.keys({ ...options, ...fields })])
    expect([name, hasPath(rpc.input, name)]).toEqual([name, true]);
  const printed = prints === undefined ? rpc.output : rpc.output.field[prints]?.message;
  for (const path of Object.values(columns)) expect([path, hasPath(printed, path)]).toEqual([path, true]);
});

test('a list is a table, with enums in lower case, times, and nothing for what is absent', () => {
  const since = timestampFromDate(new Date('2026-03-01T12:00:00Z'));
  const lock = { kind: AppLockKind.SUSPENSION, since };
  const apps: MessageInitShape<typeof ListAllAppsResponseSchema> = {
    apps: [
      { ownerId: 'ada', app: { clientId: 'app_1', name: 'Pulse', status: AppStatus.SUSPENDED, lock } },
      { app: { clientId: 'app_23', name: 'P', status: AppStatus.ACTIVE } },
    ],
    total: 250,
  };
  const answer = reflect(ListAllAppsResponseSchema, create(ListAllAppsResponseSchema, apps));
  expect(toText(answer, rowOf('apps list'), 2)).toBe(
    `app     name   owner  status     locked      since
app_1   Pulse  ada    suspended  suspension  2026-03-01T12:00:00.000Z
app_23  P             active
Page 2 of 3, 250 in total.
`,
  );
});

test('the app that an argument names is a line for each field, of which scripts take `seen`', () => {
  const apps = [{ fingerprint: '0ab', app: { clientId: 'app_1', name: 'Pulse' } }];
  const answer = reflect(ListAllAppsResponseSchema, create(ListAllAppsResponseSchema, { apps, total: 1 }));
  expect(toText(answer, rowOf('apps show'), 1)).toMatch(/^app +app_1\nname +Pulse\n[\s\S]*\nseen +0ab\n$/);
});

test('one thing is a line for each field that has a value, and zero is one', () => {
  const answer = reflect(GetPersonResponseSchema, create(GetPersonResponseSchema, { endedGrants: 12 }));
  expect(toText(answer, rowOf('people show'), 1)).toBe(
    'active grants  0\nended grants   12\nopen requests  0\n',
  );
});

test('an erasure is complete even if its entries in the record cannot be read', async () => {
  const { output, errors, texts } = collectOutput();
  const client = () => ({
    eraseUser: async () => ({ codes: 0, families: 1, apps: 0, grants: 1, pendingApprovals: 0, rows: 2n }),
    listCompletedActs: () => Promise.reject(unavailable()),
  });
  const connect = () => ({ client, [Symbol.dispose]: () => undefined });
  const parts = { output, errors, connect } as never;
  expect(await erasePerson({ userId: 'ada', revokeApps: false, json: true }, parts)).toBe(0);
  const removed = { 'health-data': { rows: 2 } };
  const error = expect.stringMatching(/^Everything is removed; /);
  expect(JSON.parse(texts.stdout)).toMatchObject({ ok: true, removed, acts: [], error });
});
