import { SCOPES } from '@phds/catalog/scopes';
import type { z } from 'zod';
import type { Config } from '../../config.ts';
import { sessionCookieName } from '../credentials.ts';
import { type Answer, type Operation, type Security, TAGS } from '../operation.ts';
import { ANY_ERROR, groupErrors, toErrorResponse } from './error-responses.ts';
import { type Fields, text, toHeaderComponents, toHeaderReferences } from './fields.ts';
import { SchemaComponents } from './schemas.ts';

const INFO = {
  title: 'Partner Health Data Service',
  version: '1',
  description:
    'Read-only access of partner apps to the health data of people who have consented.\n\n' +
    'Data under `/api/v1` has exactly the documented fields; objects in other answers and in events may get further members. ' +
    'Every error has a `code`; its `type` is the address of a page about it. ' +
    'A request that reaches no operation gets an error of the same form: 404 for an unknown address, 405 with `Allow` for another ' +
    'method, 408, 417 or 431 when the request itself cannot be read.',
} as const;

/** The document of a deployment (OpenAPI 3.1). `described` is what `describe` returns, the same for every deployment. */
export function toDocument(
  { tags, paths, webhooks, components }: ReturnType<typeof describe>,
  { PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>,
) {
  return {
    openapi: '3.1.1' as const,
    info: INFO,
    servers: [{ url: PUBLIC_URL }],
    tags,
    paths,
    webhooks,
    components: { securitySchemes: toSecuritySchemes(PUBLIC_URL), ...components },
  };
}

const OF_A_KEY =
  'If it is bound to a key: with the scheme `DPoP`, and a proof for the request (RFC 9449) in the header field `DPoP`.';

function toSecuritySchemes(issuer: string) {
  const scopes = Object.fromEntries(SCOPES.map(({ scope, title }) => [scope, title]));
  const tokenUrl = `${issuer}/oauth/token`;
  return {
    oauth: {
      type: 'oauth2',
      description: `An access token that a person has approved. ${OF_A_KEY}`,
      flows: {
        authorizationCode: {
          authorizationUrl: `${issuer}/oauth/authorize`,
          tokenUrl,
          refreshUrl: tokenUrl,
          scopes,
        },
      },
    },
    appToken: {
      type: 'oauth2',
      description: `The app’s own access token, without a person. ${OF_A_KEY}`,
      flows: { clientCredentials: { tokenUrl, scopes: {} } },
    },
    client: {
      type: 'http',
      scheme: 'basic',
      description:
        'The app’s client id and secret, form-encoded (RFC 6749 2.3.1). Or in the body instead: `client_id` and `client_secret`; ' +
        '`client_assertion` and `client_assertion_type` of an app with keys (`private_key_jwt`); `client_id` alone of an app without a secret.',
    },
    session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The session of a person.' },
    sessionCookie: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookieName(issuer),
      description: 'The session of a person in a browser. Only our own pages may change something with it.',
    },
  };
}

/** What the service sends to an app, as `webhooks` of OpenAPI. */
type Webhooks = Readonly<Record<string, { readonly summary: string; readonly body: z.ZodType }>>;

/** `paths` and `webhooks`, and the components and tags that they refer to. */
export function describe(operations: readonly Operation[], webhooks: Webhooks) {
  const schemas = new SchemaComponents();
  const responses = new Map<string, object>();
  const paths = new Map<string, Record<string, unknown>>();
  for (const operation of operations) {
    const path = toTemplate(operation.path);
    const methods = paths.get(path) ?? {};
    methods[operation.method.toLowerCase()] = toOperationObject(operation, schemas, responses);
    paths.set(path, methods);
  }
  for (const error of Object.values(ANY_ERROR)) schemas.add(error, 'output');
  const answered = JSON.stringify([...paths.values(), ...responses.values()]);
  const headers = toHeaderComponents(answered, (schema) => schemas.add(schema, 'output'));
  return {
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    webhooks: toWebhooks(webhooks, schemas),
    components: { headers, responses: Object.fromEntries(responses), schemas: schemas.toJson() },
  };
}

/** The header fields of every request to an app, as Standard Webhooks names them. */
const WEBHOOK_HEADERS = {
  'webhook-id': 'Of the event: the same at every attempt.',
  'webhook-timestamp': 'Of the attempt, in seconds since 1970.',
  'webhook-signature': '`v1,` and the signature in Base64, for each valid secret, separated by blanks.',
} as const;

function toWebhooks(webhooks: Webhooks, schemas: SchemaComponents) {
  const parameters = Object.entries(WEBHOOK_HEADERS).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: schemas.add(text, 'output'),
  }));
  const toItem = ([type, { summary, body }]: [string, Webhooks[string]]) => {
    const requestBody = {
      required: true,
      content: { 'application/json': { schema: schemas.add(body, 'output') } },
    };
    const responses = {
      '2XX': { description: 'The app has stored the event.' },
      410: { description: 'Nothing more is sent until the endpoint is set again.' },
      default: { description: 'The event is sent again later.' },
    };
    const operationId = `on-${type}`;
    return [type, { post: { operationId, summary, security: [], parameters, requestBody, responses } }];
  };
  return Object.fromEntries(Object.entries(webhooks).map(toItem));
}

