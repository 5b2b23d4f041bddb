import { Metadata } from '@grpc/grpc-js';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { eventually } from '@phds/test-kit/conditions';
import { AppError, notFound, unavailable } from '../src/errors.ts';
import { RpcContext } from '../src/rpc/context.ts';
import type { OperatorRecord } from '../src/rpc/operator-acts.ts';
import { implement } from '../src/rpc/service.ts';
import { newSecret } from '../src/secrets.ts';
import { createLogger, withoutRedaction } from '../src/telemetry/log.ts';
import { OPERATORS, type RolesOf } from '../src/trust/callers.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(
    createLogger({
      service: 'gateway',
      level: 'trace',
      destination: { write: (line) => void lines.push(line) },
    }),
  );
  return lines.join('');
}

describe('no secret reaches the log', () => {
  const mac = 'M'.repeat(43);
  const token = `${newSecret('refresh_token')}_7_${mac}`;
  const jwt = `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`;
  const url = 'postgresql://phds:hunter2@localhost:5432/phds';

  test.each<[string, (log: ReturnType<typeof createLogger>) => void]>([
    [
      'in a named field',
      (log) => log.info({ authorization: `Bearer ${token}`, body: { code: token } }, 'request'),
    ],
    ['in a message', (log) => log.info(`got ${token} and ${jwt} from ${url}`)],
    ['in an error', (log) => log.error({ err: new Error(`bad ${token} ${jwt} ${url}`) }, 'failed')],
    [
      'in a cause of a cause',
      (log) => {
        const cause = new Error('outer', { cause: new Error(`inner ${token} ${jwt} ${url}`) });
        log.error({ err: new AppError('internal', '', { cause }) }, 'failed');
      },
    ],
    [
      'in a field that a driver hangs on its error',
      (log) =>
        log.error(
          { err: Object.assign(new Error('query failed'), { parameters: [token, jwt, url] }) },
          'failed',
        ),
    ],
  ])('%s', (_, write) => {
    const text = logged(write);
    expect(text).toContain('"service":"gateway"');
    for (const secret of [token.slice(0, 20), mac, jwt, 'hunter2']) expect(text).not.toContain(secret);
  });

  test('the information needed to find a fault is kept', () => {
    const text = logged((log) => {
      log.error(
        {
          err: new AppError('internal', 'x', {
            cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
          }),
        },
        'failed',
      );
    });
    for (const part of ['internal', 'refused', 'ECONNREFUSED', 'stack']) expect(text).toContain(part);
  });

  test('a dependency that does not answer is logged with its causes and without a stack, a defect behind it with one', () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const notRecorded = (cause: Error) => new AppError('access_not_recorded', '', { cause });
    const away = logged((log) => log.warn({ err: notRecorded(unavailable(refused)) }, 'failed'));
    for (const part of ['access_not_recorded', 'unavailable', 'ECONNREFUSED']) expect(away).toContain(part);
    expect(away).not.toContain('stack');
    const defect = new AppError('internal', '', { cause: new TypeError('not a function') });
    expect(logged((log) => log.error({ err: notRecorded(defect) }, 'failed'))).toContain('stack');
  });

  test('a log without redaction writes to the same place, scrubs messages, and leaves the log it comes from as it is', () => {
    const text = logged((log) => {
      const plain = withoutRedaction(log);
      log.info({ token }, 'first');
      plain.info({ route: '/oauth/token' }, `second ${token}`);
      log.info({ token }, 'third');
    });
    expect(text).toMatch(/first.*\n.*"service":"gateway","route":"\/oauth\/token","msg":"second.*\n.*third/);
    expect(text).not.toContain(token);
  });
});

