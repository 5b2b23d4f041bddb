import { AppError } from '@phds/service-kit/errors';
import type { App, ChangedState } from '../domain/app.ts';
import type { AppCommand, AppStore } from './app-ports.ts';

// A concurrent change costs one attempt; changes of one app are rare.
const ATTEMPTS = 5;

/**
 * Changes an app in the ledger, then in our copy, until `isDone` is true of the ledger's state. It may throw to give up. The ledger
 * is called even when nothing seems to change, so that a repeat completes a change that crashed between the two stores.
 */
export async function changeInLedger(
  { apps }: { readonly apps: Pick<AppStore, 'applyLedgerState'> },
  { clientId, epoch, ledgerRevision }: Pick<App, 'clientId' | 'epoch' | 'ledgerRevision'>,
  change: (command: AppCommand) => Promise<ChangedState>,
  isDone: (state: ChangedState) => boolean,
): Promise<ChangedState> {
  const known = { epoch, revision: ledgerRevision };
  let expectedRevision = ledgerRevision;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const state = await change({ clientId, expectedRevision, known });
    await apps.applyLedgerState(clientId, state);
    // A restored ledger may have the wanted state from before, at a revision that is ignored here.
    const isBehind = state.revision < known.revision || state.epoch < known.epoch;
    if (isDone(state) && !isBehind) return state;
    expectedRevision = state.revision;
  }
  throw new AppError('conflict', 'The status is being changed by another request.');
}
