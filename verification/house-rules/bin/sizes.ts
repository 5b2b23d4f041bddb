/** Prints the size of each room: `pnpm sizes [--write]`. With `--write` it also writes docs/sizes.md. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../src/repository.ts';
import { measureRooms, toSizesTable } from '../src/sizes.ts';

const INTRODUCTION = `# Sizes

Lines of TypeScript, JavaScript and CSS written by hand in each room. A commit that makes a room more than 5 % larger than this table says
also changes the table, with the reason in its body: \`pnpm sizes --write\`. A test compares them.
`;

const table = toSizesTable(measureRooms());
console.log(table);
if (process.argv.includes('--write'))
  writeFileSync(path.join(repositoryRoot, 'docs/sizes.md'), `${INTRODUCTION}\n${table}\n`);
