import { isSecret } from '@phds/service-kit/secrets';

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The token of the `Authorization: Bearer` field (RFC 6750 2.1); null unless there is exactly one such field. */
export function findBearerToken(fields: readonly string[]): string | null {
  const [field] = fields;
  if (field === undefined || fields.length > 1) return null;
  return BEARER.exec(field)?.[1] ?? null;
}

/** The bearer token if it has the form of an access token, else null. */
export function findAccessToken(fields: readonly string[]): string | null {
  const token = findBearerToken(fields);
  return token !== null && isSecret('access_token', token) ? token : null;
}
