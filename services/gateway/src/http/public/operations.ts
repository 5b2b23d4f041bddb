import { z } from 'zod';
import { serverMetadataJson } from '../oauth/metadata.ts';
import { text } from '../openapi/fields.ts';
import type { Operation } from '../openapi/operation.ts';
import { publicDocument } from '../openapi/operation-kinds.ts';
import { catalogJson } from './catalog-document.ts';

const publicKeysJson = z.object({
  keys: z.array(
    z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: text,
      kid: text,
      alg: z.literal('EdDSA'),
      use: z.literal('sig'),
    }),
  ),
});

const openApiJson = z.looseObject({ openapi: z.literal('3.1.1'), paths: z.looseObject({}) });

/** Public documents and probes. */
export const PUBLIC_OPERATIONS: readonly Operation[] = [
  publicDocument({
    path: '/.well-known/oauth-authorization-server',
    operationId: 'getServerMetadata',
    summary: 'Describe the authorization server (RFC 8414)',
    body: serverMetadataJson,
  }),
  publicDocument({
    path: '/.well-known/jwks.json',
    operationId: 'getReceiptKeys',
    summary: 'List the public keys of consent receipts',
    body: publicKeysJson,
  }),
  publicDocument({
    path: '/catalog.json',
    operationId: 'getCatalog',
    summary: 'List scopes, categories, data endpoints and metric types',
    body: catalogJson,
  }),
  publicDocument({
    path: '/openapi.json',
    operationId: 'getOpenApi',
    summary: 'Describe this interface (OpenAPI 3.1)',
    body: openApiJson,
  }),
  probe('/livez', 'getLiveness', 'Tell whether the process runs'),
  {
    ...probe('/readyz', 'getReadiness', 'Tell whether the process can serve'),
    answers: { 200: probeAnswer('It can.'), 503: probeAnswer('It cannot.') },
  },
];

function probe(path: string, operationId: string, summary: string): Operation {
  return {
    method: 'GET',
    path,
    operationId,
    tag: 'Probes',
    summary,
    security: 'none',
    answers: { 200: probeAnswer('It does.') },
    errorFormat: 'problem',
    errors: ['INVALID_REQUEST'],
  };
}

function probeAnswer(description: string): Operation['answers'][number] {
  return { description, body: text, type: 'text/plain', headers: ['Cache-Control'] };
}
