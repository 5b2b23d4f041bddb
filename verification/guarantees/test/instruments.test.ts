import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { newSecret } from '@phds/service-kit/secrets';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { findFault, sendMalformedRequests } from '../src/hostile/hostile-clients.ts';
import { makeMalformedRequests } from '../src/hostile/malformed-requests.ts';
import { LogWatch } from '../src/judge.ts';
import { HEART, type HeldToken, newTally, PROFILE, Reads, toSentences } from '../src/load/reads.ts';
import { openWire, type Wire } from '../src/load/wire.ts';
import { findViolations } from '../src/rolling/rolling-restart.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-instruments-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('the watch on the logs', () => {
  test('finds a secret at any position, and reports only what is new', async () => {
    const watch = new LogWatch(directory);
    const log = join(directory, 'gateway-1.log');
    await writeFile(log, 'nothing to see, token: [Redacted]\n');
    expect(await watch.findSecrets()).toEqual([]);
    // Across the boundary of two read chunks.
    await appendFile(log, 'x'.repeat((1 << 20) - 60) + newSecret('access_token'));
    expect(await watch.findSecrets()).toEqual(['a secret stands in the log gateway-1.log']);
    await appendFile(log, 'and on it goes\n');
    expect(await watch.findSecrets()).toEqual([]);
  });

  test.each(['client_secret', 'authorization_code', 'refresh_token'] as const)('knows a %s', async (kind) => {
    await writeFile(join(directory, 'a.log'), `{"what":"${newSecret(kind)}"}`);
    expect(await new LogWatch(directory).findSecrets()).toHaveLength(1);
  });
});

