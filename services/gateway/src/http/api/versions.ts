import { z } from 'zod';
import type { Config } from '../../config.ts';
import { instantOrNull, text } from '../openapi/fields.ts';
import { publicDocument } from '../operation.ts';
import { VERSIONS_PATH } from './routes.ts';

/** The configured `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) as raw fields, for every response under `/api`. */
export function lifecycleHeaders(config: Config): Readonly<Record<string, string>> {
  const { API_V1_DEPRECATION: deprecation, API_V1_SUNSET: sunset } = config;
  return {
    ...(deprecation === undefined ? {} : { Deprecation: `@${Math.floor(deprecation.getTime() / 1000)}` }),
    ...(sunset === undefined ? {} : { Sunset: sunset.toUTCString() }),
  };
}

const versionsJson = z.object({
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

/** The versions, with their deprecation and removal dates. */
export const LIST_VERSIONS = publicDocument({
  path: VERSIONS_PATH,
  operationId: 'listVersions',
  summary: 'List the versions of the data API',
  body: versionsJson,
  // Answered before anything else, whatever the query.
  errors: [],
  toContent: ({ config: { API_V1_DEPRECATION: deprecation, API_V1_SUNSET: sunset } }) => {
    const status: 'current' | 'deprecated' = deprecation === undefined ? 'current' : 'deprecated';
    const deprecatedAt = deprecation?.toISOString() ?? null;
    const sunsetAt = sunset?.toISOString() ?? null;
    return { data: [{ version: '1', status, path: '/api/v1', deprecatedAt, sunsetAt }] };
  },
});
