import type { Command } from 'commander';
import { erasePerson, previewErasure } from '../commands/erase.ts';
import { endSessions, listPersonGrants, revokeGrant, showPerson } from '../commands/people.ts';
import {
  addUserOptions,
  type ChangeOptions,
  chooseUser,
  jsonOption,
  pageOption,
  parseNotEmpty,
  reasonOption,
  type UserOptions,
} from '../options.ts';
import type { Surrounded } from './surroundings.ts';

/** Adds `phds people`, `phds grants` and `phds sessions`. */
export function addPeople(program: Command, { finish, withServices }: Surrounded): void {
  const show = program
    .command('people')
    .description('Shows a person.')
    .command('show')
    .description(
      'Prints how many grants and open requests a person has, and the last read; never health data.',
    );
  addUserOptions(show, 'the person')
    .addOption(jsonOption('the person'))
    .action(async ({ json, ...user }: UserOptions & { json: boolean }, command: Command) =>
      finish(await showPerson({ ...chooseUser(user, command), json }, withServices(['consent']))),
    );
  const grants = program.command('grants').description('Lists the grants of a person, and ends one.');
  const list = grants
    .command('list')
    .description('Lists the grants of a person, newest first, a hundred on a page.');
  addUserOptions(list, 'the person')
    .addOption(pageOption())
    .addOption(jsonOption('the page'))
    .action(
      async ({ page, json, ...user }: UserOptions & { page: number; json: boolean }, command: Command) => {
        const { userId } = chooseUser(user, command);
        finish(await listPersonGrants({ userId, page, json }, withServices(['consent'])));
      },
    );
  grants
    .command('revoke')
    .description('Ends a grant at once. The person sees that an operator ended it.')
    .argument('<grant-id>', 'the grant', parseNotEmpty)
    .addOption(reasonOption())
    .addOption(jsonOption('the end'))
    .action(async (grantId: string, { reason, json }: { reason: string; json: boolean }) =>
      finish(await revokeGrant({ grantId, json }, withServices(['consent'], reason))),
    );
  const end = program
    .command('sessions')
    .description('Ends the sessions of a person.')
    .command('end')
    .description('Ends all sessions of a person that were issued until now. Grants stay.');
  addUserOptions(end, '`sub` of the sessions')
    .addOption(reasonOption())
    .addOption(jsonOption('the result'))
    .action(async ({ reason, json, ...user }: ChangeOptions, command: Command) =>
      finish(await endSessions({ ...chooseUser(user, command), json }, withServices(['consent'], reason))),
    );
}

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
