import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { ENDPOINTS } from '@phds/catalog/endpoints';
import {
  AppStatus,
  AppStatusSchema,
  GrantStatus,
  LivenessSchema,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { type OperatorAct, OperatorActSchema } from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import { EndpointSchema } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { findEndpointId, findMember, type Row, toMessage, toReadEndpoint } from '../src/rpc/messages.ts';

test('the catalog and the proto have the same endpoints, by the same names', () => {
  const named = EndpointSchema.values.filter(({ number }) => number !== 0);
  expect(named.map(({ number }) => findEndpointId(number))).toEqual(ENDPOINTS.map(({ id }) => id));
  for (const { id } of ENDPOINTS) expect(findEndpointId(toReadEndpoint(id))).toBe(id);
});

test('a number that names no endpoint leads to none', () => {
  expect([0, -1, 999].map(findEndpointId)).toEqual([null, null, null]);
});

const AT = new Date('2026-03-01T12:00:00.123Z');

test('a message has the values of its row: times, members of enums, messages and lists', () => {
  const grant = {
    status: 'revoked',
    scopes: ['a', 'b'],
    expiresAt: AT,
    userId: 'ada',
    dataFrom: null,
    sub: '',
  };
  const row = { appAlive: true, familyAlive: false, tokenAlive: true, grant, other: 'column' };
  expect(toMessage(LivenessSchema, row)).toEqual(
    create(LivenessSchema, {
      appAlive: true,
      tokenAlive: true,
      grant: {
        status: GrantStatus.REVOKED,
        scopes: ['a', 'b'],
        expiresAt: timestampFromDate(AT),
        userId: 'ada',
      },
    }),
  );
});

test('a large number becomes a bigint, bytes stay, and a column that is NULL leaves its field empty', () => {
  const row = { number: 2 ** 40, hash: Buffer.from('ab'), userId: null } as unknown as Row<OperatorAct>;
  const { number, hash, userId } = toMessage(OperatorActSchema, row);
  expect({ number, hash, userId }).toEqual({ number: 2n ** 40n, hash: Buffer.from('ab'), userId: '' });
});

test('a name that the enum lacks is refused', () => {
  const grant = { status: 'lost', scopes: [], expiresAt: AT, userId: '', dataFrom: '', sub: '' };
  const row = { appAlive: true, familyAlive: true, tokenAlive: true, grant };
  expect(() => toMessage(LivenessSchema, row)).toThrow('phds.consent.v1.GrantStatus has no lost');
});

test('a member of an enum is found by its number, and a number of a later release is refused', () => {
  expect(findMember('status', AppStatusSchema, AppStatus.SUSPENDED)).toBe('suspended');
  expect(findMember('status', AppStatusSchema, AppStatus.UNSPECIFIED)).toBeNull();
  expect(() => findMember('status', AppStatusSchema, 99)).toThrow(
    expect.objectContaining({
      reason: 'invalid_request',
      message: expect.stringContaining('must be one of active, suspended, revoked'),
    }),
  );
});
