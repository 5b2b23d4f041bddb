import type { MessageInitShape } from '@bufbuild/protobuf';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DATA_PATHS } from '@phds/catalog/endpoints';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import {
  Endpoint,
  HealthDataService,
  type ReadRequestSchema,
  type ReadResponse,
} from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import type { AppError } from '@phds/service-kit/errors';
import { createBatchedCalls } from '@phds/service-kit/rpc/batch-rpc';
import { ASSERTION_METADATA } from '@phds/service-kit/rpc/context';
import { toReadEndpoint } from '@phds/service-kit/rpc/messages';
import { eventually } from '@phds/test-kit/conditions';
import { BASE } from './fhir.ts';
import { bodyOf, type Harness, reading, reasonOf, refusalOf, shareHarness, startHarness } from './harness.ts';

const harness = await shareHarness();
await harness.putReadings('ada', [
  reading('Heart Rate', '2026-01-02T10:00:00Z', 60),
  reading('Heart Rate', '2026-01-02T11:00:00Z', 61),
]);
afterEach(() => harness.consent.forget());

type About = Parameters<Harness['about']>[1];

async function heart(changes: About = {}, parameters: object = {}, userId = 'ada', requestId = '') {
  const request = { endpoint: Endpoint.HEALTH_DATA, category: 'heart', parameters, requestId };
  return harness.reads.read(request, await harness.about(userId, changes));
}

/** What the caller asks to be judged by, which only the FHIR interface takes into account. */
const OTHER_SCOPE = 'read:health-data:mindfulness';

/** Reads a data path. */
async function call({ endpoint, category }: (typeof DATA_PATHS)[number], changes: About) {
  const medicationId = endpoint === 'adherence' ? 'med_x' : '';
  return harness.reads.read(
    { endpoint: toReadEndpoint(endpoint), category: category ?? '', medicationId, scope: OTHER_SCOPE },
    await harness.about('ada', changes),
  );
}

