import { open } from 'node:fs/promises';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import {
  type GetRestoreStatusResponse,
  RestoreKind,
  RestoreService,
} from '@phds/contracts/phds/common/v1/restore_pb';
import { PersonOperatorService } from '@phds/contracts/phds/consent/v1/people_pb';
import { AppError } from '@phds/service-kit/errors';
import {
  callAsOperator,
  explainCall,
  type OperatorSurroundings,
  PAGE_SIZE,
  reportFailedCall,
} from '../operator/connection.ts';
import { EXIT_DONE, EXIT_FAILED, toJson } from './command.ts';

/** The actions of `phds restore`; docs/operations/restore-and-backup.md#after-a-restore explains when to use them. */
const RESTORE_ACTIONS = ['status', 'declare', 'confirm'] as const;
export type RestoreAction = (typeof RESTORE_ACTIONS)[number];

/** The services whose databases decide about access. */
export const RESTORED_SERVICES = ['consent', 'authorization'] as const;
type RestoredService = (typeof RESTORED_SERVICES)[number];

/** What belongs to one app or one person; both are empty for everything. */
export interface RestoredPart {
  readonly clientId: string;
  readonly userId: string;
}

const EVERYTHING: RestoredPart = { clientId: '', userId: '' };

export interface RestoreArguments {
  readonly action: RestoreAction;
  /** What is confirmed. */
  readonly part?: RestoredPart;
  readonly json: boolean;
}

/** `phds restore …`: runs an action in each service, even if another service does not answer. Returns the exit code. */
export async function runRestore(
  { action, part = EVERYTHING, json }: RestoreArguments,
  { output, errors, connect }: OperatorSurroundings,
): Promise<number> {
  const documents: Record<string, object> = {};
  const failures: string[] = [];
  for (const service of RESTORED_SERVICES) {
    try {
      using connection = connect();
      const restores = connection.client(service, RestoreService);
      const said = await ACTIONS[action](restores, part);
      const status = await restores.getRestoreStatus({});
      documents[service] = toDocument(service, status);
      if (!json) output.write(`${service}: ${said}${toText(service, status)}\n`);
    } catch (error) {
      const failure = explainCall(error, service);
      documents[service] = { error: failure };
      // Missing settings affect every call; they are reported once.
      if (!failures.includes(failure)) failures.push(failure);
    }
  }
  if (json) output.write(toJson(documents));
  for (const failure of failures) errors.write(`${failure}\n`);
  return failures.length === 0 ? EXIT_DONE : EXIT_FAILED;
}

/** `phds restore list`: prints one page of what is suspended in each service. Returns the exit code. */
export async function listSuspended(
  {
    part = EVERYTHING,
    hidesUser,
    page,
    json,
  }: {
    readonly part?: RestoredPart;
    readonly hidesUser: boolean;
    readonly page: number;
    readonly json: boolean;
  },
  { output, errors, connect }: OperatorSurroundings,
): Promise<number> {
  const documents: Record<string, object> = {};
  let service: RestoredService = 'consent';
  try {
    using connection = connect();
    for (service of RESTORED_SERVICES) {
      const restores = connection.client(service, RestoreService);
      const { items, total } = await restores.listSuspended({ ...part, page: { page, pageSize: PAGE_SIZE } });
      const entries = items.map(({ madeAt, grantId, userId, clientId, appName }) => ({
        clientId,
        appName,
        ...(grantId !== '' && { grantId, user: hidesUser ? null : userId }),
        madeAt: toInstant(madeAt),
      }));
      documents[service] = { suspended: entries, page, pages: Math.ceil(total / PAGE_SIZE), total };
      const lines = entries.map((entry) => `  ${Object.values(entry).filter(Boolean).join('  ')}\n`);
      if (!json) output.write(`${service}: ${total} suspended\n${lines.join('')}`);
    }
    if (json) output.write(toJson(documents));
    return EXIT_DONE;
  } catch (error) {
    return reportFailedCall(error, service, json, { output, errors });
  }
}

/**
 * `phds restore replay`: ends every grant again whose end is in the log of consent; the lines may have a prefix. Returns the exit code.
 */
