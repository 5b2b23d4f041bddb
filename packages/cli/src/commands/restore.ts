import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { type Restore, RestoreKind, RestoreService } from '@phds/contracts/phds/consent/v1/restore_pb';
import type { OperatorConnection } from '../operator/connection.ts';
import { explainOperator } from '../operator/explanation.ts';
import { EXIT_DONE, EXIT_FAILED } from './exit-codes.ts';

/** What `phds restore` can do; docs/restoring.md says when. */
export const RESTORE_ACTIONS = ['status', 'declare', 'confirm'] as const;
export type RestoreAction = (typeof RESTORE_ACTIONS)[number];

export interface OperatorSurroundings {
  readonly output: { write(text: string): unknown };
  readonly errors: { write(text: string): unknown };
  readonly connect: () => OperatorConnection;
}

type Restores = Client<typeof RestoreService>;

/** `phds restore …`: asks or tells consent about restores of its database. Answers the exit code. */
export async function runRestore(
  { action, json }: { readonly action: RestoreAction; readonly json: boolean },
  { output, errors, connect }: OperatorSurroundings,
): Promise<number> {
  try {
    using connection = connect();
    const restores = connection.client('consent', RestoreService);
    const said = await ACTIONS[action](restores);
    const { latest, suspendedGrants } = await restores.getRestoreStatus({});
    if (json) {
      output.write(
        `${JSON.stringify({ latest: latest === undefined ? null : toJson(latest), suspendedGrants }, null, 2)}\n`,
      );
    } else output.write(`${said}${toText(latest, suspendedGrants)}\n`);
    return EXIT_DONE;
  } catch (error) {
    errors.write(`${explainOperator(error, 'consent')}\n`);
    return EXIT_FAILED;
  }
}

const ACTIONS: Readonly<Record<RestoreAction, (restores: Restores) => Promise<string>>> = {
  status: async () => '',
  async declare(restores) {
    await restores.declareRestore({});
    return '';
  },
  async confirm(restores) {
    const { latest } = await restores.getRestoreStatus({});
    if (latest === undefined || latest.confirmedAt !== undefined)
      return 'Nothing waits for a confirmation.\n';
    // What was seen is what is confirmed: a restore that happens meanwhile waits for a word of its own.
    await restores.confirmRestore({ number: latest.number });
    return '';
  },
};

function toText(latest: Restore | undefined, suspendedGrants: number): string {
  if (latest === undefined) return 'The ledger was never restored, as far as it can tell.';
  const { number, at, kind, confirmedAt } = latest;
  const how = kind === RestoreKind.DECLARED ? 'declared' : 'noticed';
  const head = `Restore ${number}, ${how} at ${toInstant(at)}: `;
  if (confirmedAt !== undefined) return `${head}confirmed at ${toInstant(confirmedAt)}.`;
  const grants = suspendedGrants === 1 ? '1 grant is' : `${suspendedGrants} grants are`;
  return `${head}not confirmed. ${grants} suspended, and all tokens from before.`;
}

function toJson({ number, at, kind, confirmedAt }: Restore) {
  return {
    number,
    at: toInstant(at),
    kind: kind === RestoreKind.DECLARED ? 'declared' : 'detected',
    confirmedAt: toInstant(confirmedAt),
  };
}

function toInstant(time: Timestamp | undefined): string | null {
  return time === undefined ? null : timestampDate(time).toISOString();
}
