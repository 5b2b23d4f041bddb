import { isSandboxApp } from '@phds/catalog/sandbox';
import type { Allowance } from './limit.ts';
import type { RequestLimits } from './request-limits.ts';

/** The limits of data requests by environment: a local stack raises those of live apps only. */
export class EnvironmentLimits implements Pick<RequestLimits, 'take'> {
  readonly #live: RequestLimits;
  readonly #sandbox: RequestLimits;

  constructor({ live, sandbox }: { readonly live: RequestLimits; readonly sandbox: RequestLimits }) {
    this.#live = live;
    this.#sandbox = sandbox;
  }

  take(clientId: string, userId: string): Promise<Allowance> {
    return (isSandboxApp(clientId) ? this.#sandbox : this.#live).take(clientId, userId);
  }
}
