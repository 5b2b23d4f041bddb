import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { instantOrNull, text } from '../openapi/fields.ts';
import { answerPublicly } from '../respond.ts';

/** The configured `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) as raw fields, for every response under `/api`. */
export function lifecycleHeaders(config: Config): Readonly<Record<string, string>> {
  const { API_V1_DEPRECATION: deprecation, API_V1_SUNSET: sunset } = config;
  return {
    ...(deprecation === undefined ? {} : { Deprecation: `@${Math.floor(deprecation.getTime() / 1000)}` }),
    ...(sunset === undefined ? {} : { Sunset: sunset.toUTCString() }),
  };
}

export const versionsJson = z.object({
  data: z.array(
    z
      .object({
        version: text,
        status: z.enum(['current', 'deprecated']),
        path: text,
        deprecatedAt: instantOrNull,
        sunsetAt: instantOrNull,
      })
      .meta({ id: 'Version' }),
  ),
});

/** `GET /api/versions`: the versions, with their deprecation and removal dates. Public. */
export function sendVersions(response: ServerResponse, method: string, config: Config): void {
  const { API_V1_DEPRECATION: deprecation, API_V1_SUNSET: sunset } = config;
  const version: z.infer<typeof versionsJson>['data'][number] = {
    version: '1',
    status: deprecation === undefined ? 'current' : 'deprecated',
    path: '/api/v1',
    deprecatedAt: deprecation?.toISOString() ?? null,
    sunsetAt: sunset?.toISOString() ?? null,
  };
  answerPublicly(response, method, JSON.stringify({ data: [version] }));
}
