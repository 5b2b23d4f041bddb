import type pg from 'pg';
import type { ConsentLedger } from '../../../services/authorization/src/app/ports.ts';
import type { AccessRecordStore } from '../../../services/consent/src/app/access-ports.ts';
import type { ReadStream } from '../../../services/gateway/src/clients/batched-reads.ts';
import type { SendAccesses } from '../../../services/health-data/src/clients/rpc-access-log.ts';
import type { History } from './history.ts';
import type { Rule } from './oracle.ts';

/** The clock of the services, and their databases through the owners' roles. */
export interface Surroundings {
  readonly clock: { aheadMs: number; now(): Date };
  readonly databases: Readonly<Record<'consent' | 'authorization', pg.Pool>>;
}

/** A trigger that runs before each change of a row in a service's database; `body` is PL/pgSQL. */
export interface Trigger {
  readonly service: keyof Surroundings['databases'];
  readonly table: string;
  readonly on: 'INSERT' | 'UPDATE';
  readonly body: string;
}

/** The real services with one mistake, made at a port or in a database. */
export interface BrokenVariant {
  readonly mistake: string;
  /** The violation that the oracle must report. */
  readonly breaks: Rule;
  /** A short history in which the mistake breaks a promise. */
  readonly shownBy: History;
  readonly accessRecords?: (real: AccessRecordStore) => Partial<AccessRecordStore>;
  /** How health-data has a batch recorded and judged. */
  readonly accessLog?: (real: SendAccesses) => SendAccesses;
  /** How the gateway sends a batch of reads. */
  readonly sendReads?: (real: ReadStream['send']) => ReadStream['send'];
  readonly ledger?: (real: ConsentLedger, surroundings: Surroundings) => Partial<ConsentLedger>;
  readonly trigger?: Trigger;
  /** Replaces the statement that prunes the ledger. */
  readonly prune?: string;
}

/** Runs `use` with that variant's mistake in the services. */
export async function withMistake<T>(
  control: Surroundings & { variant: BrokenVariant | null },
  variant: BrokenVariant,
  use: () => Promise<T>,
): Promise<T> {
  const { trigger } = variant;
  await using undo = new AsyncDisposableStack();
  if (trigger !== undefined) {
    const database = control.databases[trigger.service];
    await database.query(toSql(trigger));
    undo.defer(async () => void (await database.query('DROP FUNCTION mistake CASCADE')));
  }
  control.variant = variant;
  undo.defer(() => {
    control.variant = null;
  });
  return await use();
}

function toSql({ table, on, body }: Trigger): string {
  return `CREATE FUNCTION mistake() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$;
    CREATE TRIGGER mistake BEFORE ${on} ON ${table} FOR EACH ROW EXECUTE FUNCTION mistake()`;
}