export async function replayRevocations(
  { file, json }: { readonly file: string; readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(['consent', PersonOperatorService], json, surroundings, async (client) => {
    const logged = await readEnds(file);
    let ended = 0;
    for (const grantId of logged.ended) if (await endAgain(client, grantId)) ended += 1;
    const unknown = logged.ended.size - ended;
    const narrowed = [...logged.narrowed].filter((grantId) => !logged.ended.has(grantId));
    if (json) return toJson({ ended, unknown, narrowed });
    const list = narrowed.map((grantId) => `  ${grantId}\n`).join('');
    return `${ended} ${ended === 1 ? 'grant is' : 'grants are'} ended, ${unknown} ${unknown === 1 ? 'is' : 'are'} not in the restored database.
${narrowed.length === 0 ? '' : `Narrowed later than the log begins, perhaps after the backup; ask the person, or end them:\n${list}`}`;
  });
}

/** Returns false for a grant that was made after the backup. */
async function endAgain(client: Client<typeof PersonOperatorService>, grantId: string): Promise<boolean> {
  try {
    await client.endGrant({ grantId });
    return true;
  } catch (error) {
    if (error instanceof AppError && error.reason === 'not_found') return false;
    throw error;
  }
}

async function readEnds(file: string): Promise<{ ended: Set<string>; narrowed: Set<string> }> {
  const found = { ended: new Set<string>(), narrowed: new Set<string>() };
  const handle = await open(file);
  for await (const line of handle.readLines()) {
    const { msg, grantId } = parseLine(line.slice(line.indexOf('{')));
    if (typeof grantId !== 'string') continue;
    if (msg === 'grant ended') found.ended.add(grantId);
    else if (msg === 'grant narrowed') found.narrowed.add(grantId);
  }
  return found;
}

/** Nothing for what is no JSON: other programs may write to the same log. */
function parseLine(text: string): { readonly msg?: unknown; readonly grantId?: unknown } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const ACTIONS: Readonly<
  Record<RestoreAction, (restores: Client<typeof RestoreService>, part: RestoredPart) => Promise<string>>
> = {
  status: async () => '',
  async declare(restores) {
    await restores.declareRestore({});
    return '';
  },
  async confirm(restores, part) {
    const { latest } = await restores.getRestoreStatus({});
    if (latest === undefined || latest.confirmedAt !== undefined) {
      return 'Nothing is awaiting confirmation. ';
    }
    if (part !== EVERYTHING) {
      const { confirmed } = await restores.confirmPart({ number: latest.number, ...part });
      return `${confirmed} rows of this part work again, the rest does not. `;
    }
    // Confirms exactly the restore that was read: a later one needs its own confirmation.
    await restores.confirmRestore({ number: latest.number });
    return '';
  },
};

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

function toText(service: RestoredService, { latest, suspended }: GetRestoreStatusResponse): string {
  if (latest === undefined) return 'The database was never restored, as far as it can tell.';
  const { number, at, kind, confirmedAt } = latest;
  const how = kind === RestoreKind.DECLARED ? 'declared' : 'noticed';
  const head = `Restore ${number}, ${how} at ${toInstant(at)}: `;
  if (confirmedAt !== undefined) return `${head}confirmed at ${toInstant(confirmedAt)}.`;
  const { one, many, rest } = SUSPENDED[service];
  return `${head}not confirmed. ${suspended === 1 ? one : `${suspended} ${many}`} suspended, ${rest}.`;
}

function toDocument(service: RestoredService, { latest, suspended }: GetRestoreStatusResponse): object {
  const restore =
    latest === undefined
      ? null
      : {
          number: latest.number,
          at: toInstant(latest.at),
          kind: latest.kind === RestoreKind.DECLARED ? 'declared' : 'detected',
          confirmedAt: toInstant(latest.confirmedAt),
        };
  return { latest: restore, [SUSPENDED[service].key]: suspended };
}

function toInstant(time: Timestamp | undefined): string | null {
  return time === undefined ? null : timestampDate(time).toISOString();
}
