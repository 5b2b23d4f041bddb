import { toAppError } from '@phds/service-kit/errors';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { createExchange } from '../exchange.ts';
import { findForced } from '../forced-errors.ts';
import type { Gateway } from '../gateway.ts';
import { instantOrNull, text } from '../openapi/fields.ts';
import { publicDocument } from '../operation.ts';
import { splitUrl } from '../query.ts';
import { refuse } from '../refusal.ts';

export const VERSIONS_PATH = '/api/versions';
export const VERSIONS_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS'];

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

/** Whether a request asks for the list of versions, which is answered without a token, whatever the query. */
export function asksForVersions({ method = '', url = '' }: Request): boolean {
  return (
    url.startsWith(VERSIONS_PATH) && splitUrl(url).path === VERSIONS_PATH && VERSIONS_METHODS.includes(method)
  );
}

export async function answerVersions(gateway: Gateway, request: Request, response: Response): Promise<void> {
  gateway.measure(request, response, () => VERSIONS_PATH);
  const exchange = createExchange(gateway, request, response, []);
  try {
    if (gateway.config.SANDBOX) findForced(exchange, LIST_VERSIONS);
    await LIST_VERSIONS.handle(exchange);
  } catch (error) {
    await refuse(exchange, toAppError(error));
  }
}
