import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ManagedProcess } from '@phds/local-stack/managed-process';
import { findRandomPorts } from '@phds/local-stack/ports';
import { toConsentEnvironment } from '@phds/local-stack/service-environments';
import { startRunningStack } from '@phds/running-system/running-stack';
import { type ConnectedPerson, connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import { batchingCalls, SHORT_READS } from '@phds/service-kit/batcher';
import { Deadline, withinDeadline } from '@phds/service-kit/deadline';
import { createBatchedReads } from '../../../../services/gateway/src/clients/batched-reads.ts';

const READERS = 32;
const FREEZE_S = 20;
const OVERLOAD_S = 4;
const RUN_MS = 100;

/** One of two replicas of consent frozen, more look-ups than can be done, and an app that takes the waiting places of the gateway. */
export async function benchBatchers(): Promise<string> {
  return [
    await freezeOneOfTwo(),
    await overload(2_000),
    await overload(4_000),
    await crowd(),
    `load ${loadavg()[0]?.toFixed(1)}`,
  ].join('\n');
}

async function freezeOneOfTwo(): Promise<string> {
  const [ports, secondPorts] = [await findRandomPorts(1), await findRandomPorts(1)];
  const CONSENT_ADDRESS = `ipv4:127.0.0.1:${ports.consentRpc},127.0.0.1:${secondPorts.consentRpc}`;
  // The limits of a deployment, not those of a test.
  const gateway = { AUTHORIZATION_DEADLINE_MS: '2000', HEALTH_DATA_DEADLINE_MS: '3000' };
  const environment = {
    gateway: { ...gateway, CONSENT_ADDRESS, CONSENT_DEADLINE_MS: '2000' },
    authorization: { CONSENT_ADDRESS, CONSENT_DEADLINE_MS: '1500' },
    'health-data': { CONSENT_ADDRESS, CONSENT_DEADLINE_MS: '1000', ACCESS_WAIT_MS: '1500' },
  };
  await using stack = await startRunningStack({ ports, environment });
  const own = { ...secondPorts, identityProvider: ports.identityProvider };
  const second = new ManagedProcess({
    name: 'consent-2',
    program: 'services/consent/src/main.ts',
    env: toConsentEnvironment({ ports: own, keys: stack.keys, redisUrl: stack.redis.url }),
    readyUrl: `http://127.0.0.1:${own.consentProbe}/readyz`,
    logFile: join(stack.logs, 'consent-2.log'),
    notice: console.warn,
  });
  await second.start();
  try {
    const people = await Promise.all(
      Array.from({ length: 8 }, (_, index) => connectPerson(stack, `p-${index}`)),
    );
    // Streams to the second replica are opened within 10 s.
    await read(people, 12);
    const before = await read(people, 5);
    process.kill(second.pid ?? 0, 'SIGSTOP');
    const during = await read(people, FREEZE_S);
    return `both replicas: ${before}\none frozen: ${during}`;
  } finally {
    process.kill(second.pid ?? 0, 'SIGCONT');
    await second.stop();
  }
}

async function read(people: readonly ConnectedPerson[], seconds: number): Promise<string> {
  const [begin, failures] = [performance.now(), [] as number[]];
  let answered = 0;
  const readOn = async (index: number) => {
    const { app, tokens } = people[index % people.length] as ConnectedPerson;
    while (performance.now() - begin < seconds * 1_000) {
      const { status } = await app.read(tokens.accessToken, HEART_PATH);
      if (status === 200) answered += 1;
      else failures.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: READERS }, (_, index) => readOn(index)));
  const last =
    failures.length === 0 ? '' : `, the last after ${((failures.at(-1) ?? 0) / 1_000).toFixed(1)} s`;
  return `${(answered / seconds).toFixed(0)} reads/s, ${failures.length} of ${answered + failures.length} failed${last}`;
}

/** Callers wait for a second; a run takes 100 ms, and longer the more there are beside it. */
async function overload(perSecond: number): Promise<string> {
  let [running, inTime, sent] = [0, 0, 0];
  const call = batchingCalls(async (items: readonly number[]) => {
    running += 1;
    sent += items.length;
    await delay(RUN_MS * Math.max(1, running / 4));
    running -= 1;
    return items;
  }, SHORT_READS);
  const pending: Promise<void>[] = [];
  for (let tick = 0; tick < OVERLOAD_S * 100; tick += 1) {
    for (let each = 0; each < perSecond / 100; each += 1) {
      const deadline = new Deadline(1_000);
      const answer = withinDeadline(deadline, () => call(each));
      const count = () => {
        if (deadline.remainingMs() > 0) inTime += 1;
      };
      pending.push(answer.then(count, () => undefined));
    }
    await delay(10);
  }
  await Promise.all(pending);
  return `${pending.length} look-ups, ${perSecond}/s asked: ${inTime} answered in time, ${sent - inTime} done for nobody`;
}

/** One app sends 5,000 reads to a health-data that does not answer, then another app sends 50. */
async function crowd(): Promise<string> {
  const sent: string[] = [];
  const send = (calls: readonly { readonly request: { readonly requestId?: string } }[]) =>
    sent.push(...calls.map(({ request }) => request.requestId ?? ''));
  const stream = { load: 0, silentMs: 0, sentAt: 0, send: (calls: never[]) => void send(calls) };
  const healthData = { read: () => Promise.reject(new Error('not used')) } as never;
  const readData = createBatchedReads({ healthData, streams: { open: [stream] }, deadlineMs: 2_000 });
  let refused = 0;
  const ask = (app: string, count: number) => {
    for (let index = 0; index < count; index += 1) {
      const request = { endpoint: 1, category: 'heart', requestId: app };
      const read = { request, assertion: '', clientId: app, isWanted: () => true };
      readData(read).catch(() => {
        if (app === 'quiet' && performance.now() < refusedUntil) refused += 1;
      });
    }
  };
  const refusedUntil = performance.now() + 500;
  ask('busy', 4_000);
  await delay(5);
  ask('busy', 1_000);
  ask('quiet', 50);
  await delay(400);
  const quiet = sent.filter((app) => app === 'quiet').length;
  return `beside 5,000 reads of another app, of 50 reads ${quiet} were sent and ${refused} refused`;
}
