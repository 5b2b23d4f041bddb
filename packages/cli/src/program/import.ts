import { resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import { importFiles, listImports } from '../commands/import.ts';
import { IMPORTERS } from '../importers/all.ts';
import {
  addUserOptions,
  callerDirectory,
  chooseUser,
  jsonOption,
  parsePath,
  type UserOptions,
} from '../options.ts';
import type { Surrounded } from './surroundings.ts';

const FORMATS = `apple: export.zip or export.xml of Apple Health; csv: readings or records with a header (docs/operations/importing.md);
fhir: a FHIR R4 bundle (.json), or a bulk data export (.ndjson files or their directory)`;

export function addImports(program: Command, surrounded: Surrounded): void {
  const { finish, withIngestion } = surrounded;
  const importing = program
    .command('import')
    .summary('import a file for a user')
    .description(
      'Imports a file for a user. Importing the same file again changes nothing; an interrupted import resumes where it stopped.',
    )
    .addArgument(new Argument('<format>', FORMATS).choices(IMPORTERS.map(({ format }) => format)))
    .argument('<files...>', 'the files to import; they may be larger than memory');
  addUserOptions(importing, 'the user whose data it is')
    .option('--patient <ref>', 'the patient to import, if the file contains several')
    .option('--again', 'start from the beginning, even if an earlier run was interrupted', false)
    .addOption(jsonOption('the report'))
    .option('--out <file>', 'write the report to a file instead of the output', parsePath)
    .action(async (format: string, files: string[], options: ImportOptions, command: Command) => {
      const importer = IMPORTERS.find((known) => known.format === format);
      if (importer === undefined) throw new RangeError(`no importer of ${format}`);
      if (files.length > 1 && !importer.takesSeveral) {
        command.error(`error: one file at a time; also given: ${files.slice(1).join(' ')}`);
      }
      const { patient = null, again, json, out: reportFile = null } = options;
      const paths = files.map((file) => resolve(callerDirectory(), file));
      const args = { importer, paths, ...chooseUser(options, command), patient, again, json, reportFile };
      finish(await importFiles(args, withIngestion));
    });
  const listing = program.command('imports').description('Lists the imports of a user.');
  addUserOptions(listing, 'the user whose data it is')
    .addOption(jsonOption('the list'))
    .action(async ({ json, ...user }: UserOptions & { json: boolean }, command: Command) =>
      finish(await listImports({ ...chooseUser(user, command), json }, withIngestion)),
    );
}

interface ImportOptions extends UserOptions {
  readonly out?: string;
  readonly patient?: string;
  readonly again: boolean;
  readonly json: boolean;
}
