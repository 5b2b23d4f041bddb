import { APP_PROFILE, PROFILE_FIELDS, type ProfileField, toProfile } from '@phds/catalog/app-profile';
import { parseScopeList, SCOPE_NAMES } from '@phds/catalog/scopes';
import { countCharacters, findNameFault, findShownTextFault } from '@phds/catalog/shown-text';
import type { AppSettings as AppSettingsMessage } from '@phds/contracts/phds/authorization/v1/apps_pb';
import type { Violation } from '@phds/service-kit/errors';
import { invalidRequest } from '@phds/service-kit/errors';
import {
  type App,
  type ApplicationType,
  type AppSettings,
  isPublic,
  type KeyFetch,
  type PublicApps,
} from './app.ts';
import { parsePublicKeys } from './public-keys.ts';
import { findRedirectUriFault, findWebUrlFault, REDIRECT_URIS_MAX } from './redirect-uri.ts';

/** Settings as sent by a developer; absent and empty lists count as not sent. */
export type SettingsInput = Omit<AppSettingsMessage, '$typeName' | '$unknown'>;

type KnownSettings = AppSettings & KeyFetch;
type JudgedSettings = KnownSettings & Pick<App, 'applicationType'>;

/** The validated fields of an update, and what follows from them. */
export type SettingsChange = Partial<KnownSettings>;

const NO_FETCH = { jwksFetchedAt: null, jwksAskedAt: null, jwksFailure: '' } as const;

const DEFAULTS: KnownSettings = {
  ...NO_FETCH,
  ...toProfile(() => ''),
  redirectUris: [],
  scopes: SCOPE_NAMES,
  requirePkce: false,
  tokenEndpointAuthMethod: 'client_secret_basic',
  jwks: '',
  jwksUri: '',
  dpopBoundAccessTokens: false,
  requirePushedAuthorizationRequests: false,
};

/** What every app without a secret needs, because everybody can call in its name (RFC 9700 section 2.1.1). */
const PUBLIC = {
  tokenEndpointAuthMethod: 'none',
  requirePkce: true,
  jwks: '',
  jwksUri: '',
} as const satisfies Partial<AppSettings>;

/** What the deployment demands of an app of this type. */
function forcedBy(publicApps: PublicApps, { applicationType }: Pick<App, 'applicationType'>) {
  if (applicationType === 'server') return {};
  return { ...PUBLIC, ...(publicApps === 'bound' && { dpopBoundAccessTokens: true }) };
}

/** The settings of a new app of this type. Throws `invalid_request` that names every invalid field. */
export function parseRegistration(
  input: SettingsInput,
  applicationType: ApplicationType = 'server',
  publicApps: PublicApps = 'allowed',
): KnownSettings {
  const violations: Violation[] = [];
  if (applicationType === 'public' && publicApps === 'refused') {
    const message = 'must be server: this service admits no apps without a secret';
    violations.push({ parameter: 'applicationType', message });
  }
  if (input.name === undefined) violations.push({ parameter: 'name', message: 'is required' });
  if (input.redirectUris.length === 0) {
    violations.push({ parameter: 'redirectUris', message: 'needs at least one redirect URI' });
  }
  const forced = forcedBy(publicApps, { applicationType });
  const before = { ...DEFAULTS, applicationType, ...forced };
  const sent = collectChange(input, violations);
  const change = completeChange(sent, before, null);
  violations.push(...findFaults({ ...before, ...change }, forced, sent));
  if (violations.length > 0) throw invalidRequest(violations);
  const { applicationType: _type, ...settings } = { ...before, ...change };
  return settings;
}

/**
 * The fields of an update. Throws `invalid_request` that names every invalid field. Redirect URIs that the app already has were
 * validated when they were added, possibly by earlier rules. The console sends the whole list, so validating them again could
 * prevent a developer from adding one.
 */
export function parseChange(
  input: SettingsInput,
  app: JudgedSettings,
  now: Date,
  publicApps: PublicApps = 'allowed',
): SettingsChange {
  const violations: Violation[] = [];
  const sent = collectChange(input, violations, app.redirectUris);
  const change = completeChange(sent, app, now);
  // An app that was registered before the deployment demanded keys keeps what it does not send.
  const forced = Object.entries(forcedBy(publicApps, app)).filter(([field]) => field in change);
  violations.push(...findFaults({ ...app, ...change }, Object.fromEntries(forced), sent));
  const { tokenEndpointAuthMethod: method, jwksUri, jwksFailure } = { ...app, ...change };
  const isSwitched = method === 'private_key_jwt' && method !== app.tokenEndpointAuthMethod;
  // The secret ends, so the keys have to work already.
  if (isSwitched && jwksUri !== '' && jwksFailure !== '') {
    violations.push({
      parameter: 'jwksUri',
      message: 'must have been fetched before private_key_jwt is set',
    });
  }
  if (violations.length > 0) throw invalidRequest(violations);
  return change;
}

function collectChange(
  input: SettingsInput,
  violations: Violation[],
  knownUris: readonly string[] = [],
): SettingsChange {
  const change: { -readonly [Field in keyof AppSettings]?: AppSettings[Field] } = {};
  for (const field of PROFILE_FIELDS) {
    const text = input[field];
    if (text !== undefined) change[field] = collectText(field, text, violations);
  }
  if (input.redirectUris.length > 0) {
    change.redirectUris = collectRedirectUris(input.redirectUris, knownUris, violations);
  }
  if (input.scopes.length > 0) change.scopes = collectScopes(input.scopes, violations);
  for (const field of FLAGS) {
    const flag = input[field];
    if (flag !== undefined) change[field] = flag;
  }
  const { tokenEndpointAuthMethod: method } = input;
  if (method !== undefined) change.tokenEndpointAuthMethod = collectMethod(method, violations);
  return { ...change, ...collectKeys(input, violations) };
}

