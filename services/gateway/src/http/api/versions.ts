import type { ServerResponse } from 'node:http';
import type { Config } from '../../config.ts';
import { answerPublicly } from '../public/public-document.ts';

/** The configured `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) as raw fields, for every response under `/api`. */
export function lifecycleHeaders(config: Config): Readonly<Record<string, string>> {
  const { API_V1_DEPRECATION: deprecation, API_V1_SUNSET: sunset } = config;
  return {
    ...(deprecation === undefined ? {} : { Deprecation: `@${Math.floor(deprecation.getTime() / 1000)}` }),
    ...(sunset === undefined ? {} : { Sunset: sunset.toUTCString() }),
  };
}

/** `GET /api/versions`: the versions, with their deprecation and removal dates. Public. */
export function sendVersions(response: ServerResponse, method: string, config: Config): void {
  const { API_V1_DEPRECATION: deprecation, API_V1_SUNSET: sunset } = config;
  const version = {
    version: '1',
    status: deprecation === undefined ? 'current' : 'deprecated',
    path: '/api/v1',
    deprecatedAt: deprecation?.toISOString() ?? null,
    sunsetAt: sunset?.toISOString() ?? null,
  };
  answerPublicly(response, method, { data: [version] });
}
