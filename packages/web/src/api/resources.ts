import type { components, operations } from '@phds/sdk/openapi';

/** What the session endpoints answer, as the OpenAPI document describes it. Instants are RFC 3339 in UTC. */

type Schemas = components['schemas'];

/** The `data` of the answer of an operation. */
type DataOf<Operation extends keyof operations> = operations[Operation]['responses'] extends {
  readonly 200: { content: { readonly 'application/json': { readonly data: infer Data } } };
}
  ? Data
  : never;

/** The JSON body of the requests of an operation. */
type BodyOf<Operation extends keyof operations> = operations[Operation] extends {
  readonly requestBody: { readonly content: { readonly 'application/json': infer Body } };
}
  ? Body
  : never;

export type Access = Schemas['Access'];
/** The accesses of one app on one day of the requested time zone. */
export type AccessDay = Schemas['AccessDay'];
/** An app with the name that the person approved; with `currentName` only if it has another name now. */
export type NamedApp = Access['app'];

export type PendingApproval = Schemas['PendingApproval'];
export type RequestedScope = Schemas['RequestedScope'];
/** An app as it was when it asked. */
export type RequestingApp = PendingApproval['app'];
/** What a person shares with an app now. */
export type Connection = Schemas['Connection'];
/** The terms of an approval; sending the same terms again repeats the decision. */
export type ApprovedTerms = Omit<Schemas['ApprovedTerms'], 'scopes'> & { readonly scopes: readonly string[] };
/** The terms as they are sent. */
export type SentTerms = BodyOf<'approve'>;

export type Grant = Schemas['Grant'];
/** A change that an app made to its profile. */
export type AppChange = Schemas['AppChange'];
/** An app that the person has or had a connection with. */
export type KnownApp = Schemas['ConnectedApp'];

export type Preview = DataOf<'previewData'>;
/** How much data of one type is held. */
export type HeldData = DataOf<'listOwnData'>[number];
export type TrendPoint = Preview['trend'][number];

export type DeveloperApp = Schemas['App'];
export type AppStatus = DeveloperApp['status'];
export type ApplicationType = DeveloperApp['applicationType'];
/** With the secret, which is returned only this time. */
export type NewApp = Schemas['NewApp'];
/** The requests of one app at one endpoint on one UTC day. */
export type UsageDay = Schemas['AppUsage'];
/** An answered request of an app, without path, query, person or value. */
export type LoggedRequest = Schemas['LoggedRequest'];

/** Where an app receives events. */
export type Webhook = Schemas['Webhook'];
/** One event with what became of it. */
export type Delivery = Schemas['WebhookDelivery'];
export type DeliveryAttempt = Delivery['attempts'][number];

/** What happened to a connection, in a sandbox deployment. */
export type Triggered = Schemas['SandboxTrigger'];

export type Session = DataOf<'getSession'>;
/** The answer to a sign-out. `continueTo` is the identity provider's page to sign out there too. */
export type EndedSession = DataOf<'signOut'>;
/** The answer of `GET …/receipt`; also the content of the downloaded file. */
export type SignedReceipt = DataOf<'getReceipt'>;