describe('who may ask', () => {
  test.each(DATA_PATHS.map((path) => [path.path, path] as const))(
    '%s requires its own scope: all other scopes together do not open it, and nothing is recorded',
    async (_, path) => {
      const refusal = await refusalOf(
        call(path, { scopes: SCOPE_NAMES.filter((scope) => scope !== path.scope) }),
      );
      expect(refusal).toMatchObject({ reason: 'insufficient_scope', requiredScope: path.scope });
      expect(harness.consent.accesses).toHaveLength(0);
      const outcome = call(path, { scopes: [path.scope] });
      if (path.endpoint === 'adherence') expect(await reasonOf(outcome)).toBe('not_found');
      else await outcome;
      expect(harness.consent.accesses).toMatchObject([{ scope: path.scope, endpoint: path.path }]);
    },
  );

  test('an assertion that is missing, garbled or signed by another key is an internal error, not an error of the partner', async () => {
    const { headers } = await harness.about('ada');
    const [name = '', jwt = ''] = Object.entries(headers)[0] ?? [];
    const [head, payload, signature = ''] = jwt.split('.');
    const forged = `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const session = await harness.sessions.issueSession('ada');
    for (const value of ['', 'garbage', forged, session]) {
      const options = value === '' ? {} : { headers: { [name]: value } };
      expect(
        await reasonOf(harness.reads.read({ endpoint: Endpoint.HEALTH_DATA, category: 'heart' }, options)),
      ).toBe('internal');
    }
    expect(harness.consent.accesses).toHaveLength(0);
  });

  test('an assertion older than 60 seconds is stale, even if it was verified before', async () => {
    const options = await harness.about('ada');
    await harness.reads.read({ endpoint: Endpoint.HEALTH_DATA, category: 'heart' }, options);
    harness.clock.advance(60_000);
    expect(
      await reasonOf(harness.reads.read({ endpoint: Endpoint.HEALTH_DATA, category: 'heart' }, options)),
    ).toBe('assertion_stale');
  });

  test('the ledger decides whether a token has expired, whatever the local clock shows', async () => {
    const now = Math.floor(harness.clock.now().getTime() / 1000);
    await heart({ tokenExpiresAt: now - 1 });
    expect(harness.consent.accesses).toHaveLength(1);
    harness.consent.judge = () => Verdict.TOKEN_EXPIRED;
    expect(await reasonOf(heart({ tokenExpiresAt: now + 60 }))).toBe('token_expired');
  });

  test('a userless token gets nothing', async () => {
    expect(await refusalOf(heart({}, {}, ''))).toMatchObject({
      reason: 'consent_required',
      requiredScope: 'read:health-data:heart',
    });
    expect(harness.consent.accesses).toHaveLength(0);
  });

  test('only the gateway can read, and only importers can write', async () => {
    const stranger = harness.as('authorization');
    expect(await reasonOf(stranger.reads.read({ endpoint: Endpoint.HEALTH_DATA }))).toBe(
      'caller_not_admitted',
    );
    expect(
      await reasonOf(harness.as('service:importer').reads.read({ endpoint: Endpoint.HEALTH_DATA })),
    ).toBe('caller_not_admitted');
    expect(await reasonOf(harness.as('gateway').ingestion.eraseUser({ userId: 'ada' }))).toBe(
      'caller_not_admitted',
    );
  });

  test.each([
    ['no endpoint', { endpoint: Endpoint.UNSPECIFIED }, 'invalid_request'],
    ['an endpoint of a later version', { endpoint: 999 as Endpoint }, 'invalid_request'],
    ['readings without a category', { endpoint: Endpoint.HEALTH_DATA }, 'not_found'],
    ['an unknown category', { endpoint: Endpoint.HEALTH_DATA, category: 'aura' }, 'not_found'],
    ['a category of another endpoint', { endpoint: Endpoint.MOOD, category: 'heart' }, 'not_found'],
    [
      'a bucket of a later version',
      { endpoint: Endpoint.TRENDS, parameters: { bucket: 999 } },
      'invalid_request',
    ],
    [
      'an unknown zone',
      { endpoint: Endpoint.TRENDS, parameters: { timeZone: 'Mars/Olympus' } },
      'invalid_request',
    ],
  ])('a request that names %s is refused and not recorded', async (_, request, reason) => {
    expect(await reasonOf(harness.reads.read(request, await harness.about('ada')))).toBe(reason);
    expect(harness.consent.accesses).toHaveLength(0);
  });

  const THUMBPRINT = 'A'.repeat(43);
  test.each([
    ['a bound token and no key', THUMBPRINT, ''],
    ['a bound token and another key', THUMBPRINT, 'B'.repeat(43)],
    ['a key and a token that is not bound', null, THUMBPRINT],
  ])('a gateway that lets through %s gets nothing, and nothing is recorded', async (_, bound, jkt) => {
    const request = { endpoint: Endpoint.HEALTH_DATA, category: 'heart' };
    const options = await harness.about('ada', { jkt: bound });
    expect(await reasonOf(harness.reads.read({ ...request, jkt }, options))).toBe('unauthorized');
    expect(harness.consent.accesses).toHaveLength(0);
    await harness.reads.read({ ...request, jkt: bound ?? '' }, options);
    expect(harness.consent.accesses).toHaveLength(1);
  });

  test("one user's assertion never reads another user's rows", async () => {
    expect(bodyOf(await heart({}, {}, 'grace')).data).toEqual([]);
  });
});

describe('no data without a record', () => {
  test('the record states who read what, which window and how many items, and contains no value', async () => {
    await heart(
      { dataFrom: '2026-01-01' },
      { from: '2026-01-02', to: '2026-01-03', page: { page: 1, pageSize: 1 } },
      'ada',
      'req-1',
    );
    const [access] = harness.consent.accesses;
    expect(access).toMatchObject({
      clientId: 'app_test',
      userId: 'ada',
      grantId: 'grt_test',
      familyId: 'fam_test',
      scope: 'read:health-data:heart',
      endpoint: '/api/v1/health-data/heart',
      from: '2026-01-02',
      to: '2026-01-03',
      page: 1,
      recordCount: 1,
      requestId: 'req-1',
      dataFrom: '2026-01-01',
    });
    expect(Buffer.from(access?.tokenHash ?? []).equals(Buffer.alloc(32, 7))).toBe(true);
  });

  test("an error that reveals the user's zone is recorded, and is sent only if the record was judged alive", async () => {
    await harness.ingestion.putProfile({ userId: 'islander', timeZone: 'Pacific/Apia' });
    const inverted = { from: '2026-01-01T12:00:00Z', to: '2026-01-02' };
    const ask = async () =>
      reasonOf(
        harness.reads.read(
          { endpoint: Endpoint.TRENDS, parameters: inverted },
          await harness.about('islander'),
        ),
      );
    expect(await ask()).toBe('invalid_request');
    expect(harness.consent.accesses).toMatchObject([{ userId: 'islander', ...inverted, recordCount: 0 }]);
    harness.consent.judge = () => Verdict.TOKEN_REVOKED;
    expect(await ask()).toBe('unauthorized');
  });

  test('with the recorder away nothing is released, and it recovers by itself', async () => {
    await harness.consent.stop();
    const refusal = await refusalOf(heart());
    expect(refusal).toMatchObject({ reason: 'access_not_recorded', retryAfterSeconds: 1 });
    await harness.consent.start();
    await eventually(async () => expect(bodyOf(await heart()).data).toHaveLength(2));
  });
});

interface BatchedRead {
  readonly request: MessageInitShape<typeof ReadRequestSchema>;
  /** As `Harness.about` returns it. */
  readonly headers?: Record<string, string>;
}

/** The response, or the error. */
type Outcome = ReadResponse | AppError;

/** Sends reads in one message, as a gateway does. */
function createReadAll({ reads: client }: Harness): (reads: readonly BatchedRead[]) => Promise<Outcome[]> {
  const { read: method } = HealthDataService.method;
  const read = createBatchedCalls({ method, batch: client.reads, deadlineMs: 20_000 });
  return (reads) =>
    Promise.all(
      reads.map(({ request, headers }) =>
        read({ request, assertion: headers?.[ASSERTION_METADATA] ?? '' }).catch((error: AppError) => error),
      ),
    );
}

describe('reads in a batch', () => {
  const readAll = createReadAll(harness);

  beforeAll(async () => {
    for (const [index, person] of ['alan', 'edith'].entries()) {
      const times = Array.from({ length: 30 }, (_, minute) => `2026-01-02T10:${10 + minute}:00Z`);
      await harness.putReadings(
        person,
        times.map((time, minute) => reading('Heart Rate', time, 60 + minute + 50 * index)),
      );
    }
  });

  const HEART = { endpoint: Endpoint.HEALTH_DATA, category: 'heart' };

  const NEWEST_SEARCH = {
    scope: 'read:health-data:heart',
    fhir: { base: BASE, resourceType: 'Observation', parameters: [{ name: 'code', value: '8867-4' }] },
  };

  async function heart(userId: string, about: Parameters<Harness['about']>[1] = {}): Promise<BatchedRead> {
    return { request: HEART, ...(await harness.about(userId, about)) };
  }

  /** The values of a response, or the reason of an error. */
  function summaryOf(outcome: Outcome | undefined): unknown {
    if (outcome === undefined) throw new Error('no outcome');
    return outcome instanceof Error ? outcome.reason : bodyOf(outcome).data.length;
  }

  describe('reads of one message', () => {
    test('are answered byte for byte as by the unary rpc, each person with their own data', async () => {
      const requests = [
        HEART,
        { ...HEART, parameters: { page: { page: 2, pageSize: 7 } } },
        { ...HEART, parameters: { from: '2026-01-02T10:15:00Z', to: '2026-01-03' } },
        { endpoint: Endpoint.AGGREGATIONS },
        { endpoint: Endpoint.MOOD },
        { endpoint: Endpoint.PROFILE },
        NEWEST_SEARCH,
      ];
      const reads: BatchedRead[] = [];
      for (const person of ['alan', 'edith', 'nobody']) {
        for (const request of requests) reads.push({ request, ...(await harness.about(person)) });
      }
      const alone = await Promise.all(
        reads.map(({ request, headers }) => harness.reads.read(request, { headers: headers ?? {} })),
      );
      const together = await readAll(reads);
      expect(together.map((outcome) => ({ ...outcome }))).toEqual(alone.map((response) => ({ ...response })));
      expect(summaryOf(together[0])).toBe(20);
      expect(together[0]).not.toEqual(together[requests.length]);
    });

    test('are refused alone for what is wrong with one of them, as by the unary rpc, and only the others are recorded', async () => {
      const { headers } = await harness.about('alan');
      const others = SCOPE_NAMES.filter((scope) => scope !== 'read:health-data:heart');
      const bad: BatchedRead[] = [
        { request: HEART },
        { request: HEART, headers: { 'phds-assertion': 'garbage' } },
        { request: { endpoint: 999 as Endpoint }, headers },
        { request: { endpoint: Endpoint.HEALTH_DATA, category: 'none' }, headers },
        { request: { ...HEART, parameters: { from: 'yesterday' } }, headers },
        await heart('alan', { scopes: others }),
        await heart(''),
      ];
      const good = await heart('alan');
      const outcomes = await readAll(bad.flatMap((read) => [good, read, good]));
      for (const [index, read] of bad.entries()) {
        const alone = await refusalOf(
          harness.reads.read(read.request, read.headers === undefined ? {} : { headers: read.headers }),
        );
        expect({ ...outcomes[3 * index + 1] }).toEqual({ ...alone });
        expect([outcomes[3 * index], outcomes[3 * index + 2]].map(summaryOf)).toEqual([20, 20]);
      }
      expect(harness.consent.accesses).toHaveLength(2 * bad.length);
    });

    test('are judged each by itself: the verdict on one never releases another', async () => {
      const names = Object.keys(Verdict).filter((name) =>
        Number.isNaN(Number(name)),
      ) as (keyof typeof Verdict)[];
      harness.consent.judge = ({ clientId }) => Verdict[clientId as keyof typeof Verdict];
      const outcomes = await readAll(
        await Promise.all(
          names.map((clientId, index) => heart(index % 2 === 0 ? 'alan' : 'edith', { clientId })),
        ),
      );
      expect(Object.fromEntries(names.map((name, index) => [name, summaryOf(outcomes[index])]))).toEqual({
        UNSPECIFIED: 'access_not_recorded',
        RELEASED: 20,
        TOKEN_EXPIRED: 'token_expired',
        TOKEN_REVOKED: 'unauthorized',
        FAMILY_REVOKED: 'unauthorized',
        GRANT_REVOKED: 'unauthorized',
        GRANT_EXPIRED: 'consent_required',
        SCOPE_WITHDRAWN: 'consent_required',
        APP_NOT_ALIVE: 'unauthorized',
        WINDOW_CHANGED: 'assertion_stale',
        RESTORE_UNCONFIRMED: 'unauthorized',
      });
      expect(harness.consent.accesses).toHaveLength(names.length);
    });
  });

  describe('a failed record of a batch', () => {
    const three = async () => [await heart('alan'), await heart('edith'), await heart('alan')];
    const REFUSED = ['access_not_recorded', 'access_not_recorded', 'access_not_recorded'];

    test('refuses all of it when the judgement fails after the record, and the next batch is released', async () => {
      const failed = Promise.reject(new Error('judgement failed'));
      failed.catch(() => undefined);
      harness.consent.gate = failed;
      expect((await readAll(await three())).map(summaryOf)).toEqual(REFUSED);
      expect(harness.consent.accesses).toHaveLength(3);
      harness.consent.forget();
      expect((await readAll(await three())).map(summaryOf)).toEqual([20, 20, 20]);
    });

    test.each([
      ['too few', (verdicts: Verdict[]) => verdicts.slice(1)],
      ['too many', (verdicts: Verdict[]) => [...verdicts, Verdict.RELEASED]],
      ['no', () => []],
    ])('releases nothing when there are %s verdicts', async (_, answer) => {
      harness.consent.answer = answer;
      expect((await readAll(await three())).map(summaryOf)).toEqual(REFUSED);
      expect(harness.consent.accesses).toHaveLength(3);
    });

    test('refuses all of it when consent hangs, within the deadline of the record', async () => {
      await using slow = await startHarness({}, { CONSENT_DEADLINE_MS: 50 });
      const readSlowly = createReadAll(slow);
      const release = Promise.withResolvers<void>();
      slow.consent.gate = release.promise;
      const reads = [await slow.about('alan'), await slow.about('edith')].map((about) => ({
        request: HEART,
        ...about,
      }));
      expect((await readSlowly(reads)).map(summaryOf)).toEqual(REFUSED.slice(1));
      release.resolve();
      await eventually(async () => {
        expect((await readSlowly(reads)).map(summaryOf)).toEqual([0, 0]);
      });
    });
  });
});
