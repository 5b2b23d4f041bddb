import type { Listed, Page } from '@phds/catalog/pagination';
import type { OperatorEntry } from '@phds/record-chain/operator-act';
import { notFound } from '@phds/service-kit/errors';

/** What an operator is about to do. Absent ids and an absent reason are empty. */
export interface OperatorAct
  extends Pick<OperatorEntry, 'operator' | 'rpc' | 'clientId' | 'grantId' | 'reason' | 'requestId'> {
  readonly userId: string;
  /** Whether the rpc changes something. */
  readonly changes: boolean;
}

/** An entry with its hash, and the person if it is about one who is not erased. */
export interface StoredEntry extends OperatorEntry {
  /** Empty for none. */
  readonly userId: string;
  readonly hash: Uint8Array;
}

/** An act on a person, their grants or their data, as the person sees it. */
export interface OwnAct {
  readonly number: number;
  readonly at: Date;
  readonly rpc: string;
  /** App of the grant that it is about; null for none. */
  readonly clientId: string | null;
  /** Empty for none. */
  readonly appName: string;
}

/** An act that succeeded, and the entry of its outcome. */
export interface CompletedAct {
  readonly rpc: string;
  readonly number: number;
  readonly hash: Uint8Array;
  readonly outcomeNumber: number;
  readonly outcomeHash: Uint8Array;
}

/** The operators' record in the database. */
export interface OperatorActStore {
  /** Returns the number of the new entry. */
  addAct(act: OperatorAct): Promise<number>;
  /** Adds the outcome of an act. False when there is no such act, or it has another outcome. */
  addOutcome(number: number, outcome: string): Promise<boolean>;
  /** The entries after this number, ascending. */
  list(afterNumber: number, limit: number): Promise<StoredEntry[]>;
  /** The acts on a person, newest first. */
  listOfPerson(userId: string, page: Page): Promise<Listed<OwnAct>>;
  /** The acts with this request id that succeeded, in the order in which they began. */
  listCompleted(requestId: string): Promise<CompletedAct[]>;
}

/** The record of what operators do. */
export interface OperatorActs extends Pick<OperatorActStore, 'list' | 'listOfPerson' | 'listCompleted'> {
  /** The act may begin when it returns. */
  begin(act: OperatorAct): Promise<bigint>;
  /** Throws `not_found` for an unknown act and for one with another outcome. */
  end(number: bigint, outcome: string): Promise<void>;
}

export function createOperatorActs(store: OperatorActStore): OperatorActs {
  return {
    begin: async (act) => BigInt(await store.addAct(act)),
    async end(number, outcome) {
      if (number > Number.MAX_SAFE_INTEGER || !(await store.addOutcome(Number(number), outcome)))
        throw notFound();
    },
    list: (afterNumber, limit) => store.list(afterNumber, limit),
    listOfPerson: (userId, page) => store.listOfPerson(userId, page),
    listCompleted: (requestId) => store.listCompleted(requestId),
  };
}
