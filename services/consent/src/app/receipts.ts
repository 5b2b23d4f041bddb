import type { Clock } from '@phds/service-kit/clock';
import { notFound } from '@phds/service-kit/errors';
import { toReceipt } from '../domain/receipt.ts';
import type { ReceiptStore, Signer } from './ports.ts';

/** Consent receipts. */
export interface Receipts {
  /** The current receipt, signed. Throws `not_found`. */
  get(grantId: string, userId: string): Promise<string>;
}

export function createReceipts(dependencies: {
  readonly receipts: ReceiptStore;
  readonly signer: Signer;
  readonly clock: Clock;
}): Receipts {
  const { receipts, signer, clock } = dependencies;
  return {
    async get(grantId, userId) {
      const facts = await receipts.findReceipt(grantId, userId);
      if (facts === null) throw notFound();
      return signer.sign(toReceipt(facts), clock.now());
    },
  };
}
