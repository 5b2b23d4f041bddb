import { startPeriodic } from '@phds/service-kit/periodic';
import { closeHttp, createProbeServer, listenHttp } from '@phds/service-kit/probe-server';
import { ConfigError, readConfig } from '@phds/service-kit/settings/config';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { EXIT_DONE, EXIT_FAILED } from '../commands/command.ts';
import { measureProbe, type Outcome, probe } from '../commands/probe.ts';
import type { Surrounded } from './surroundings.ts';

/** The settings of `phds probe`. */
export const probeSettings = z.object({
  PROBE_CLIENT_ID: z.string().describe('Client id of the app.'),
  PROBE_CLIENT_SECRET: z.string().describe('Its secret.'),
  PROBE_SESSION: z.string().describe('A session of the person. A file is read again at each round.'),
});

interface Options {
  readonly redirectUri: string;
  readonly every?: number;
  readonly metricsPort: number;
}

/** Adds `phds probe`. */
export function addProbe(program: Command, { finish, env, output, errors }: Surrounded): void {
  program
    .command('probe')
    .description(
      'Connects an app, reads, revokes and reads again, from outside, and expects that nothing more is read (docs/operations/observability.md). Once, or until SIGINT or SIGTERM.',
    )
    .argument('<url>', 'public address of the service', parseUrl)
    .addOption(new Option('--every <interval>', 'repeat: 30s, 5m').argParser(parseInterval))
    .addOption(
      new Option('--metrics-port <port>', 'where a repeated probe serves /metrics')
        .argParser(parsePort)
        .default(9464),
    )
    .addOption(
      new Option('--redirect-uri <uri>', 'a redirect URI of the app').default(
        'http://localhost:9999/callback',
      ),
    )
    .action(async (url: string, { redirectUri, every, metricsPort }: Options) => {
      const metrics = new Metrics({ service: 'probe' });
      const measured = measureProbe(metrics);
      const round = async (signal: AbortSignal): Promise<Outcome> => {
        const settings = readConfig(probeSettings, env);
        const { PROBE_CLIENT_ID: clientId, PROBE_CLIENT_SECRET: clientSecret } = settings;
        const target = { url, redirectUri, clientId, clientSecret, session: settings.PROBE_SESSION };
        const result = await probe(target, { signal, onStep: measured.onStep });
        if (signal.aborted) return result;
        measured.onRound(result);
        (result.outcome === 'ok' ? output : errors).write(
          `${JSON.stringify({ time: new Date(), ...result })}\n`,
        );
        return result;
      };
      try {
        readConfig(probeSettings, env);
        if (every === undefined) {
          const { outcome } = await round(new AbortController().signal);
          return finish(outcome === 'ok' ? EXIT_DONE : EXIT_FAILED);
        }
        await using running = new AsyncDisposableStack();
        const server = running.adopt(createProbeServer({ isReady: async () => true, metrics }), closeHttp);
        await listenHttp(server, '::', metricsPort);
        const onFailure = (error: unknown) => errors.write(`${(error as Error).message}\n`);
        running.use(startPeriodic(round, { intervalMs: every, atOnce: true, onFailure }));
        await untilSignal();
        finish(EXIT_DONE);
      } catch (error) {
        if (!(error instanceof ConfigError) && (error as NodeJS.ErrnoException).code === undefined)
          throw error;
        errors.write(`${(error as Error).message}\n`);
        finish(EXIT_FAILED);
      }
    });
}

function untilSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => resolve());
  return promise;
}

function parseUrl(value: string): string {
  const url = URL.parse(value);
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new InvalidArgumentError('It must be http:// or https:// and a host, without a path.');
}

function parseInterval(value: string): number {
  const [, number, unit] = /^(\d{1,4})(s|m)$/.exec(value) ?? [];
  const milliseconds = Number(number) * (unit === 'm' ? 60_000 : 1_000);
  if (milliseconds >= 1_000 && milliseconds <= 3_600_000) return milliseconds;
  throw new InvalidArgumentError('It must be from 1s to 60m, such as 30s.');
}

function parsePort(value: string): number {
  const port = Number(value);
  if (/^\d{1,5}$/.test(value) && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a port.');
}
