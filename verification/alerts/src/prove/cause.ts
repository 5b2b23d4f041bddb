import type { Site } from './site.ts';

/** Undoes a cause. */
export type End = () => Promise<void>;

/** A fault that makes an alert fire. */
export interface Cause {
  readonly alert: string;
  /** For alerts with rules of several severities. */
  readonly severity?: string;
  /** The fault, in a few words. */
  readonly what: string;
  /** Alerts that may fire too, because the fault has these consequences. */
  readonly also?: readonly string[];
  begin(site: Site): Promise<End>;
}

/** What fails when requests fail. */
export const CONSEQUENCES = ['GatewayErrors', 'RpcErrors', 'SelfTestFailing', 'GatewaySlow'] as const;
