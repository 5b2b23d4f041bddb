// biome-ignore-all lint/performance/noBarrelFile: the one entry point of the published package
export type { Authorization, AuthorizationRequest, KeptAuthorization, Scope } from './authorization.ts';
export { browserStore } from './browser-store.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { type Clock, systemClock } from './clock.ts';
export type { Connection } from './connection.ts';
export {
  type ErrorCode,
  isPhdsError,
  type ParameterError,
  PhdsError,
  type SdkErrorCode,
  type ServiceErrorCode,
} from './errors.ts';
export type { components, operations, paths } from './generated/openapi.ts';
export type { CallOptions } from './http.ts';
export type { List, Page } from './list.ts';
export type * from './resources.ts';
export type { KeyPair, KeyStore, PrivateJwk, PrivateKey } from './signer.ts';
export type { Change, SyncBatch, SyncOptions } from './sync.ts';
export { memoryTokenStore, type TokenSet, type TokenStore, type TokenType } from './token-store.ts';
export {
  type DataUpdated,
  type GrantEnded,
  type GrantNarrowed,
  type VerifyOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
} from './webhook.ts';
