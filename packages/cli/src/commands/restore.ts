import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import * as authorization from '@phds/contracts/phds/authorization/v1/restore_pb';
import * as consent from '@phds/contracts/phds/consent/v1/restore_pb';
import type { OperatorConnection } from '../operator/connection.ts';
import { explainOperator } from '../operator/explanation.ts';
import { EXIT_DONE, EXIT_FAILED } from './exit-codes.ts';

/** What `phds restore` can do; docs/restoring.md says when. */
const RESTORE_ACTIONS = ['status', 'declare', 'confirm'] as const;
export type RestoreAction = (typeof RESTORE_ACTIONS)[number];

/** The services whose databases decide about access. */
export const RESTORED_SERVICES = ['consent', 'authorization'] as const;
type RestoredService = (typeof RESTORED_SERVICES)[number];

export interface OperatorSurroundings {
  readonly output: { write(text: string): unknown };
  readonly errors: { write(text: string): unknown };
  readonly connect: () => OperatorConnection;
}

/** The same of every service: its rpcs are alike. */
interface Restores {
  status(): Promise<Status>;
  declare(): Promise<unknown>;
  confirm(number: number): Promise<unknown>;
}

interface Restore {
  readonly number: number;
  readonly at?: Timestamp | undefined;
  readonly isDeclared: boolean;
  readonly confirmedAt?: Timestamp | undefined;
}

interface Status {
  readonly latest: Restore | null;
  readonly suspended: number;
}

export interface RestoreArguments {
  readonly action: RestoreAction;
  readonly json: boolean;
}

/**
 * `phds restore …`: asks or tells each service about restores of its database. Answers the exit code: a service that does not answer
 * does not keep the others from being told.
 */
export async function runRestore(
  { action, json }: RestoreArguments,
  { output, errors, connect }: OperatorSurroundings,
): Promise<number> {
  const documents: Record<string, object> = {};
  const failures: string[] = [];
  for (const service of RESTORED_SERVICES) {
    try {
      using connection = connect();
      const restores = RESTORES[service](connection);
      const said = await ACTIONS[action](restores);
      const status = await restores.status();
      documents[service] = toJson(service, status);
      if (!json) output.write(`${service}: ${said}${toText(service, status)}\n`);
    } catch (error) {
      const failure = explainOperator(error, service);
      // Without settings nothing can be called: once is enough.
      if (!failures.includes(failure)) failures.push(failure);
    }
  }
  if (json && Object.keys(documents).length > 0) output.write(`${JSON.stringify(documents, null, 2)}\n`);
  for (const failure of failures) errors.write(`${failure}\n`);
  return failures.length === 0 ? EXIT_DONE : EXIT_FAILED;
}

const RESTORES: Readonly<Record<RestoredService, (connection: OperatorConnection) => Restores>> = {
  consent(connection) {
    const client = connection.client('consent', consent.RestoreService);
    return {
      async status() {
        const { latest, suspendedGrants } = await client.getRestoreStatus({});
        return { latest: toRestore(latest, consent.RestoreKind.DECLARED), suspended: suspendedGrants };
      },
      declare: () => client.declareRestore({}),
      confirm: (number) => client.confirmRestore({ number }),
    };
  },
  authorization(connection) {
    const client = connection.client('authorization', authorization.RestoreService);
    return {
      async status() {
        const { latest, suspendedApps } = await client.getRestoreStatus({});
        return { latest: toRestore(latest, authorization.RestoreKind.DECLARED), suspended: suspendedApps };
      },
      declare: () => client.declareRestore({}),
      confirm: (number) => client.confirmRestore({ number }),
    };
  },
};

const ACTIONS: Readonly<Record<RestoreAction, (restores: Restores) => Promise<string>>> = {
  status: async () => '',
  async declare(restores) {
    await restores.declare();
    return '';
  },
  async confirm(restores) {
    const { latest } = await restores.status();
    if (latest === null || latest.confirmedAt !== undefined) return 'Nothing waits for a confirmation. ';
    // What was seen is what is confirmed: a restore that happens meanwhile needs a confirmation of its own.
    await restores.confirm(latest.number);
    return '';
  },
};

type Message = Pick<consent.Restore, 'number' | 'at' | 'confirmedAt'> & { readonly kind: number };

function toRestore(message: Message | undefined, declared: number): Restore | null {
  if (message === undefined) return null;
  const { number, at, kind, confirmedAt } = message;
  return { number, at, isDeclared: kind === declared, confirmedAt };
}

const SUSPENDED = {
  consent: {
    one: '1 grant is',
    many: 'grants are',
    rest: 'and all tokens from before',
    key: 'suspendedGrants',
  },
  authorization: {
    one: 'The secret of 1 app is',
    many: 'secrets of apps are',
    rest: 'and all codes and tokens from before',
    key: 'suspendedApps',
  },
} as const;

function toText(service: RestoredService, { latest, suspended }: Status): string {
  if (latest === null) return 'The database was never restored, as far as it can tell.';
  const { number, at, isDeclared, confirmedAt } = latest;
  const head = `Restore ${number}, ${isDeclared ? 'declared' : 'noticed'} at ${toInstant(at)}: `;
  if (confirmedAt !== undefined) return `${head}confirmed at ${toInstant(confirmedAt)}.`;
  const { one, many, rest } = SUSPENDED[service];
  return `${head}not confirmed. ${suspended === 1 ? one : `${suspended} ${many}`} suspended, ${rest}.`;
}

function toJson(service: RestoredService, { latest, suspended }: Status): object {
  const restore =
    latest === null
      ? null
      : {
          number: latest.number,
          at: toInstant(latest.at),
          kind: latest.isDeclared ? 'declared' : 'detected',
          confirmedAt: toInstant(latest.confirmedAt),
        };
  return { latest: restore, [SUSPENDED[service].key]: suspended };
}

function toInstant(time: Timestamp | undefined): string | null {
  return time === undefined ? null : timestampDate(time).toISOString();
}
