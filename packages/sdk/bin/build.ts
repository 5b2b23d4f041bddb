/**
 * Writes the package as it is published, into dist/ or the directory in the first argument: JavaScript, types, README and package.json.
 * Publish that directory.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const own = path.resolve(import.meta.dirname, '..');
const directory = path.resolve(process.argv[2] ?? path.join(own, 'dist'));
const compiler = path.resolve(own, '../../node_modules/.bin/tsc');

rmSync(directory, { recursive: true, force: true });
const compiled = spawnSync(compiler, ['-p', path.join(own, 'tsconfig.build.json'), '--outDir', directory], {
  stdio: 'inherit',
});
if (compiled.error) throw compiled.error;
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

// The compiler rewrites the endings of imports in JavaScript only.
for (const name of readdirSync(directory).filter((file) => file.endsWith('.d.ts'))) {
  const file = path.join(directory, name);
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w/-]+)\.ts'/g, "$1.js'"));
}

// Inside the workspace, `exports` names the TypeScript sources; `publishConfig` has what takes their place.
const { private: _, devDependencies: __, publishConfig, ...manifest } = readManifest();
writeFileSync(
  path.join(directory, 'package.json'),
  `${JSON.stringify({ ...manifest, ...publishConfig }, null, 2)}\n`,
);
copyFileSync(path.join(own, 'README.md'), path.join(directory, 'README.md'));

function readManifest(): Record<string, unknown> & { publishConfig: object } {
  return JSON.parse(readFileSync(path.join(own, 'package.json'), 'utf8'));
}