describe('lines that anybody can cause', () => {
  const written: string[] = [];
  const log = createLogger({
    service: 'health-data',
    destination: { write: (line) => void written.push(line) },
  });
  const lines = () => written.map((line) => JSON.parse(line));
  beforeEach(() => {
    written.length = 0;
  });

  const metadata = Metadata.fromHttp2Headers({ authorization: 'Bearer token', 'phds-reason': 'a%20test' });
  const context = new RpcContext(HealthDataService.method.read, metadata, undefined);

  const RECORD = { begin: async () => 7n, end: async () => undefined };

  /** Calls an rpc that admits operators, as this caller. */
  function call(
    verifyCaller: () => Promise<string>,
    read = async () => ({}),
    record: OperatorRecord = RECORD,
    at = context,
  ) {
    const service = implement(
      HealthDataService,
      { read } as never,
      { read: [...OPERATORS, 'authorization'] } as never,
      {} as never,
    );
    const rolesOf: RolesOf = (caller) => (caller === 'operator:on-call' ? ['operator'] : []);
    return service({ verifyCaller, log, operators: { rolesOf, record } }).handlers.get('read')?.(
      {} as never,
      at,
    );
  }

  test('calls without a permitted identity leave a few lines without a stack, and a count', async () => {
    const forged = async () => {
      throw new AppError('caller_not_admitted', '', { cause: new Error('signature verification failed') });
    };
    const calls = Array.from({ length: 1_000 }, () => expect(call(forged)).rejects.toThrow());
    await Promise.all(calls);
    const counted = () => lines().reduce((sum, { omitted = 1 }) => sum + omitted, 0);
    await eventually(() => expect(counted()).toBe(1_000));
    // They may take a few seconds of the log.
    expect(written.length).toBeLessThan(100);
    expect(lines()[0]).toMatchObject({
      level: 'error',
      msg: 'rpc failed',
      cause: 'signature verification failed',
    });
    expect(written.join('')).not.toContain('stack');
  });

  test.each<[string, () => AppError, { level: string; msg: string }]>([
    [
      'an unreachable database',
      () => unavailable(new Error('connect ECONNREFUSED')),
      { level: 'warn', msg: 'rpc refused' },
    ],
    [
      'a defect',
      () => new AppError('internal', '', { cause: new TypeError('not a function') }),
      { level: 'error', msg: 'rpc failed' },
    ],
  ])('calls that fail for %s leave a few lines and a count', async (_, failure, line) => {
    const fail = async () => {
      throw failure();
    };
    const caller = async () => 'authorization';
    await Promise.all(Array.from({ length: 500 }, () => expect(call(caller, fail)).rejects.toThrow()));
    const failures = () => lines().filter(({ msg }) => msg === line.msg);
    const counted = () => failures().reduce((sum, { omitted = 1 }) => sum + omitted, 0);
    await eventually(() => expect(counted()).toBe(500));
    expect(failures().length).toBeLessThan(100);
    expect(failures()[0]).toMatchObject({ ...line, rpc: 'phds.healthdata.v1.HealthDataService/Read' });
  });

  test('a refusal has the name that the token claims and the address of the peer', async () => {
    const header = Buffer.from(JSON.stringify({ alg: 'EdDSA', kid: 'service:billing' })).toString(
      'base64url',
    );
    const claimed = Metadata.fromHttp2Headers({ authorization: `Bearer ${header}.e30.c2ln` });
    const from = new RpcContext(HealthDataService.method.read, claimed, undefined, {}, '10.1.2.3:4567');
    const service = async () => 'service:billing';
    await expect(call(service, undefined, undefined, from)).rejects.toMatchObject({
      message: 'billing may not call Read; only the role operator or authorization may',
    });
    expect(lines()).toMatchObject([
      {
        level: 'warn',
        msg: 'rpc refused',
        kid: 'service:billing',
        address: '10.1.2.3:4567',
        cause: 'billing may not call Read; only the role operator or authorization may',
      },
    ]);
  });

  test('acts of operators are in the security log with their outcome, calls of services are not', async () => {
    const operator = async () => 'operator:on-call';
    await call(operator);
    const missing = async () => {
      throw notFound();
    };
    await expect(call(operator, missing)).rejects.toThrow();
    await expect(call(async () => 'gateway')).rejects.toThrow();
    const act = {
      msg: 'security',
      security: 'operator-act',
      operator: 'on-call',
      route: 'phds.healthdata.v1.HealthDataService/Read',
    };
    expect(lines().filter(({ security }) => security !== undefined)).toMatchObject([
      { ...act, outcome: 'OK' },
      { ...act, outcome: 'NOT_FOUND' },
    ]);
  });

  test('an act that cannot be recorded is not made', async () => {
    let isMade = false;
    const make = async () => {
      isMade = true;
      return {};
    };
    const begin = async () => {
      throw unavailable(new Error('no connection'));
    };
    await expect(call(async () => 'operator:on-call', make, { ...RECORD, begin })).rejects.toThrow();
    expect(isMade).toBe(false);
  });

  test('an act whose outcome cannot be recorded is answered, and an error names it', async () => {
    const end = async () => {
      throw unavailable(new Error('no connection'));
    };
    await call(
      async () => 'operator:on-call',
      async () => ({}),
      { ...RECORD, end },
    );
    expect(lines()).toContainEqual(
      expect.objectContaining({
        level: 'error',
        msg: 'the outcome of an operator act is not recorded',
        number: '7',
      }),
    );
  });
});
