import { SCOPES } from '@phds/catalog/scopes';
import type { Config } from '../../config.ts';
import { API_OPERATIONS } from '../api/operations.ts';
import { sessionCookieName } from '../cookies.ts';
import { DEVELOPER_OPERATIONS } from '../developer/operations.ts';
import { WEBHOOK_BODIES } from '../developer/webhook-events.ts';
import { OAUTH_OPERATIONS } from '../oauth/operations.ts';
import type { Operation } from '../openapi/operation.ts';
import { toPaths } from '../openapi/paths.ts';
import { PARTNER_OPERATIONS } from '../partner/operations.ts';
import { SIGN_IN_OPERATIONS } from '../sign-in/operations.ts';
import { PUBLIC_OPERATIONS } from './operations.ts';

/** Every operation of the public interface. Only pages for browsers are missing. */
export const OPERATIONS: readonly Operation[] = [
  ...API_OPERATIONS,
  ...OAUTH_OPERATIONS,
  ...DEVELOPER_OPERATIONS,
  ...PARTNER_OPERATIONS,
  ...SIGN_IN_OPERATIONS,
  ...PUBLIC_OPERATIONS,
];

/** The same for every deployment. */
const DESCRIBED = toPaths(OPERATIONS, WEBHOOK_BODIES);

const INFO = {
  title: 'Partner Health Data Service',
  version: '1',
  description:
    'Read-only access of partner apps to the health data of people who have consented.\n\n' +
    'Objects in answers may get further members. Every error has a `code`; its `type` is the address of a page about it. ' +
    'A request that reaches no operation gets an error of the same form: 404 for an unknown address, 405 with `Allow` for another ' +
    'method, 408, 417 or 431 when the request itself cannot be read.',
} as const;

/** `GET /openapi.json`: the public interface in OpenAPI 3.1, made of the operations of every surface. */
export function toOpenApiDocument({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>) {
  const { tags, paths, webhooks, components } = DESCRIBED;
  return {
    openapi: '3.1.1',
    info: INFO,
    servers: [{ url: PUBLIC_URL }],
    tags,
    paths,
    webhooks,
    components: { securitySchemes: toSecuritySchemes(PUBLIC_URL), ...components },
  };
}

function toSecuritySchemes(issuer: string) {
  const scopes = Object.fromEntries(SCOPES.map(({ scope, title }) => [scope, title]));
  const tokenUrl = `${issuer}/oauth/token`;
  return {
    oauth: {
      type: 'oauth2',
      description: 'An access token that a person has approved.',
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
      description: 'The app’s own access token, without a person.',
      flows: { clientCredentials: { tokenUrl, scopes: {} } },
    },
    client: {
      type: 'http',
      scheme: 'basic',
      description:
        'The app’s client id and secret, form-encoded (RFC 6749 2.3.1), or `client_id` and `client_secret` in the body instead.',
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
