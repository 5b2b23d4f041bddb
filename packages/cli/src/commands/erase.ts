import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { AppOperatorService } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { CompletedActSchema, PersonOperatorService } from '@phds/contracts/phds/consent/v1/people_pb';
import { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { AppError } from '@phds/service-kit/errors';
import type { Command } from 'commander';
import { toDocument } from '../operator/command.ts';
import {
  explainCall,
  type OperatedService,
  type OperatorConnection,
  type OperatorSurroundings,
  PAGE_SIZE,
  reportFailedCall,
} from '../operator/connection.ts';
import {
  addUserOptions,
  type ChosenUser,
  chooseUser,
  jsonOption,
  parseNotEmpty,
  type UserOptions,
} from '../options.ts';
import type { Surrounded } from '../shell.ts';
import { EXIT_DONE, EXIT_FAILED, toJson } from './command.ts';

export function addErase(program: Command, { finish, withServices }: Surrounded): void {
  const erase = program
    .command('erase')
    .summary('remove a person from every service')
    .description(
      'Removes a person from every service. The access records stay but no longer name the person (docs/operations/people.md#erasing).',
    );
  addUserOptions(erase, 'the person')
    .option('--confirm <id>', `repeat the id of the person; with --user-file, "${ERASE}"`)
    .option('--dry-run', 'print what would end, and remove nothing', false)
    .option(
      '--revoke-apps',
      'also end the apps that the person registered, for everybody who uses them',
      false,
    )
    .option('--reason <text>', "why, for the operators' record", parseNotEmpty)
    .addOption(jsonOption('what was removed'))
    .action(async (options: EraseOptions, command: Command) => {
      const { confirm, dryRun, revokeApps, reason, json } = options;
      const { userId, hidesUser } = chooseUser(options, command);
      const services = withServices(['authorization', 'consent', 'health-data'], reason);
      if (dryRun) return finish(await previewErasure({ userId, hidesUser, json }, services));
      if (confirm !== (hidesUser ? ERASE : userId)) {
        const right = hidesUser ? `be "${ERASE}" with --user-file` : 'repeat the id of --user';
        command.error(`error: --confirm must ${right}`);
      }
      if (reason === undefined) command.error("error: required option '--reason <text>' not specified");
      finish(await erasePerson({ userId, revokeApps, json }, services));
    });
}

/** Confirms an erasure of the person in a file. */
const ERASE = 'erase';

interface EraseOptions extends UserOptions {
  readonly confirm?: string;
  readonly dryRun: boolean;
  readonly revokeApps: boolean;
  readonly reason?: string;
  readonly json: boolean;
}

type ErasureArguments = Pick<ChosenUser, 'userId'> & Pick<EraseOptions, 'revokeApps' | 'json'>;

/** What each service removed; absent for services that were not reached. */
interface Removed {
  authorization?: { readonly codes: number; readonly families: number; readonly apps: number };
  consent?: { readonly grants: number; readonly pendingApprovals: number };
  'health-data'?: { readonly rows: number };
}

/**
 * `phds erase`: erases a person in every service. Authorization comes first, because only it may refuse; then consent, after which
 * no data of the person is released; then the data. Each step can be repeated, so a second run completes an interrupted one.
 * Returns the exit code.
 */
export async function erasePerson(
  { userId, revokeApps, json }: ErasureArguments,
  { output, errors, connect }: OperatorSurroundings,
): Promise<number> {
  const removed: Removed = {};
  let acts: Awaited<ReturnType<typeof listErasures>> = [];
  let failure: string | null = null;
  let service: OperatedService = 'authorization';
  try {
    using connection = connect();
    const authorization = connection.client(service, AuthorizationService);
    const { codes, families, apps } = await authorization.eraseUser({ userId, revokeApps });
    removed.authorization = { codes, families, apps };
    service = 'consent';
    const { grants, pendingApprovals } = await connection
      .client(service, ConsentService)
      .eraseUser({ userId });
    removed.consent = { grants, pendingApprovals };
    service = 'health-data';
    const { rows } = await connection.client(service, IngestionService).eraseUser({ userId });
    removed['health-data'] = { rows: Number(rows) };
    service = 'consent';
    if (json) acts = await listErasures(connection);
  } catch (error) {
    failure = explain(error, service, removed);
  }
  const isRemoved = removed['health-data'] !== undefined;
  if (json) output.write(toJson({ ok: isRemoved, removed, acts, error: failure }));
  else if (isRemoved) output.write(toText(removed));
  if (failure !== null) errors.write(`${failure}\n`);
  return isRemoved ? EXIT_DONE : EXIT_FAILED;
}

/** The entries of this command in the operators' record, by which an auditor finds them: number and SHA-256 of each act and its outcome. */
async function listErasures(connection: OperatorConnection) {
  const { acts } = await connection.client('consent', PersonOperatorService).listCompletedActs({});
  return acts
    .filter(({ rpc }) => rpc.endsWith('/EraseUser'))
    .map((act) => toDocument(CompletedActSchema, act));
}

/** `phds erase --dry-run`: prints what an erasure would end, and removes nothing. Returns the exit code. */
async function previewErasure(
  { userId, hidesUser, json }: ChosenUser & Pick<ErasureArguments, 'json'>,
  surroundings: OperatorSurroundings,
): Promise<number> {
  const { output, connect } = surroundings;
  let service: OperatedService = 'consent';
  try {
    using connection = connect();
    const person = await findPerson(connection, userId);
    service = 'authorization';
    const page = { page: 1, pageSize: PAGE_SIZE };
    const operated = connection.client(service, AppOperatorService);
    const { apps, total } = await operated.listAllApps({ ownerId: userId, page });
    const ownApps = apps.map(({ app }) => ({ clientId: app?.clientId ?? '', name: app?.name ?? '' }));
    const { activeGrants: grants, endedGrants, openRequests } = person;
    const found = { grants, endedGrants, openRequests, ownApps, ownAppsTotal: total };
    output.write(
      json
        ? toJson({ user: hidesUser ? null : userId, ...found })
        : `consent: ${grants} active grants would end, ${endedGrants} ended ones and ${openRequests} requests would go
authorization: ${total} apps would lose their owner
${ownApps.map(({ clientId, name }) => `  ${clientId}  ${name}\n`).join('')}health-data: everything of the person, if there is any
Nothing was removed.
`,
    );
    return EXIT_DONE;
  } catch (error) {
    return reportFailedCall(error, service, json, surroundings);
  }
}

/** What consent has of a person, who may own apps or have data and yet be unknown there. */
async function findPerson(connection: OperatorConnection, userId: string) {
  try {
    return await connection.client('consent', PersonOperatorService).getPerson({ userId });
  } catch (error) {
    if (error instanceof AppError && error.reason === 'not_found') {
      return { activeGrants: 0, endedGrants: 0, openRequests: 0 };
    }
    throw error;
  }
}

function explain(error: unknown, service: OperatedService, removed: Removed): string {
  if (error instanceof AppError && error.reason === 'conflict') {
    return `${error.message} Nothing was removed. With --revoke-apps they end for everybody who uses them.`;
  }
  const sentence = explainCall(error, service);
  if (removed['health-data'] !== undefined)
    return `Everything is removed; the entries of the record could not be read: ${sentence}`;
  return service === 'authorization' ? sentence : `${sentence} Not everything is removed: run it again.`;
}

function toText({ authorization, consent, 'health-data': data }: Removed): string {
  const counts = [authorization, consent, data].flatMap((counted) => Object.values<number>(counted ?? {}));
  return [
    `consent: ${consent?.grants} grants, ${consent?.pendingApprovals} requests, and the link from the access records`,
    `authorization: ${authorization?.families} token families, ${authorization?.codes} codes; ${authorization?.apps} apps without an owner`,
    `health-data: ${data?.rows} rows of data`,
    ...(counts.some((count) => count > 0) ? [] : ['No service knew this person: check the id.']),
    '',
  ].join('\n');
}
