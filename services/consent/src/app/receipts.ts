import type { Clock } from '@phds/service-kit/clock';
import { notFound } from '@phds/service-kit/errors';
import { toReceipt } from '../domain/receipt.ts';
import type { ReceiptSource, Signer } from './ports.ts';

/** Consent receipts (contract section 5). */
export interface Receipts {
  /** The receipt as it stands now, signed. Throws `not_found`. */
  get(grantId: string, userId: string): Promise<string>;
}

export function createReceipts(ports: {
  readonly source: ReceiptSource;
  readonly signer: Signer;
  readonly clock: Clock;
}): Receipts {
  return {
    async get(grantId, userId) {
      const facts = await ports.source.findReceipt(grantId, userId);
      if (facts === null) throw notFound();
      return ports.signer.sign(toReceipt(facts), ports.clock.now());
    },
  };
}
