import { OWN_CATEGORIES, OWN_CODES } from '@phds/catalog/fhir/code-systems';
import { OBSERVATION_KINDS, OWN_SYSTEMS } from '@phds/catalog/fhir/observation-kinds';
import {
  FHIR_PREFIX,
  FHIR_TYPES,
  type FhirType,
  PATIENT_PROFILE,
  searchParametersOf,
} from '@phds/catalog/fhir/resource-types';
import { SMART_SCOPES } from '@phds/catalog/fhir/words';
import { PROBLEM_CODES } from '@phds/catalog/problems';
import { VERSION } from '@phds/service-kit/telemetry/metrics';
import { z } from 'zod';
import type { Gateway } from '../gateway.ts';
import { toServerMetadata } from '../oauth/metadata.ts';
import { text } from '../openapi/fields.ts';
import { type MountedOperation, publicDocument } from '../operation.ts';
import { parsePairs, splitUrl } from '../query.ts';
import { FHIR_JSON } from './outcome.ts';
import { requireJson } from './requests.ts';

/** When the CapabilityStatement was last changed: R4 demands a date. */
const CHANGED = '2026-11-27';

const TYPES: Readonly<Record<string, string>> = {
  patient: 'reference',
  subject: 'reference',
  date: 'date',
  'onset-date': 'date',
  'effective-time': 'date',
};

const PROFILES: { readonly [Type in FhirType]?: readonly string[] } = {
  Patient: [PATIENT_PROFILE],
  Observation: [...new Set(OBSERVATION_KINDS.flatMap(({ profile }) => profile ?? []))],
};

function toResource(type: FhirType) {
  return {
    type,
    supportedProfile: PROFILES[type],
    interaction: [{ code: 'read' }, { code: 'search-type' }],
    versioning: 'no-version',
    searchParam: searchParametersOf(type).map((name) => ({ name, type: TYPES[name] ?? 'token' })),
  };
}

/** `GET /fhir/R4/metadata`: the CapabilityStatement (R4). */
function toCapabilities(gateway: Gateway) {
  const base = gateway.config.PUBLIC_URL + FHIR_PREFIX;
  const metadata = toServerMetadata(gateway);
  const uris = {
    authorize: metadata.authorization_endpoint,
    token: metadata.token_endpoint,
    introspect: metadata.introspection_endpoint,
    revoke: metadata.revocation_endpoint,
  };
  return {
    resourceType: 'CapabilityStatement',
    url: `${base}/metadata`,
    version: VERSION,
    name: 'PartnerHealthDataService',
    title: 'Partner Health Data Service',
    status: 'active',
    date: CHANGED,
    kind: 'instance',
    software: { name: 'Partner Health Data Service', version: VERSION },
    implementation: { description: 'The health data that people share with apps.', url: base },
    fhirVersion: '4.0.1',
    format: ['json', FHIR_JSON],
    rest: [
      {
        mode: 'server',
        documentation:
          'Reads the data of the person of the access token. An unknown search parameter is an error unless the request has Prefer: handling=lenient.',
        security: {
          extension: [
            {
              url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris',
              extension: Object.entries(uris).map(([url, valueUri]) => ({ url, valueUri })),
            },
          ],
          cors: true,
          service: [
            {
              coding: [
                {
                  system: 'http://terminology.hl7.org/CodeSystem/restful-security-service',
                  code: 'SMART-on-FHIR',
                },
              ],
              text: 'OAuth 2.0 as in SMART App Launch',
            },
          ],
        },
        resource: FHIR_TYPES.map(toResource),
      },
    ],
  };
}

type Concept = readonly [code: string, display: string];

/** The concepts of our code systems by their paths below the prefix. */
const CODE_SYSTEMS: Readonly<
  Record<string, { readonly name: string; readonly concepts: readonly Concept[] }>
> = {
  [OWN_SYSTEMS.metric]: { name: 'PhdsMetric', concepts: [...OWN_CODES] },
  [OWN_SYSTEMS.category]: { name: 'PhdsCategory', concepts: [...OWN_CATEGORIES] },
  'CodeSystem/problem': {
    name: 'PhdsProblem',
    concepts: PROBLEM_CODES.map((code) => [code, code.toLowerCase().replaceAll('_', ' ')]),
  },
};

