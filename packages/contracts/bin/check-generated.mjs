/**
 * Checks that packages/contracts/gen is the current output of `pnpm gen:proto`: generates into a temporary directory and compares
 * byte for byte. Exits with 1, the differing files and the command that fixes them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');
const committed = path.join(root, 'packages/contracts/gen');

/** Generates like `pnpm gen:proto`, but below `directory`. Returns the location of the code. */
function generateInto(directory) {
  const bin = path.join(root, 'node_modules/.bin');
  const result = spawnSync(path.join(bin, 'buf'), ['generate', '--output', directory], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: [bin, process.env.PATH].join(path.delimiter) },
  });
  if (result.error) throw result.error;
  if (result.status !== 0) throw new Error('buf generate failed');
  return path.join(directory, 'packages/contracts/gen');
}

function listFiles(directory) {
  if (!existsSync(directory)) return [];
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
}

/** One line for each file that is missing, superfluous or different, ordered by name. */
function findDifferences(fresh) {
  const before = new Set(listFiles(committed));
  const after = new Set(listFiles(fresh));
  const names = [...new Set([...before, ...after])].sort();
  return names.flatMap((name) => {
    if (!before.has(name)) return [`missing    ${name}`];
    if (!after.has(name)) return [`left over  ${name}`];
    const same = readFileSync(path.join(committed, name)).equals(readFileSync(path.join(fresh, name)));
    return same ? [] : [`differs    ${name}`];
  });
}

const temporary = mkdtempSync(path.join(os.tmpdir(), 'generated-'));
try {
  const differences = findDifferences(generateInto(temporary));
  if (differences.length > 0) {
    console.error(
      'packages/contracts/gen does not match proto/. Run `pnpm gen:proto` and commit the result.',
    );
    for (const difference of differences) console.error(`  ${difference}`);
    process.exitCode = 1;
  } else {
    console.log('packages/contracts/gen is fresh.');
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
