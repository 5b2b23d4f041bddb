import { readConfig } from '@phds/service-kit/settings/config';
import { refuseSandboxWithPeople, requireRedisTls, toDeadlines } from '@phds/service-kit/settings/settings';
import type { z } from 'zod';
import { CONSTANTS, DEADLINES, gatewaySettings } from './settings.ts';

/** The settings of the gateway. `KEY_FILE` names a file with the value of KEY. */
export const configSchema = gatewaySettings.superRefine((settings, context) => {
  requireRedisTls(settings, context);
  refuseSandboxWithPeople(settings, context);
  const problems = [...findHalfOfTls(settings), ...findOpenidProblems(settings)];
  for (const [name, message] of problems) {
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

type Settings = z.infer<typeof gatewaySettings>;
type Problem = readonly [name: keyof Settings, message: string];

function findHalfOfTls({ PUBLIC_TLS_CERT: cert, PUBLIC_TLS_KEY: key }: Settings): Problem[] {
  if ((cert === undefined) === (key === undefined)) return [];
  const missing = cert === undefined ? 'PUBLIC_TLS_CERT' : 'PUBLIC_TLS_KEY';
  return [[missing, 'must be set, because the other of the two is']];
}

const OF_PROVIDER = ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'SIGN_IN_KEY'] as const;

/** The services verify the provider's tokens by their session settings, so the two must name the same provider and client. */
function findOpenidProblems(settings: Settings): Problem[] {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = settings;
  const isSet = (name: keyof Settings) => settings[name] !== undefined;
  if (issuer === undefined) {
    return OF_PROVIDER.filter(isSet).map((name) => [name, 'needs OIDC_ISSUER, which is not set'] as const);
  }
  const missing = OF_PROVIDER.filter((name) => !isSet(name));
  const problems: Problem[] = missing.map((name) => [name, 'must be set, because OIDC_ISSUER is'] as const);
  if (issuer !== settings.SESSION_ISSUER) {
    problems.push(['OIDC_ISSUER', 'must be the same as SESSION_ISSUER']);
  }
  if (clientId !== undefined && !settings.SESSION_AUDIENCE.includes(clientId)) {
    problems.push(['OIDC_CLIENT_ID', 'must be one of SESSION_AUDIENCE']);
  }
  return problems;
}

/** The OpenID provider and the gateway's client at it. */
export interface OpenidSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
  readonly signInKey: Buffer;
}

export type Config = Readonly<
  Settings &
    typeof CONSTANTS &
    typeof DEADLINES & {
      /** Null when nobody can sign in here. */
      openid: OpenidSettings | null;
    }
>;

/** Reads the gateway's settings. Throws a ConfigError that names every invalid one. */
export function readEnvironment(env: NodeJS.ProcessEnv): Config {
  const settings = readConfig(configSchema, env);
  return Object.freeze({
    ...CONSTANTS,
    ...toDeadlines(settings, DEADLINES),
    ...settings,
    openid: toOpenidSettings(settings),
  });
}

function toOpenidSettings(settings: Settings): OpenidSettings | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = settings;
  const { OIDC_SCOPE: scope, SIGN_IN_KEY: signInKey } = settings;
  if (!issuer || !clientId || !clientSecret || !signInKey) return null;
  return { issuer, clientId, clientSecret, scope, signInKey };
}
