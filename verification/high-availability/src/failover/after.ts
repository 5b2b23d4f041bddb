import { runAsOperator } from '@phds/e2e/operator-command';
import type { RunningStack } from '@phds/running-system/running-stack';
import { eventually } from '@phds/test-kit/conditions';
import { type Access, type Consents, type ReadResult, readAt } from './access.ts';

const PARALLEL = 8;
const SETTLED = { timeoutMs: 60_000, intervalMs: 200 } as const;

/** Whether an operator has to confirm a database, and what is suspended until then. */
export interface Suspension {
  readonly consent: { readonly latest: { readonly kind: string } | null; readonly suspendedGrants: number };
  readonly authorization: {
    readonly latest: { readonly kind: string } | null;
    readonly suspendedApps: number;
  };
}

/** Statuses of a read of each of these accesses at every gateway, with how often each occurred. Waits while a gateway answers 503. */
export async function readAll(
  stack: RunningStack,
  { app }: Consents,
  accesses: readonly Access[],
): Promise<ReadonlyMap<ReadResult, number>> {
  const counts = new Map<ReadResult, number>();
  const waiting = accesses.flatMap((access) => stack.gatewayUrls.map((url) => ({ access, url }))).values();
  const readNext = async () => {
    for (const { access, url } of waiting) {
      const result = await eventually(async () => {
        const status = await readAt(app, access, url);
        return status === 503 || status === 'none' ? false : status;
      }, SETTLED);
      counts.set(result, (counts.get(result) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, readNext));
  return counts;
}

export async function readSuspension(stack: RunningStack): Promise<Suspension> {
  return (await runAsOperator(stack, ['restore', 'status'])).document;
}

export async function confirmDatabases(stack: RunningStack): Promise<void> {
  const { code, errors } = await runAsOperator(stack, ['restore', 'confirm', '--confirm', 'believe']);
  if (code !== 0) throw new Error(`the restore could not be confirmed: ${errors}`);
}
