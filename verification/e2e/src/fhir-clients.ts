import { createRequire } from 'node:module';
import { MedplumClient } from '@medplum/core';
import type { PartnerApp } from '@phds/running-system/partner-app';
import { Client as FhirKitClient } from 'fhir-kit-client';
import * as oauth from 'openid-client';
import { discover, newChecks } from './openid-client.ts';

interface Resource {
  readonly resourceType: string;
  readonly id?: string;
}

interface Smart {
  authorize(parameters: Readonly<Record<string, unknown>>): Promise<string>;
  ready(): Promise<{
    readonly patient: { readonly id: string | null };
    request<Found>(
      path: string,
      options?: { readonly pageLimit: number; readonly flat: boolean },
    ): Promise<Found>;
    refresh(): Promise<unknown>;
    getState(path: string): unknown;
  }>;
}

// Imported without its types, which would bring those of browsers to everything here.
const smart = createRequire(import.meta.url)('fhirclient') as (request: object, response: object) => Smart;

/** Sends the person to the approval screen and returns the callback. */
type Decide = (url: string) => Promise<URL>;

/** What a FHIR client knows of a connection. */
export interface Session {
  readonly patient: string;
  readonly scope: string;
  /** Every resource of a type, from all pages. */
  all(type: string): Promise<readonly Resource[]>;
  read(type: string, id: string): Promise<Resource>;
  /** Renews the tokens and continues with the new ones. */
  refresh(): Promise<void>;
  accessToken(): string;
}

/** An unmodified FHIR client, with openid-client where it has no OAuth of its own. */
export type Connect = (app: PartnerApp, scope: string, decide: Decide) => Promise<Session>;

export const FHIR_CLIENTS = {
  fhirclient: connectFhirclient,
  'fhir-kit-client': (app: PartnerApp, scope: string, decide: Decide) =>
    withOpenidClient(app, scope, decide, (tokens) => {
      const client = new FhirKitClient({ baseUrl: baseOf(app) });
      const authorized = () => {
        client.bearerToken = tokens();
        return client;
      };
      return {
        read: async (resourceType, id) => (await authorized().read({ resourceType, id })) as Resource,
        async all(resourceType) {
          const found: Resource[] = [];
          let bundle: unknown = await authorized().search({ resourceType });
          while (bundle !== undefined) {
            found.push(...resourcesOf(bundle));
            bundle = await client.nextPage({
              bundle: bundle as Parameters<typeof client.nextPage>[0]['bundle'],
            });
          }
          return found;
        },
      };
    }),
  '@medplum/core': (app: PartnerApp, scope: string, decide: Decide) =>
    withOpenidClient(app, scope, decide, (tokens) => {
      const medplum = new MedplumClient({
        baseUrl: app.gateway,
        fhirUrlPath: 'fhir/R4',
        fetch,
        cacheTime: 0,
      });
      const authorized = () => {
        medplum.setAccessToken(tokens());
        return medplum;
      };
      return {
        read: async (type, id) => (await authorized().readResource(type as 'Observation', id)) as Resource,
        async all(type) {
          const found: Resource[] = [];
          for await (const page of authorized().searchResourcePages(type as 'Observation', { _count: 100 })) {
            found.push(...page);
          }
          return found;
        },
      };
    }),
} satisfies Record<string, Connect>;

/** Address of the FHIR interface. */
export function baseOf(app: PartnerApp): string {
  return `${app.gateway}/fhir/R4`;
}

function resourcesOf(bundle: unknown): Resource[] {
  const { entry = [] } = bundle as { readonly entry?: readonly { readonly resource: Resource }[] };
  return entry.map(({ resource }) => resource);
}

async function connectFhirclient(app: PartnerApp, scope: string, decide: Decide): Promise<Session> {
  const [{ host, pathname }, kept] = [new URL(app.redirectUri), {} as Record<string, unknown>];
  /** The client as the partner's page at this address uses it. */
  const at = (url: string) => smart({ url, headers: { host }, socket: {}, session: kept }, {});
  const { clientId, redirectUri } = app;
  const secret = app.clientSecret === null ? {} : { clientSecret: app.clientSecret };
  const request = { iss: baseOf(app), clientId, ...secret, scope, redirectUri, noRedirect: true };
  const url = await at('/launch').authorize(request);
  const { search } = await decide(url);
  const client = await at(pathname + search).ready();
  return {
    patient: client.patient.id ?? '',
    scope: String(client.getState('tokenResponse.scope')),
    all: (type) => client.request(type, { pageLimit: 0, flat: true }),
    read: (type, id) => client.request(`${type}/${id}`),
    refresh: async () => void (await client.refresh()),
    accessToken: () => String(client.getState('tokenResponse.access_token')),
  };
}

async function withOpenidClient(
  app: PartnerApp,
  scope: string,
  decide: Decide,
  toReader: (accessToken: () => string) => Pick<Session, 'all' | 'read'>,
): Promise<Session> {
  const config = await discover(app, oauth.ClientSecretBasic(app.clientSecret));
  const { checks, parameters } = await newChecks(scope, app.redirectUri);
  const url = oauth.buildAuthorizationUrl(config, { ...parameters, aud: baseOf(app) });
  let tokens = await oauth.authorizationCodeGrant(config, await decide(url.href), checks);
  return {
    patient: String(tokens['patient']),
    scope: tokens.scope ?? '',
    ...toReader(() => tokens.access_token),
    async refresh() {
      tokens = await oauth.refreshTokenGrant(config, tokens.refresh_token ?? '');
    },
    accessToken: () => tokens.access_token,
  };
}
