import { once } from 'node:events';
import type { Stack } from '@phds/local-stack/stack';
import { reportBeside } from './beside.ts';
import { TOKEN_REQUESTS } from './load-job.ts';
import { type AnySide, forkProgram, type Side } from './measure.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';
import { type Issuer, NO_LIMITS, prepareIssuer, toTokenJob } from './token.ts';

/** Measures the token endpoint and introspection beside oidc-provider on the same Postgres server. */
export async function benchTokens(options: Options): Promise<string> {
  const environment = { gateway: NO_LIMITS };
  await using prepared = await prepareStack('bench-tokens', { ...options, users: 1 }, { environment });
  const { stack, side } = prepared;
  const service = await prepareIssuer(stack);
  using provider = await startProvider(stack, service);
  const processes = new Map([
    ['oidc-provider', provider.pid],
    ['postgres', side.processes.get('postgres') ?? 0],
  ]);
  const reports: string[] = [];
  for (const request of TOKEN_REQUESTS) {
    const toSide = (issuer: Issuer, of: Side['processes']): AnySide => ({
      job: () => toTokenJob(issuer, request, options),
      processes: of,
    });
    const sides = {
      'oidc-provider': toSide(provider, processes),
      service: toSide(service, side.processes),
    };
    reports.push(request, await reportBeside(sides, options.rounds));
  }
  return reports.join('\n');
}

/** Starts oidc-provider with a client like the app of the service. */
async function startProvider(
  stack: Stack,
  { target }: Issuer,
): Promise<Issuer & Disposable & { pid: number }> {
  const program = forkProgram('oidc-provider.ts', {
    DATABASE_URL: stack.databases.authorization.ownerUrl,
    CLIENT_ID: target.clientId,
    CLIENT_SECRET: target.clientSecret,
    REDIRECT_URI: target.redirectUri,
    SCOPE: target.scope,
  });
  const [{ url }] = (await once(program, 'message')) as [{ url: string }];
  return {
    target: { ...target, tokenUrl: `${url}/token`, introspectionUrl: `${url}/token/introspection` },
    async createCodes(count) {
      program.send(count);
      return (await once(program, 'message'))[0] as string[];
    },
    pid: program.pid ?? 0,
    [Symbol.dispose]: () => program.disconnect(),
  };
}
