import { status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { RPCS } from '@phds/running-system/independent-grpc';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { HEART } from '@phds/running-system/revocation-ways';
import { useSharedSandbox } from '@phds/running-system/shared-stack';
import { CALLERS, type Caller, toSubject } from '@phds/service-kit/keys/key-files';
import { shared } from '@phds/test-kit/shared';
import { judgeConnect, judgeGrpc, listAdmitted, listStrangers, type Verdict } from '../src/admissions.ts';
import { RawGrpc } from '../src/raw-grpc.ts';
import { readServiceKeys, signServiceToken } from '../src/service-tokens.ts';

// Nothing of these calls takes effect: a caller that should be refused sends an empty message, and one that should be admitted bytes that
// are no message. So an admitted call is answered INVALID_ARGUMENT, after its admission.

const SERVICES = ['authorization', 'consent', 'health-data'] as const;
type Service = (typeof SERVICES)[number];

const EMPTY = Buffer.alloc(0);
/** A field number without an end. */
const UNDECODABLE = Buffer.from([0xff, 0xff]);

const connections = new Map<Service, RawGrpc>();

const stack = await useSharedSandbox();
const keys = await readServiceKeys(stack);
for (const service of SERVICES)
  connections.set(service, shared.use(new RawGrpc(stack.rpcAddresses[service])));
const session = await signIn(stack, 'caller-matrix-ada');
const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
const { accessToken } = await app.connect(session, [HEART]);

async function tokenOf(caller: Caller, audience: string): Promise<string> {
  return `Bearer ${await signServiceToken(keys[caller], { caller: toSubject(caller), audience })}`;
}

interface Attempt {
  readonly path: string;
  readonly authorization: string | null;
  readonly isReadable: boolean;
}

/** Calls over the gRPC port. */
function callGrpc(service: Service, attempt: Attempt): Promise<Verdict> {
  const bytes = attempt.isReadable ? EMPTY : UNDECODABLE;
  return (connections.get(service) as RawGrpc).call({ ...attempt, bytes }).then(judgeGrpc);
}

/** Calls over the Connect port, where a message that cannot be read is text that is no JSON. */
async function callConnect(service: Service, { path, authorization, isReadable }: Attempt): Promise<Verdict> {
  const answer = await fetch(`${stack.connectUrls[service]}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization !== null && { authorization }) },
    body: isReadable ? '{}' : '{',
  });
  return judgeConnect(answer.status, await answer.text());
}

/** Calls over both ports, which have to treat the caller alike. */
async function call(service: Service, attempt: Attempt): Promise<Verdict> {
  const verdict = await callGrpc(service, attempt);
  const other = await callConnect(service, attempt);
  return verdict === other ? verdict : `${verdict} over gRPC, ${other} over Connect`;
}

/** The rpcs of all proto services that the table places in this service. */
function rpcsOf(service: Service): string[] {
  const hosted = new Set([...listAdmitted(service).keys()].map((path) => path.split('/')[1]));
  return RPCS.map(({ path }) => path).filter((path) => hosted.has(path.split('/')[1]));
}

/** The rpcs of a service by one of the callers that they admit. */
function groupByCaller(service: Service): Map<Caller, string[]> {
  return Map.groupBy(rpcsOf(service), (path) => listAdmitted(service).get(path)?.[0] as Caller);
}

test('the table has each rpc of each proto exactly where it is served', () => {
  const rows = SERVICES.flatMap((service) => [...listAdmitted(service).keys()]);
  expect(new Set(rows)).toEqual(new Set(RPCS.map(({ path }) => path)));
  for (const service of SERVICES) {
    expect([...listAdmitted(service).keys()].toSorted()).toEqual(rpcsOf(service).toSorted());
  }
});

test.each(SERVICES)('each rpc of %s admits exactly the callers that the table names', async (service) => {
  const expected = listAdmitted(service);
  const ask = async (path: string, caller: Caller) => {
    const isReadable = !expected.get(path)?.includes(caller);
    const authorization = await tokenOf(caller, service);
    return call(service, { path, authorization, isReadable });
  };
  for (const [path, callers] of expected) {
    const verdicts = await Promise.all(CALLERS.map((caller) => ask(path, caller)));
    const real = CALLERS.map((caller, index) => `${caller}: ${verdicts[index]}`);
    const wanted = CALLERS.map((caller) => `${caller}: ${callers.includes(caller) ? 'admitted' : 'refused'}`);
    expect([path, ...real]).toEqual([path, ...wanted]);
  }
});

test.each(SERVICES)('no rpc of %s tells a stranger more than why its token is refused', async (service) => {
  for (const [caller, paths] of groupByCaller(service)) {
    const strangers = await listStrangers({ service, caller, keys, session, accessToken });
    const attempts = Object.entries(strangers).flatMap(([name, authorization]) =>
      [true, false].map((isReadable) => ({ name, authorization, isReadable })),
    );
    for (const [index, path] of paths.entries()) {
      const ask = async ({ name, ...attempt }: (typeof attempts)[number]) =>
        `${path} to ${name}: ${await call(service, { path, ...attempt })}`;
      // The first rpc is tried by every stranger, each other one without a token and by a few in turn.
      const some = attempts.filter(({ name }, each) => name === 'no token' || each % 8 === index % 8);
      const answers = await Promise.all((index === 0 ? attempts : some).map(ask));
      expect(answers.filter((answer) => !answer.endsWith(': refused'))).toEqual([]);
    }
  }
});

describe('without a service token', () => {
  test.each(SERVICES)(
    '%s tells over gRPC whether it is ready, and nothing else is served',
    async (service) => {
      const served = async (path: string) => {
        const outcome = await (connections.get(service) as RawGrpc).call({
          path,
          authorization: null,
          bytes: EMPTY,
        });
        return outcome.code;
      };
      expect(await served('/grpc.health.v1.Health/Check')).toBe(status.OK);
      for (const path of [
        '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
        '/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo',
        '/grpc.channelz.v1.Channelz/GetServers',
        '/phds.consent.v1.ConsentService/Unknown',
      ]) {
        expect(await served(path)).toBe(status.UNIMPLEMENTED);
      }
    },
  );
});