/** How an app authenticates itself (RFC 7591 section 2). The secret may be in the body as well. `none` is for public apps. */
const AUTH_METHODS: readonly string[] = ['client_secret_basic', 'private_key_jwt', 'none'];

const FLAGS = ['requirePkce', 'dpopBoundAccessTokens', 'requirePushedAuthorizationRequests'] as const;

function collectMethod(text: string, violations: Violation[]): string {
  if (!AUTH_METHODS.includes(text)) {
    const message = 'must be client_secret_basic or private_key_jwt';
    violations.push({ parameter: 'tokenEndpointAuthMethod', message });
  }
  return text;
}

function collectKeys({ jwks, jwksUri }: SettingsInput, violations: Violation[]): SettingsChange {
  if (!jwksUri) return { ...(jwksUri === '' && { jwksUri }), ...collectKeySet(jwks, violations) };
  const report = (message: string) => violations.push({ parameter: 'jwksUri', message });
  if (jwks) report('must not be sent together with jwks');
  if (jwksUri.includes('#')) report('must not have a fragment');
  return { jwksUri: collectUrl('jwksUri', jwksUri, violations) };
}

function collectKeySet(text: string | undefined, violations: Violation[]): SettingsChange {
  if (!text) return text === '' ? { jwks: '' } : {};
  const parsed = parsePublicKeys(text);
  if ('jwks' in parsed) return parsed;
  violations.push({ parameter: 'jwks', message: parsed.fault });
  return { jwks: text };
}

/** The change with what it means for fetched keys. */
function completeChange(sent: SettingsChange, before: JudgedSettings, now: Date | null): SettingsChange {
  return { ...sent, ...completeKeys(sent, before, now) };
}

/** The settings after a change have to agree with each other. */
function findFaults(after: JudgedSettings, forced: Partial<AppSettings>, sent: SettingsChange): Violation[] {
  const unforced = Object.entries(forced)
    .filter(([field, value]) => after[field as keyof AppSettings] !== value)
    .map(([parameter]) => ({ parameter, message: 'is fixed for an app without a secret' }));
  return [...findMethodFaults(after, sent), ...unforced];
}

function findMethodFaults(after: JudgedSettings, sent: SettingsChange): Violation[] {
  const { tokenEndpointAuthMethod: method, jwks, jwksUri } = after;
  if (method === 'private_key_jwt' && jwks === '' && jwksUri === '') {
    const cleared = (['jwks', 'jwksUri'] as const).find((field) => sent[field] === '');
    const message = cleared ? 'must not be cleared with private_key_jwt' : 'is required for private_key_jwt';
    return [{ parameter: cleared ?? 'jwks', message }];
  }
  if (method !== 'none' || isPublic(after)) return [];
  const message = 'must not be none for an app of type server';
  return [{ parameter: 'tokenEndpointAuthMethod', message }];
}

/** `jwks` and `jwksUri` end each other. With another `jwksUri` the keys so far work until its own were fetched, for a day at most. */
function completeKeys(
  { jwks, jwksUri }: SettingsChange,
  before: JudgedSettings,
  now: Date | null,
): SettingsChange {
  if (jwks !== undefined) return { ...NO_FETCH, jwksUri: '' };
  if (jwksUri === undefined || jwksUri === before.jwksUri) return {};
  if (jwksUri === '') return { ...NO_FETCH, jwks: '' };
  const jwksFetchedAt = before.jwks === '' ? null : (before.jwksFetchedAt ?? now);
  return { jwksFetchedAt, jwksAskedAt: null, jwksFailure: 'has not been fetched yet' };
}

function collectText(parameter: ProfileField, sent: string, violations: Violation[]): string {
  const rule = APP_PROFILE[parameter];
  if (rule.kind === 'url') return collectUrl(parameter, sent, violations);
  const text = sent.trim();
  if (countCharacters(text) > rule.maxLength) {
    violations.push({ parameter, message: `must have at most ${rule.maxLength} characters` });
  }
  const fault = text === '' && parameter !== 'name' ? null : FAULTS[rule.kind](text);
  if (fault !== null) violations.push({ parameter, message: fault });
  return text;
}

/** The reason why a text is invalid, or null. */
const FAULTS = {
  name: findNameFault,
  lines: (text: string) => findShownTextFault(text, 'lines'),
} as const;

function collectUrl(parameter: string, url: string, violations: Violation[]): string {
  const fault = url === '' ? null : findWebUrlFault(url);
  if (fault !== null) violations.push({ parameter, message: fault });
  return url;
}

function collectRedirectUris(
  uris: readonly string[],
  known: readonly string[],
  violations: Violation[],
): string[] {
  const parameter = 'redirectUris';
  if (uris.length > REDIRECT_URIS_MAX) {
    violations.push({ parameter, message: `must have at most ${REDIRECT_URIS_MAX} entries` });
  }
  for (const [index, uri] of uris.slice(0, REDIRECT_URIS_MAX).entries()) {
    const fault = known.includes(uri) ? null : findRedirectUriFault(uri);
    if (fault !== null) violations.push({ parameter, message: `entry ${index + 1} ${fault}` });
  }
  return [...new Set(uris)];
}

function collectScopes(names: readonly string[], violations: Violation[]): AppSettings['scopes'] {
  const { scopes, unknown } = parseScopeList(names.filter((name) => !name.includes(' ')).join(' '));
  if (unknown.length > 0 || names.some((name) => name === '' || name.includes(' '))) {
    violations.push({ parameter: 'scopes', message: 'has an unknown scope; GET /oauth/scopes lists all' });
  }
  return scopes;
}
