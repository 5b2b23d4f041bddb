import { API_PREFIX, ENDPOINTS, type Endpoint } from '@phds/catalog/endpoints';
import { SCOPES } from '@phds/catalog/scopes';
import type { Config } from '../../config.ts';
import { ERROR_RESPONSES, PARAMETERS, PATH_PARAMETERS, SCHEMAS } from './openapi-parts.ts';

const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** `GET /openapi.json`: the data API in OpenAPI 3.1, derived from the catalog. */
export function toOpenApiDocument({ PUBLIC_URL }: Config) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Partner Health Data Service',
      version: '1',
      description: 'Read-only access of partner apps to the health data of users who have consented.',
    },
    servers: [{ url: PUBLIC_URL }],
    paths: Object.fromEntries(
      ENDPOINTS.map((endpoint) => [toOpenApiPath(endpoint), { get: toOperation(endpoint) }]),
    ),
    components: {
      securitySchemes: { oauth: toSecurityScheme(PUBLIC_URL) },
      parameters: { ...PARAMETERS, ...PATH_PARAMETERS },
      schemas: SCHEMAS,
      responses: ERROR_RESPONSES,
    },
  };
}

function toOpenApiPath({ path }: Endpoint): string {
  return API_PREFIX + path.replaceAll(/:(\w+)/g, '{$1}');
}

function toOperation(endpoint: Endpoint) {
  const inPath = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '');
  return {
    operationId: endpoint.id,
    description:
      endpoint.scope === null ? 'Needs `read:health-data:{category}`.' : `Needs \`${endpoint.scope}\`.`,
    // For the category endpoints, the path decides which of the category scopes is required.
    security: [{ oauth: endpoint.scope === null ? [] : [endpoint.scope] }],
    parameters: [...inPath, ...endpoint.query].map((name) => ({ $ref: `#/components/parameters/${name}` })),
    responses: {
      200: {
        description: 'The data',
        content: { 'application/json': { schema: toEnvelope(endpoint) } },
      },
      304: { description: 'Not changed since the entity tag in If-None-Match' },
      ...Object.fromEntries(
        Object.keys(ERROR_RESPONSES).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  };
}

function toEnvelope({ id, envelope }: Endpoint) {
  const item = schemaRef(id);
  if (envelope === 'object') return { type: 'object', required: ['data'], properties: { data: item } };
  return {
    type: 'object',
    required: ['data', 'pagination'],
    properties: { data: { type: 'array', items: item }, pagination: schemaRef('pagination') },
  };
}

function toSecurityScheme(issuer: string) {
  return {
    type: 'oauth2',
    flows: {
      authorizationCode: {
        authorizationUrl: `${issuer}/oauth/authorize`,
        tokenUrl: `${issuer}/oauth/token`,
        refreshUrl: `${issuer}/oauth/token`,
        scopes: Object.fromEntries(SCOPES.map(({ scope, title }) => [scope, title])),
      },
    },
  };
}
