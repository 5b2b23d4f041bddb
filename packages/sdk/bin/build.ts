/**
 * Packs the package as it is published into dist/, from where the gateways serve it: JavaScript, types, README and package.json. With the
 * name of a directory as argument, the files are written there instead. A failure leaves nothing behind.
 */
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

const own = path.resolve(import.meta.dirname, '..');
const workspace = path.resolve(own, '../..');
const directory = process.argv[2];

if (!existsSync(path.join(own, 'src/generated/openapi.ts'))) {
  run(process.execPath, [path.join(workspace, 'packages/generators/bin/openapi-types.ts')]);
}
mkdirSync(path.join(workspace, 'node_modules/.cache'), { recursive: true });
const scratch = mkdtempSync(path.join(workspace, 'node_modules/.cache/phds-sdk-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

// That of the generators, which are installed for npm start too.
const compiler = path.join(workspace, 'packages/generators/node_modules/.bin/tsc');
run(compiler, ['-p', path.join(own, 'tsconfig.build.json'), '--outDir', scratch]);

// The compiler rewrites the endings of imports in JavaScript only.
for (const name of readdirSync(scratch).filter((file) => file.endsWith('.d.ts'))) {
  const file = path.join(scratch, name);
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w/-]+)\.ts'/g, "$1.js'"));
}

// Inside the workspace, `exports` names the TypeScript sources; `publishConfig` has what takes their place.
const { private: _, devDependencies: __, publishConfig, ...manifest } = readManifest();
writeFileSync(
  path.join(scratch, 'package.json'),
  `${JSON.stringify({ ...manifest, ...publishConfig }, null, 2)}\n`,
);
copyFileSync(path.join(own, 'README.md'), path.join(scratch, 'README.md'));

const target = path.resolve(directory ?? path.join(own, 'dist'));
rmSync(target, { recursive: true, force: true });
if (directory !== undefined) cpSync(scratch, target, { recursive: true });
else {
  mkdirSync(target);
  run('npm', ['pack', scratch, '--silent', '--pack-destination', target]);
}

/** Ends the process if the program fails. */
function run(program: string, args: readonly string[]): void {
  // Only errors are told: what a build prints on standard output is no result of it.
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function readManifest(): Record<string, unknown> & { publishConfig: object } {
  return JSON.parse(readFileSync(path.join(own, 'package.json'), 'utf8'));
}