/** A complete CodeSystem (R4). */
function toCodeSystem(path: string, { config: { PUBLIC_URL } }: Gateway) {
  const { name = '', concepts = [] } = CODE_SYSTEMS[path] ?? {};
  return {
    resourceType: 'CodeSystem',
    id: path.slice(path.indexOf('/') + 1),
    url: `${PUBLIC_URL}${FHIR_PREFIX}/${path}`,
    version: VERSION,
    name,
    status: 'active',
    caseSensitive: true,
    content: 'complete',
    count: concepts.length,
    concept: concepts.map(([code, display]) => ({ code, display })),
  };
}

const texts = z.array(text);
const smartJson = z
  .object({
    authorization_endpoint: text,
    token_endpoint: text,
    introspection_endpoint: text,
    revocation_endpoint: text,
    management_endpoint: text,
    token_endpoint_auth_methods_supported: texts,
    grant_types_supported: texts,
    response_types_supported: texts,
    code_challenge_methods_supported: texts,
    scopes_supported: texts,
    capabilities: texts,
  })
  .meta({ id: 'SmartConfiguration' });

/** SMART App Launch 2.2. No `issuer`, which is for OpenID Connect. */
function toSmartConfiguration(gateway: Gateway): z.infer<typeof smartJson> {
  const metadata = toServerMetadata(gateway);
  return {
    authorization_endpoint: metadata.authorization_endpoint,
    token_endpoint: metadata.token_endpoint,
    introspection_endpoint: metadata.introspection_endpoint,
    revocation_endpoint: metadata.revocation_endpoint,
    // The page of the web app where a person sees and ends what they share.
    management_endpoint: `${metadata.issuer}/apps`,
    token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported,
    grant_types_supported: ['authorization_code', 'refresh_token'],
    response_types_supported: metadata.response_types_supported,
    code_challenge_methods_supported: metadata.code_challenge_methods_supported,
    scopes_supported: [...SMART_SCOPES],
    capabilities: [
      'launch-standalone',
      'client-public',
      'client-confidential-symmetric',
      'context-standalone-patient',
      'permission-patient',
      'permission-offline',
      'permission-v1',
      'permission-v2',
    ],
  };
}

/** A resource that is a public document. */
function publicResource(given: {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly toContent: (gateway: Gateway) => { readonly resourceType: string };
}): MountedOperation {
  const document = publicDocument({
    ...given,
    path: `${FHIR_PREFIX}/${given.path}`,
    type: FHIR_JSON,
    errorFormat: 'fhir',
    body: z.looseObject({ resourceType: text }),
    errors: ['INVALID_REQUEST', ['INVALID_REQUEST', 406]],
  });
  return {
    ...document,
    handle: (exchange) => {
      requireJson(exchange.request, parsePairs(splitUrl(exchange.request.originalUrl).rawQuery));
      return document.handle(exchange);
    },
  };
}

/** The public documents of the FHIR interface. */
export const FHIR_DOCUMENTS: readonly MountedOperation[] = [
  publicResource({
    path: 'metadata',
    operationId: 'getCapabilities',
    summary: 'Describe the FHIR interface (CapabilityStatement)',
    toContent: toCapabilities,
  }),
  publicDocument({
    path: `${FHIR_PREFIX}/.well-known/smart-configuration`,
    operationId: 'getSmartConfiguration',
    summary: 'Describe the authorization server (SMART App Launch)',
    errorFormat: 'fhir',
    body: smartJson,
    toContent: toSmartConfiguration,
  }),
  ...Object.keys(CODE_SYSTEMS).map((path) =>
    publicResource({
      path,
      operationId: `getCodeSystem-${path.slice(path.indexOf('/') + 1)}`,
      summary: `List the codes of ${path}`,
      toContent: (gateway) => toCodeSystem(path, gateway),
    }),
  ),
];

const PATHS: ReadonlySet<string> = new Set(FHIR_DOCUMENTS.map(({ path }) => path));

/** Whether a path is one of the public documents. */
export function isFhirDocument(url: string): boolean {
  return PATHS.has(splitUrl(url).path);
}
