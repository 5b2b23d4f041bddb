import { parseScopeList, SCOPE_NAMES } from '@phds/catalog/scopes';
import { countCharacters, findNameFault, findShownTextFault } from '@phds/catalog/shown-text';
import type { Violation } from '@phds/service-kit/errors';
import { invalidRequest } from '@phds/service-kit/errors';
import type { AppSettings } from './app.ts';
import { findRedirectUriFault, findWebUrlFault, REDIRECT_URIS_MAX } from './redirect-uri.ts';

/** The texts of an app: their maximum length in characters, and the reason why one is invalid, or null. */
const TEXTS = {
  name: { max: 100, findFault: findNameFault },
  description: { max: 500, findFault: (text: string) => findShownTextFault(text, 'lines') },
  developerName: { max: 100, findFault: (text: string) => (text === '' ? null : findNameFault(text)) },
} as const;

type TextField = keyof typeof TEXTS;

const TEXT_FIELDS = Object.keys(TEXTS) as TextField[];

/** Settings as sent by a developer; absent and empty lists count as not sent. */
export interface SettingsInput {
  readonly name?: string | undefined;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly description?: string | undefined;
  readonly developerName?: string | undefined;
  readonly homepageUrl?: string | undefined;
  readonly privacyPolicyUrl?: string | undefined;
  readonly logoUrl?: string | undefined;
  readonly requirePkce?: boolean | undefined;
}

/** The validated fields of an update. */
export type SettingsChange = Partial<AppSettings>;

/** The settings of a new app. Throws `invalid_request` that names every invalid field. */
export function parseRegistration(input: SettingsInput): AppSettings {
  const violations: Violation[] = [];
  if (input.name === undefined) violations.push({ parameter: 'name', message: 'is required' });
  if (input.redirectUris.length === 0) {
    violations.push({ parameter: 'redirectUris', message: 'needs at least one redirect URI' });
  }
  const change = collectChange(input, violations);
  if (violations.length > 0) throw invalidRequest(violations);
  return {
    name: '',
    redirectUris: [],
    scopes: SCOPE_NAMES,
    description: '',
    developerName: '',
    homepageUrl: '',
    privacyPolicyUrl: '',
    logoUrl: '',
    requirePkce: false,
    tokenEndpointAuthMethod: 'client_secret_basic',
    jwks: '',
    jwksUri: '',
    dpopBoundAccessTokens: false,
    requirePushedAuthorizationRequests: false,
    securityProfile: '',
    ...change,
  };
}

/**
 * The fields of an update. Throws `invalid_request` that names every invalid field. Redirect URIs that the app already has were
 * validated when they were added, possibly by earlier rules. The console sends the whole list, so validating them again could
 * prevent a developer from adding one.
 */
export function parseChange(input: SettingsInput, app: Pick<AppSettings, 'redirectUris'>): SettingsChange {
  const violations: Violation[] = [];
  const change = collectChange(input, violations, app.redirectUris);
  if (violations.length > 0) throw invalidRequest(violations);
  return change;
}

function collectChange(
  input: SettingsInput,
  violations: Violation[],
  knownUris: readonly string[] = [],
): SettingsChange {
  const change: { -readonly [Field in keyof AppSettings]?: AppSettings[Field] } = {};
  for (const field of TEXT_FIELDS) {
    const text = input[field];
    if (text !== undefined) change[field] = collectText(field, text.trim(), violations);
  }
  for (const field of ['homepageUrl', 'privacyPolicyUrl', 'logoUrl'] as const) {
    const url = input[field];
    if (url !== undefined) change[field] = collectUrl(field, url, violations);
  }
  if (input.redirectUris.length > 0) {
    change.redirectUris = collectRedirectUris(input.redirectUris, knownUris, violations);
  }
  if (input.scopes.length > 0) change.scopes = collectScopes(input.scopes, violations);
  if (input.requirePkce !== undefined) change.requirePkce = input.requirePkce;
  return change;
}

function collectText(parameter: TextField, text: string, violations: Violation[]): string {
  const { max, findFault } = TEXTS[parameter];
  if (countCharacters(text) > max) {
    violations.push({ parameter, message: `must have at most ${max} characters` });
  }
  const fault = findFault(text);
  if (fault !== null) violations.push({ parameter, message: fault });
  return text;
}

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
