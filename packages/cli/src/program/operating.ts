import { accessSync, constants } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { auditOperators, type KeptEntry } from '../commands/audit.ts';
import {
  listSuspended,
  RESTORED_SERVICES,
  type RestoreAction,
  type RestoredPart,
  replayRevocations,
  runRestore,
} from '../commands/restore.ts';
import {
  addUserOptions,
  appOption,
  jsonOption,
  pageOption,
  reasonOption,
  type UserOptions,
} from '../options.ts';
import type { Surrounded } from './surroundings.ts';

/** The description of each action, and the word that confirms it. */
const RESTORE_COMMANDS: Readonly<
  Record<RestoreAction, { description: string; confirmation: string | null }>
> = {
  status: {
    description:
      'Prints whether the databases of consent and authorization were restored, and what is suspended.',
    confirmation: null,
  },
  declare: {
    description: 'Suspends everything, after a restore that no service could detect.',
    confirmation: 'suspend',
  },
  confirm: {
    description: 'Confirms the restored databases; suspended credentials and grants work again.',
    confirmation: 'believe',
  },
};

export function addRestore(program: Command, { finish, withServices }: Surrounded): void {
  const restore = program
    .command('restore')
    .description(
      'Shows, declares or confirms a restore (docs/operations/restore-and-backup.md#after-a-restore).',
    );
  for (const [name, { description, confirmation }] of Object.entries(RESTORE_COMMANDS)) {
    const action = name as RestoreAction;
    const command = restore.command(action).description(description).addOption(jsonOption('the status'));
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

/** Adds `phds audit`. */
export function addAudit(program: Command, { finish, withServices }: Surrounded): void {
  program
    .command('audit')
    .description(
      "Prints the operators' record, oldest first, and verifies that nothing of it was changed or removed.",
    )
    .addOption(
      new Option(
        '--expect <entry>',
        'an entry that an earlier run printed; without it a cut end is not noticed',
      ).argParser(parseKeptEntry),
    )
    .addOption(new Option('--json', 'print each entry as a line of JSON').default(false))
    .action(async ({ expect = null, json }: { expect?: KeptEntry | null; json: boolean }) =>
      finish(await auditOperators({ kept: expect, json }, withServices(['consent']))),
    );
}

function parseKeptEntry(value: string): KeptEntry {
  const [, number, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(value) ?? [];
  if (number === undefined || hash === undefined) {
    throw new InvalidArgumentError('It must be a number, a colon and 64 hexadecimal digits.');
  }
  return { number: Number(number), hash };
}
