import { randomBytes, randomUUID } from 'node:crypto';
import { digestAccessRecord } from '@phds/record-chain/access-record';
import { type ChainedBatch, hashBatch, hashBeginning } from '@phds/record-chain/chain';
import type { ChainHead } from '@phds/record-chain/checkpoint';
import { firstUuidOf, parseUuid, toUuidText } from '@phds/record-chain/uuid';
import type pg from 'pg';

const USER_REF = '33333333-3333-4333-8333-333333333333';
const ENDPOINT = '/api/v1/health-data/heart';
const SCOPE = 'read:health-data:heart';

interface Chain {
  readonly writer: string;
  seq: number;
  hash: Uint8Array;
}

/** The record chains of several replicas. Each batch has one record, the minimum that moves a chain. */
export class SimulatedReplicas {
  readonly #client: pg.Client;
  readonly #batches: (ChainedBatch & { readonly id: string })[] = [];
  #chains: Chain[] = [];
  #ended: Chain[] = [];

  constructor(client: pg.Client) {
    this.#client = client;
  }

  /** Every replica starts a new chain. */
  restart(replicas: number): void {
    this.#ended = [...this.#chains, ...this.#ended];
    this.#chains = Array.from({ length: replicas }, () => {
      const writer = randomUUID();
      return { writer, seq: -1, hash: hashBeginning(writer) };
    });
  }

  /** Adds one batch to every chain. */
  move(at: number): void {
    for (const chain of this.#chains) {
      const id = parseUuid(firstUuidOf(at));
      randomBytes(8).copy(id, 8);
      const digests = digestAccessRecord({
        id,
        at,
        userRef: parseUuid(USER_REF),
        clientId: 'app_1',
        grantId: 'grt_1',
        scope: SCOPE,
        endpoint: ENDPOINT,
        from: '',
        to: '',
        page: 1,
        recordCount: 20,
        requestId: 'req_1',
        refersTo: null,
        verdict: '',
      });
      const { writer, hash: previousHash } = chain;
      chain.seq += 1;
      chain.hash = hashBatch(previousHash, chain.seq, digests);
      const batch = { writer, seq: chain.seq, at, recordCount: 1, digests, previousHash, hash: chain.hash };
      this.#batches.push({ ...batch, id: toUuidText(id) });
    }
  }

  /** The heads of the chains: current ones, and up to `ended` ended ones. */
  heads(ended: number): ChainHead[] {
    return [...this.#chains, ...this.#ended.slice(0, ended)].map(({ writer, seq, hash }) => ({
      writer,
      seq,
      hash: Buffer.from(hash).toString('base64url'),
    }));
  }

  /** Writes the batches and records created since the last call. */
  async flush(): Promise<void> {
    const batches = this.#batches.splice(0);
    const column = (toValue: (batch: (typeof batches)[number]) => unknown) => batches.map(toValue);
    const hex = (bytes: Uint8Array) => `\\x${Buffer.from(bytes).toString('hex')}`;
    const keys = [
      column(({ writer }) => writer),
      column(({ seq }) => seq),
      column(({ at }) => new Date(at).toISOString()),
    ];
    await this.#client.query(
      `INSERT INTO access_batch (writer, seq, at, record_count, digests, previous_hash, hash)
       SELECT writer, seq, at, 1, digests, previous, hash
       FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::bytea[], $5::bytea[], $6::bytea[])
         AS i(writer, seq, at, digests, previous, hash)`,
      [
        ...keys,
        column(({ digests }) => hex(digests)),
        column(({ previousHash }) => hex(previousHash)),
        column(({ hash }) => hex(hash)),
      ],
    );
    await this.#client.query(
      `INSERT INTO access_record (id, writer, seq, ordinal, at, user_ref, client_id, grant_id, scope, endpoint, window_from,
         window_to, page, record_count, request_id)
       SELECT id, writer, seq, 0, at, '${USER_REF}', 'app_1', 'grt_1', '${SCOPE}', '${ENDPOINT}', '', '', 1, 20, 'req_1'
       FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[], $4::uuid[]) AS i(writer, seq, at, id)`,
      [...keys, column(({ id }) => id)],
    );
  }
}
