import { readFile } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { describe, expect, test } from '@jest/globals';
import { RPC_PATHS } from '@phds/running-system/described-rpcs';
import { useSharedSandbox } from '@phds/running-system/shared-stack';
import { CALLERS, type Caller, toSubject } from '@phds/service-kit/keys/key-files';
import { createServiceTokenSource } from '@phds/service-kit/trust/callers';
import { shared } from '@phds/test-kit/shared';
import { judgeConnect, judgeGrpc, listAdmitted, type Verdict } from '../src/admissions.ts';
import { RawGrpc } from '../src/raw-grpc.ts';

// Nothing of these calls takes effect: a caller that should be refused sends an empty message, and one that should be admitted bytes that
// are no message. So an admitted call is answered INVALID_ARGUMENT, after its admission.

const SERVICES = ['authorization', 'consent', 'health-data'] as const;
type Service = (typeof SERVICES)[number];

const EMPTY = Buffer.alloc(0);
/** A field number without an end. */
const UNDECODABLE = Buffer.from([0xff, 0xff]);

const connections = new Map<Service, RawGrpc>();

const stack = await useSharedSandbox();
for (const service of SERVICES)
  connections.set(service, shared.use(new RawGrpc(stack.rpcAddresses[service])));

const sources = new Map(
  await Promise.all(CALLERS.map(async (caller) => [caller, await stack.serviceTokens(caller)] as const)),
);

async function tokenOf(caller: Caller, audience: string): Promise<string> {
  return `Bearer ${await sources.get(caller)?.(audience)}`;
}

/** Tokens that name the gateway: with the signature of another caller, without any, and a valid one of another scheme. */
async function forgeTokens(audience: string): Promise<string[]> {
  const privateKeyPem = await readFile(stack.keys.servicePrivateKeys.importer, 'utf8');
  const signed = await createServiceTokenSource({ service: toSubject('gateway'), privateKeyPem })(audience);
  const none = Buffer.from('{"alg":"none","typ":"service+jwt"}').toString('base64url');
  const valid = await tokenOf('gateway', audience);
  return [`Bearer ${signed}`, `Bearer ${none}.${signed.split('.')[1]}.`, valid.replace('Bearer', 'Basic')];
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
  return RPC_PATHS.filter((path) => hosted.has(path.split('/')[1]));
}

test('the table has each rpc of each proto exactly where it is served', () => {
  const rows = SERVICES.flatMap((service) => [...listAdmitted(service).keys()]);
  expect(new Set(rows)).toEqual(new Set(RPC_PATHS));
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

// service-kit/test/callers.test.ts has the other tokens that are refused.
test.each(SERVICES)('no rpc of %s tells a stranger more than that its token is refused', async (service) => {
  for (const authorization of [null, ...(await forgeTokens(service))]) {
    for (const isReadable of [true, false]) {
      const ask = async (path: string) => [path, await call(service, { path, authorization, isReadable })];
      const answers = await Promise.all(rpcsOf(service).map(ask));
      expect(answers.filter(([, verdict]) => verdict !== 'refused')).toEqual([]);
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
