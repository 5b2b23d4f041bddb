import type { Clock } from '@phds/service-kit/clock';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type { SecurityLog } from '@phds/service-kit/telemetry/security-log';
import type { Authenticator } from '../cache/authenticator.ts';
import type { Backends } from '../clients/backends.ts';
import type { Config } from '../config.ts';
import type { FailedAuthentications } from '../limits/failed-authentications.ts';
import type { KnownClients } from '../limits/known-clients.ts';
import type { RequestLimits } from '../limits/request-limits.ts';
import type { SurfaceLimits } from '../limits/surface-limits.ts';
import type { RefusalCounts } from '../usage/refusal-counts.ts';
import type { RequestLog } from '../usage/request-log.ts';
import type { MeasureRequest } from './request-metrics.ts';
import type { SessionReader } from './session.ts';
import type { SignIn } from './sign-in/sign-in.ts';

/** Waits this many milliseconds; injected so that tests do not wait. */
export type Pause = (milliseconds: number) => Promise<void>;

/** The dependencies of the HTTP surfaces. */
export interface Gateway {
  readonly config: Config;
  readonly log: Logger;
  readonly security: SecurityLog;
  readonly clock: Clock;
  readonly pause: Pause;
  readonly measure: MeasureRequest;
  /** Whether requests can be answered. */
  readonly isReady: () => Promise<boolean>;
  readonly backends: Backends;
  readonly authenticator: Authenticator;
  readonly limits: Pick<RequestLimits, 'take'>;
  readonly surfaceLimits: SurfaceLimits;
  /** Names a client's network without its address. */
  readonly networkOf: (address: string) => string;
  readonly knownClients: KnownClients;
  readonly failures: FailedAuthentications;
  readonly refusals: Pick<RefusalCounts, 'add'>;
  readonly requests: Pick<RequestLog, 'add' | 'find'>;
  readonly readSession: SessionReader;
  /** Null when no OpenID provider is set. */
  readonly signIn: SignIn | null;
}