/** A path with its parameters as in OpenAPI: `/developer/apps/{clientId}`. */
function toTemplate(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function toOperationObject(operation: Operation, schemas: SchemaComponents, shared: Map<string, object>) {
  const { operationId, tag, summary, description, body } = operation;
  const parameters = toParameters(operation, schemas);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: toSecurity(operation.security),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: toRequestBody(body, schemas) }),
    responses: toResponses(operation, schemas, shared),
  };
}

/**
 * Error responses are shared by the operations with the same codes. A status that is both an answer and an error is a page for browsers
 * and an error for everybody else.
 */
function toResponses(operation: Operation, schemas: SchemaComponents, shared: Map<string, object>) {
  const responses = new Map<string, object>();
  for (const [status, codes] of groupErrors(operation)) {
    const error = toErrorResponse(operation, status, codes, schemas);
    const page = operation.answers[status];
    if (page !== undefined) {
      const { content, ...response } = toResponse(page, schemas);
      responses.set(String(status), { ...response, content: { ...content, ...error.content } });
      continue;
    }
    const name = nameResponse(operation, status, codes);
    if (name !== null) shared.set(name, error);
    responses.set(String(status), name === null ? error : { $ref: `#/components/responses/${name}` });
  }
  const answers = Object.entries(operation.answers).filter(([status]) => !responses.has(status));
  for (const [status, answer] of answers) responses.set(status, toResponse(answer, schemas));
  return Object.fromEntries(responses);
}

/** The name of an error response in the components; null if it is like no other. */
function nameResponse(
  { tag, errorFormat, errorHeaders }: Operation,
  status: number,
  codes: readonly string[],
) {
  if (errorHeaders !== undefined) return null;
  return [tag === 'Data' ? 'data' : errorFormat, status, ...codes].join('.');
}

/** What a path parameter is, by the segment before it, where the operation does not say it. */
const AFTER_SEGMENT: Readonly<Record<string, string>> = {
  apps: 'Client id of the app.',
  grants: 'Id of the grant.',
  pending: 'Id of the authorization request.',
  deliveries: 'Id of the event.',
};

function toPathParameters({ path, pathParameters = {} }: Operation): Fields {
  const found = [...path.matchAll(/(?<=(\w+)\/):(\w+)/g)].map(([, segment = '', name = '']) => {
    const description = AFTER_SEGMENT[segment];
    return [name, pathParameters[name] ?? (description === undefined ? text : text.meta({ description }))];
  });
  return Object.fromEntries(found);
}

function toParameters(operation: Operation, schemas: SchemaComponents) {
  const { query = {}, requiredQuery = [], requestHeaders = {} } = operation;
  const places: ['path' | 'query' | 'header', Fields][] = [
    ['path', toPathParameters(operation)],
    ['query', query],
    ['header', requestHeaders],
  ];
  return places.flatMap(([place, fields]) =>
    Object.entries(fields).map(([name, field]) => {
      const { description } = field.meta() ?? {};
      const isRequired = place === 'path' || requiredQuery.includes(name);
      return {
        name,
        in: place,
        ...(isRequired ? { required: true } : {}),
        ...(description === undefined ? {} : { description }),
        schema: schemas.add(field, 'input'),
      };
    }),
  );
}

function toRequestBody(
  { schema, optional, types }: NonNullable<Operation['body']>,
  schemas: SchemaComponents,
) {
  const content = { schema: schemas.add(schema, 'input') };
  const mediaTypes = types ?? ['application/json'];
  return {
    required: optional !== true,
    content: Object.fromEntries(mediaTypes.map((type) => [type, content])),
  };
}

function toResponse(
  { description, body, type, headers = [], sometimes = [] }: Answer,
  schemas: SchemaComponents,
) {
  const schema = body === undefined ? null : schemas.add(body, 'output');
  return {
    description,
    headers: toHeaderReferences(headers, sometimes),
    ...(schema === null ? {} : { content: { [type ?? 'application/json']: { schema } } }),
  };
}

function toSecurity(security: Security): Record<string, readonly string[]>[] {
  if (typeof security === 'object') {
    const { scopes } = security;
    return scopes.length === 0 ? [{ oauth: [] }] : scopes.map((scope) => ({ oauth: [scope] }));
  }
  return {
    none: [],
    session: [{ session: [] }, { sessionCookie: [] }],
    // The credentials may be in the body.
    client: [{ client: [] }, {}],
    'optional-client': [{ client: [] }, {}],
    'app-token': [{ appToken: [] }],
  }[security];
}
