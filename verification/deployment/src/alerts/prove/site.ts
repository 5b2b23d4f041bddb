import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { ingestReadings } from '@phds/running-system/ingestion';
import { stopReplacements } from '@phds/running-system/outages';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type ProxiedStack, startProxiedStack } from '@phds/running-system/proxied-stack';
import { send } from '@phds/running-system/request';
import { HEART } from '@phds/running-system/revocation-ways';
import { type ConnectedPerson, connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import type { Target } from './prometheus.ts';

/** Where alerts are caused: the whole service with two gateways. People and apps use the first one. */
export interface Site extends AsyncDisposable {
  readonly stack: ProxiedStack;
  /** Whose data an app reads all the time. */
  readonly person: ConnectedPerson;
  /** Who connects an app and revokes it all the time. */
  readonly revoking: ConnectedPerson;
  readonly developer: string;
  readonly probe: RunningProbe;
  /** Database servers that replaced that of the stack, and end with the site. */
  readonly servers: { stop(): Promise<void> }[];
  /** While this file exists, services start with the defects of broken-build.ts. */
  readonly brokenBuild: string;
}

const SETTINGS = {
  // Look-ups of apps share statements, so many clients do not fill a larger pool.
  authorization: { DATABASE_POOL_SIZE: '3' },
  consent: { CHECKPOINT_INTERVAL_MS: '3000', WEBHOOK_CONCURRENCY: '1' },
} as const;

/** Starts the service and the probe. */
export async function startSite(say: (line: string) => void, signal: AbortSignal): Promise<Site> {
  await using cleanup = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'phds-alerts-'));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const brokenBuild = join(directory, 'broken-build');
  const preload = pathToFileURL(fileURLToPath(new URL('broken-build.ts', import.meta.url))).href;
  const common = { NODE_OPTIONS: `--import=${preload}`, PROVE_BROKEN_BUILD: brokenBuild };
  const stack = await startProxiedStack({
    gateways: 2,
    say,
    signal,
    environment: {
      gateway: common,
      authorization: { ...SETTINGS.authorization, ...common },
      consent: { ...SETTINGS.consent, ...common },
      'health-data': common,
    },
  });
  cleanup.use(stack);
  const servers: Site['servers'] = [];
  cleanup.defer(() => stopReplacements(stack, servers));
  const developer = await signIn(stack, 'developer');
  const person = await connectPerson(stack, 'person');
  const revoking = await connectPerson(stack, 'revoking');
  const probe = await startProbe(revoking);
  cleanup.defer(() => probe.stop());
  const running = cleanup.move();
  return {
    stack,
    person,
    revoking,
    developer,
    probe,
    servers,
    brokenBuild,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

interface RunningProbe {
  readonly clientId: string;
  /** Where it serves its metrics. */
  readonly address: string;
  start(): void;
  stop(): Promise<void>;
}

/** Runs `phds probe` with an app of its own. */
async function startProbe({ app: { gateway }, session }: ConnectedPerson): Promise<RunningProbe> {
  const { clientId, clientSecret } = await registerApp(gateway, session);
  const port = await leasePort();
  const program = fileURLToPath(new URL('../../../../../packages/cli/src/main.ts', import.meta.url));
  const args = [program, 'probe', gateway, '--every', '2s', '--metrics-port', String(port)];
  const settings = { PROBE_CLIENT_ID: clientId, PROBE_CLIENT_SECRET: clientSecret, PROBE_SESSION: session };
  let process_: ChildProcess | undefined;
  const start = () => {
    process_ = spawn(process.execPath, args, { env: { ...process.env, ...settings }, stdio: 'ignore' });
  };
  const stop = async () => {
    if (process_?.kill() === true) await once(process_, 'exit');
  };
  start();
  return { clientId, address: `127.0.0.1:${port}`, start, stop };
}

/** What Prometheus reads. */
export function toTargets({ stack: { probeUrls, gatewayProbeUrls }, probe }: Site): Target[] {
  const services = Object.entries(probeUrls).map(([name, url]) => [name, `${name}-1`, url] as const);
  const gateways = gatewayProbeUrls.map((url, index) => ['gateway', `gateway-${index + 1}`, url] as const);
  const probes = [['probe', 'probe-1', `http://${probe.address}`] as const];
  return [...gateways, ...services, ...probes].map(([name, instance, url]) => ({
    job: `phds-${name}`,
    instance,
    address: new URL(url).host,
  }));
}

const READ_EVERY_MS = 100;
const CHANGE_EVERY_MS = 500;

/** A little steady use of the first gateway: reads, connections that are revoked, and readings that are imported. Disposal waits for it. */
export function startLoad(site: Site): AsyncDisposable {
  const ending = new AbortController();
  const loops = [
    repeat(READ_EVERY_MS, ending.signal, () => read(site)),
    repeat(CHANGE_EVERY_MS, ending.signal, () => connectAndRevoke(site)),
    repeat(CHANGE_EVERY_MS, ending.signal, (turn) => importReading(site, turn)),
  ];
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await Promise.all(loops);
    },
  };
}

/**
 * Sends as many reads at once, again and again, until the signal. They begin one after the other within a second, so that those that wait in
 * vain do not all end together. Never rejects.
 */
export async function readAtOnce(site: Site, readers: number, signal: AbortSignal): Promise<void> {
  const readAfter = async (ms: number) => {
    await delay(ms);
    await repeat(0, signal, () => read(site));
  };
  await Promise.all(Array.from({ length: readers }, (_, index) => readAfter((1_000 * index) / readers)));
}

/** Errors are what the alerts are about, so they are not reported here. */
export async function repeat(
  everyMs: number,
  signal: AbortSignal,
  act: (turn: number) => Promise<unknown>,
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn += 1) {
    await act(turn).catch(() => delay(READ_EVERY_MS));
    if (everyMs > 0) await delay(everyMs);
  }
}

async function read({ person: { app, tokens } }: Site): Promise<void> {
  expectStatus(200, await app.read(tokens.accessToken, HEART_PATH));
}

/** Connects an app and revokes the grant. Throws when anything is refused. */
export async function connectAndRevoke({ stack, revoking: { app, session } }: Site): Promise<void> {
  const code = await app.expectCode(session, [HEART]);
  await app.expectTokens(code.code);
  const url = `${stack.gateway}/partner/consent/grants/${code.grantId}`;
  expectStatus(200, await send(url, { method: 'DELETE', bearer: session }));
}

async function importReading({ stack }: Site, turn: number): Promise<void> {
  const at = new Date(Date.UTC(2026, 0, 1) + turn * 60_000).toISOString();
  await ingestReadings(stack, 'imported', [
    { type: 'Heart Rate', value: 60, start: at, end: at, source: 'apple-watch' },
  ]);
}