describe('malformed requests', () => {
  const credentials = { clientId: 'app_1', clientSecret: 'cs', session: 'session', accessToken: 'at' };

  test.each([
    ['oauth', 'have no credential', /^(?!.*\r\nAuthorization:)/s],
    ['oauth', 'name the app in the query', /^GET \/oauth\/authorize\?(\S*&)?client_id=app_1&/],
    ['oauth', 'name the app in a form', /^POST \/oauth\/token.*\r\n\r\nclient_id=app_1&/s],
    ['api', 'ask for a version that does not exist', /^GET \/api\/v(2|-1|01|9{20})\//],
  ] as const)('to %s sometimes %s', (surface, _what, kind) => {
    const requests = [...makeMalformedRequests(surface, credentials, { requests: 1_000, seed: 1 })];
    const among = requests.filter((request) => kind.test(request)).length;
    expect(among).toBeGreaterThan(5);
    expect(among).toBeLessThan(600);
  });

  const NONE = { status: 0, head: '', body: '', whole: true, late: false, milliseconds: 0 };
  test.each([
    [{ status: 502 }, '502 for a malformed request'],
    [{ status: 503 }, '503 without Retry-After'],
    [{ status: 503, head: 'HTTP/1.1 503 x\r\nRetry-After: 1' }, null],
    [{ late: true }, 'hang: a malformed request was not answered'],
    [{ status: 400, body: 'x'.repeat(20_000) }, 'an error of 20000 bytes'],
    [{ status: 400, body: 'Error\n    at f (app.ts:1:1)' }, expect.stringContaining('internals')],
    [{ status: 400, body: '{"code":"INVALID_REQUEST"}' }, null],
    [{ status: 0 }, null],
  ])('are answered with %j: %s', (answer, fault) => {
    expect(findFault({ ...NONE, ...answer })).toEqual(fault);
  });

  test('show a server that fails at one of many, and the report has the request without its secrets', async () => {
    await using server = createHttpServer((request, response) => {
      response.statusCode = request.url?.includes('__proto__') ? 500 : 400;
      request.resume().on('end', () => void response.setHeader('Content-Length', 0).end());
    });
    const gatewayUrls = [`http://127.0.0.1:${await listenOnLoopback(server)}`];
    const run = { surface: 'partner', gatewayUrls, credentials, requests: 2_000, seed: 1 } as const;
    const { statuses, violations } = await sendMalformedRequests(run);
    expect(Object.values(statuses).reduce((sum, count) => sum + count, 0)).toBe(2_000);
    expect(violations).toEqual([expect.stringMatching(/^partner: 500 .*, \d+ times; .*__proto__/)]);
    expect(violations[0]).not.toContain('Bearer session');
  });
});

test('a rolling restart violates what fails, is refused before its repeat, or reads after a revocation', () => {
  const reads = { answered: 9, refused: ['503'], failures: ['no answer'] };
  const revocations = { acknowledged: 3, readsAfter: 6, stale: 2, failures: ['a read was answered 500: '] };
  expect(findViolations({ restarts: 1, reads, revocations })).toEqual([
    'read failed: no answer',
    'read failed before its repeat: 503',
    'request failed: a read was answered 500: ',
    '2 of 6 reads after an acknowledged revocation got data',
  ]);
});

describe('reads', () => {
  const OK = 'HTTP/1.1 200 OK\r\nX-Request-Id: req_1\r\nContent-Length: 4\r\n\r\ndata';
  const REFUSED = 'HTTP/1.1 401 Unauthorized\r\nDate: today\r\nContent-Length: 2\r\n\r\nno';
  let server: Server;
  let sockets: Socket[];
  let wire: Wire;
  let reads: Reads;
  /** The server's response to each request; null for none. */
  let answer: (() => string | null) & { hangUp?: boolean };

  beforeEach(async () => {
    sockets = [];
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', () => {
        const text = answer();
        if (text !== null) socket.write(text);
        if (answer.hangUp === true) socket.end();
      });
    });
    wire = openWire(`http://localhost:${await listenOnLoopback(server)}`, 300);
    reads = new Reads([wire], newTally());
  });
  afterEach(() => {
    wire[Symbol.dispose]();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  function held(state: HeldToken['state']): HeldToken {
    const facts = { token: 't', family: 'f', grant: 'g', user: 'u', app: 'a', epoch: 0, expiresAt: null };
    return { secret: 's', facts, state, etag: null, present: () => Promise.resolve({}) };
  }
  const read = (token: HeldToken, reading = HEART) => reads.read(token, reading, { gateway: 0, trace: [] });

  test('count a read with an ended token as a trial, and report a response with data', async () => {
    answer = () => REFUSED;
    await read(held('dead'));
    await read(held('ending'));
    expect(reads.tally.trials).toBe(1);
    answer = () => OK;
    await read(held('live'));
    await read(held('narrowed'), PROFILE);
    expect(toSentences(reads.tally)).toEqual([]);
    await read(held('narrowed'));
    await read(held('dead'));
    expect(reads.tally.trials).toBe(3);
    expect(toSentences(reads.tally)).toEqual([
      'data after revocation, 2 times; the first: req_1 got 200 at gateway 1',
    ]);
  });

  test('report a live token that is refused, unless its end was asked for meanwhile', async () => {
    const token = held('live');
    answer = () => {
      token.state = 'ending';
      return REFUSED;
    };
    await read(token);
    expect(reads.tally.violations).toEqual({});
    answer = () => REFUSED;
    await read(held('live'));
    expect(Object.keys(reads.tally.violations)).toEqual(['live token refused']);
  });

  test('repeat some requests with a proof, and report a repeated one that gets data', async () => {
    const bound = { ...held('live'), present: () => Promise.resolve({ DPoP: 'a proof' }) };
    answer = () => OK;
    while (reads.tally.repeats === 0) await read(bound);
    expect(Object.keys(reads.tally.violations)).toEqual(['proof used twice at a gateway']);
  });

  test('compare 401s byte for byte except for the date', async () => {
    answer = () => REFUSED;
    await read(held('dead'));
    answer = () => REFUSED.replace('today', 'tomorrow');
    await read(held('dead'));
    expect(reads.tally.violations).toEqual({});
    answer = () => REFUSED.replace('Content-Length', 'X-Cause: revoked\r\nContent-Length');
    await read(held('dead'));
    expect(Object.keys(reads.tally.violations)).toEqual(['401s differ']);
  });
});
