import type { Approval } from './ports.ts';

/** Decisions in place of the made-up people of sandbox apps. Repeating one returns the same result. */
export interface SandboxApprovals {
  /** Approves all requested scopes. */
  approve(clientId: string, pendingId: string, person: string): Promise<Approval>;
  deny(clientId: string, pendingId: string): Promise<void>;
}
