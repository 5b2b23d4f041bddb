import { accessSync, constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { reflect } from '@bufbuild/protobuf/reflect';
import type { Client } from '@connectrpc/connect';
import {
  type GetRestoreStatusResponse,
  GetRestoreStatusResponseSchema,
  ListSuspendedResponseSchema,
  RestoreKind,
  RestoreService,
} from '@phds/contracts/phds/common/v1/restore_pb';
import { GrantService } from '@phds/contracts/phds/consent/v1/grants_pb';
import { AppError } from '@phds/service-kit/errors';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { toDocument, toText } from '../operator/command.ts';
import {
  callAsOperator,
  explainCall,
  type OperatorSurroundings,
  PAGE_SIZE,
  toInstant,
} from '../operator/connection.ts';
import {
  addUserOptions,
  appOption,
  jsonOption,
  pageOption,
  reasonOption,
  type UserOptions,
} from '../options.ts';
import type { Surrounded } from '../shell.ts';
import { EXIT_DONE, EXIT_FAILED, toJson } from './command.ts';

/** What `phds restore …` does in each service; docs/operations/restore-and-backup.md#after-a-restore explains when to use it. */
const ACTIONS = {
  status: {
    does: 'Prints whether the databases of consent and authorization were restored, and what is suspended.',
    confirmation: null,
    run: async () => '',
  },
  declare: {
    does: 'Suspends everything, after a restore that no service could detect.',
    confirmation: 'suspend',
    async run(restores: Restores) {
      await restores.declareRestore({});
      return '';
    },
  },
  confirm: {
    does: 'Confirms the restored databases; suspended credentials and grants work again.',
    confirmation: 'believe',
    async run(restores: Restores, part: RestoredPart) {
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
  },
} as const;

type Restores = Client<typeof RestoreService>;
type RestoreAction = keyof typeof ACTIONS;

export function addRestore(program: Command, { finish, withServices }: Surrounded): void {
  const restore = program
    .command('restore')
    .description(
      'Shows, declares or confirms a restore (docs/operations/restore-and-backup.md#after-a-restore).',
    );
  for (const [name, { does, confirmation }] of Object.entries(ACTIONS)) {
    const action = name as RestoreAction;
    const command = restore.command(action).description(does).addOption(jsonOption('the status'));
    if (confirmation !== null) {
      const option = new Option('--confirm <word>', `must be "${confirmation}"`);
      command.addOption(option.choices([confirmation]).makeOptionMandatory()).addOption(reasonOption());
    }
    if (action === 'confirm') addPartOptions(command, 'confirm only what belongs');
    command.action(
      async ({ reason = '', json, ...part }: { reason?: string; json: boolean } & PartOptions) => {
        const services = withServices(RESTORED_SERVICES, reason);
        finish(await runRestore({ action, ...toPart(part), json }, services));
      },
    );
  }
  restore
    .command('replay')
    .description("Ends again every grant whose end is in consent's log, before a restore is confirmed.")
    .argument('<file>', 'the log of consent since the backup; - for standard input', parseReadable)
    .addOption(reasonOption())
    .addOption(jsonOption('what was done'))
    .action(async (file: string, { reason, json }: { reason: string; json: boolean }) => {
      finish(await replayRevocations({ file, json }, withServices(['consent'], reason)));
    });
  const list = restore
    .command('list')
    .description('Lists what is suspended, a hundred of each service on a page.');
  addPartOptions(list, 'only what belongs')
    .addOption(pageOption())
    .addOption(jsonOption('the page'))
    .action(async ({ page, json, ...part }: { page: number; json: boolean } & PartOptions) => {
      const hidesUser = part.userFile !== undefined;
      finish(
        await listSuspended({ ...toPart(part), hidesUser, page, json }, withServices(RESTORED_SERVICES)),
      );
    });
}

function parseReadable(value: string): string {
  const file = value === '-' ? '/dev/stdin' : value;
  try {
    accessSync(file, constants.R_OK);
    return file;
  } catch {
    throw new InvalidArgumentError('It cannot be read.');
  }
}

interface PartOptions extends UserOptions {
  readonly app?: string;
}

function addPartOptions(command: Command, what: string): Command {
  const app = appOption(`${what} to this app`);
  return addUserOptions(command.addOption(app.conflicts(['user', 'userFile'])), `${what} to this person`);
}

/** Without a part for everything. */
function toPart({ app, user, userFile }: PartOptions): { part?: RestoredPart } {
  const part = { clientId: app ?? '', userId: user ?? userFile ?? '' };
  return part.clientId === '' && part.userId === '' ? {} : { part };
}

/** The services whose databases decide about access. */
const RESTORED_SERVICES = ['consent', 'authorization'] as const;
type RestoredService = (typeof RESTORED_SERVICES)[number];

/** What belongs to one app or one person; both are empty for everything. */
interface RestoredPart {
  readonly clientId: string;
  readonly userId: string;
}

const EVERYTHING: RestoredPart = { clientId: '', userId: '' };

interface RestoreArguments {
  readonly action: RestoreAction;
  /** What is confirmed. */
  readonly part?: RestoredPart;
  readonly json: boolean;
}

/** `phds restore …`: runs an action in each service. Returns the exit code. */
export function runRestore(
  { action, part = EVERYTHING, json }: RestoreArguments,
  surroundings: OperatorSurroundings,
): Promise<number> {
  return reportEach(json, surroundings, async (restores, service) => {
    const said = await ACTIONS[action].run(restores, part);
    const status = await restores.getRestoreStatus({});
    return {
      document: toDocument(GetRestoreStatusResponseSchema, status),
      text: `${service}: ${said}${toSentence(service, status)}\n`,
    };
  });
}

const SUSPENDED_ITEMS = {
  prints: 'items',
  columns: { app: 'clientId', name: 'appName', grant: 'grantId', user: 'userId', since: 'madeAt' },
};

interface ListArguments {
  readonly part?: RestoredPart;
  readonly hidesUser: boolean;
  readonly page: number;
  readonly json: boolean;
}

/** `phds restore list`: prints one page of what is suspended in each service. Returns the exit code. */
export function listSuspended(
  { part = EVERYTHING, hidesUser, page, json }: ListArguments,
  surroundings: OperatorSurroundings,
): Promise<number> {
  return reportEach(json, surroundings, async (restores, service) => {
    const answer = await restores.listSuspended({ ...part, page: { page, pageSize: PAGE_SIZE } });
    if (hidesUser) for (const item of answer.items) item.userId = '';
    const list = toText(reflect(ListSuspendedResponseSchema, answer), SUSPENDED_ITEMS, page);
    return {
      document: toDocument(ListSuspendedResponseSchema, answer),
      text: `Suspended in ${service}:\n${list}`,
    };
  });
}

type Ask = (
  restores: Restores,
  service: RestoredService,
) => Promise<{ readonly document: object; readonly text: string }>;

/** Asks each service, even if another one does not answer, and prints the answers. Returns the exit code. */
async function reportEach(
  json: boolean,
  { output, errors, connect }: OperatorSurroundings,
  ask: Ask,
): Promise<number> {
  const documents: Record<string, object> = {};
  const failures: string[] = [];
  for (const service of RESTORED_SERVICES) {
    try {
      using connection = connect();
      const { document, text } = await ask(connection.client(service, RestoreService), service);
      documents[service] = document;
      if (!json) output.write(text);
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

/**
 * `phds restore replay`: ends every grant again whose end is in the log of consent; the lines may have a prefix. Returns the exit code.
 */
export async function replayRevocations(
  { file, json }: { readonly file: string; readonly json: boolean },
  surroundings: OperatorSurroundings,
): Promise<number> {
  return callAsOperator(['consent', GrantService], json, surroundings, async (client) => {
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
async function endAgain(client: Client<typeof GrantService>, grantId: string): Promise<boolean> {
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

const SUSPENDED = {
  consent: { one: '1 grant is', many: 'grants are', rest: 'and all tokens from before' },
  authorization: {
    one: 'The secret of 1 app is',
    many: 'secrets of apps are',
    rest: 'and all codes and tokens from before',
  },
} as const;

function toSentence(service: RestoredService, { latest, suspended }: GetRestoreStatusResponse): string {
  if (latest === undefined) return 'The database was never restored, as far as it can tell.';
  const { number, at, kind, confirmedAt } = latest;
  const how = kind === RestoreKind.DECLARED ? 'declared' : 'noticed';
  const head = `Restore ${number}, ${how} at ${toInstant(at)}: `;
  if (confirmedAt !== undefined) return `${head}confirmed at ${toInstant(confirmedAt)}.`;
  const { one, many, rest } = SUSPENDED[service];
  return `${head}not confirmed. ${suspended === 1 ? one : `${suspended} ${many}`} suspended, ${rest}.`;
}
