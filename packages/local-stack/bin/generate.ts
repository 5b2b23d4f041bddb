/**
 * Makes the files that are not committed: code from protos, schemas and the OpenAPI document, the web app and the documentation.
 *
 *     node packages/local-stack/bin/generate.ts [--force] [--all | name of a step…]
 *
 * `npm start`, `npm test`, the image and the commands run it. A step whose sources have not changed since its last run is skipped. The
 * documentation, which takes longest and which no program needs, is built only if it is named or with `--all`.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

interface Step {
  readonly name: string;
  /** Everything that the result depends on besides the lockfile: globs, relative to the workspace. */
  readonly sources: readonly string[];
  /** The step whose result is among the sources. */
  readonly after?: string;
  /** A file or directory that exists after the step. */
  readonly result: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const workspace = resolve(import.meta.dirname, '../../..');
const OPENAPI = 'services/gateway/openapi.json';
const CATALOG = 'packages/catalog/src/**';
const GENERATORS = 'packages/generators/node_modules/.bin';

/**
 * Prisma's client for a schema whose generator writes to `result`. Generating does not need the schema engine, which Prisma would
 * download. The path of any file prevents that; Node's own exists everywhere.
 */
function prismaStep(name: string, schema: string, result: string): Step {
  return {
    name,
    sources: [schema],
    result,
    command: [`${GENERATORS}/prisma`, 'generate', '--schema', schema],
    env: { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: '1' },
  };
}

const LIBRARY = 'packages/service-kit/test/fixtures/library';
const STEPS: readonly Step[] = [
  {
    name: 'contracts',
    sources: ['proto/**/*.proto', 'buf.gen.yaml'],
    result: 'packages/contracts/gen/phds',
    command: [`${GENERATORS}/buf`, 'generate'],
  },
  prismaStep(
    'authorization',
    'services/authorization/prisma/schema.prisma',
    'services/authorization/src/store/generated',
  ),
  prismaStep('library', `${LIBRARY}/prisma/schema.prisma`, `${LIBRARY}/generated`),
  {
    name: 'sdk',
    sources: [OPENAPI, 'packages/generators/bin/openapi-types.ts'],
    result: 'packages/sdk/src/generated/openapi.ts',
    command: [process.execPath, 'packages/generators/bin/openapi-types.ts'],
  },
  {
    name: 'web',
    sources: ['packages/web/{src,bin}/**', 'packages/web/{index.html,vite.config.ts}', CATALOG],
    result: 'packages/web/dist',
    command: [process.execPath, 'packages/web/bin/build.ts'],
  },
  {
    name: 'sdk-package',
    sources: [
      'packages/sdk/{src,bin}/**',
      'packages/sdk/{README.md,package.json,tsconfig.build.json}',
      OPENAPI,
    ],
    after: 'sdk',
    result: 'packages/sdk/dist',
    command: [process.execPath, 'packages/sdk/bin/build.ts'],
  },
  {
    name: 'docs',
    sources: [
      'packages/docs/{src,bin,examples,reference}/**',
      'packages/docs/.vitepress/{config.ts,theme/**}',
      'packages/web/src/style/colors.css',
      'docs/partners/**',
      CATALOG,
    ],
    result: 'packages/docs/dist',
    command: [process.execPath, 'packages/docs/bin/build.ts'],
  },
];

async function run({ name, sources, result, command, env }: Step, isForced: boolean): Promise<void> {
  const stamp = join(workspace, 'node_modules/.cache/phds-generated', name);
  const fingerprint = toFingerprint(sources);
  const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint;
  if (isCurrent && !isForced && existsSync(join(workspace, result))) return;
  rmSync(stamp, { force: true });
  const [program = '', ...args] = command;
  // buf finds its plugin on the PATH.
  const path = `${join(workspace, GENERATORS)}:${process.env['PATH']}`;
  const options = { cwd: workspace, env: { ...process.env, ...env, PATH: path } };
  await promisify(execFile)(program, args, options).catch(({ stdout, stderr, message }) => {
    throw new Error(`generating ${name} failed: ${message}\n${stdout}${stderr}`);
  });
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, fingerprint);
  console.log(`generated: ${result}`);
}

function toFingerprint(sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of [...globSync(sources, { cwd: workspace }), 'pnpm-lock.yaml'].toSorted()) {
    const file = join(workspace, path);
    if (statSync(file).isFile()) hash.update(`${path}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

const args = process.argv.slice(2);
const names = args.filter((arg) => arg !== '--force' && arg !== '--all');
const unknown = names.filter((name) => STEPS.every((step) => step.name !== name));
if (unknown.length > 0) {
  console.error(`No step ${unknown.join(', ')}. Steps: ${STEPS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const isChosen = (name: string) => names.includes(name) || (names.length === 0 && name !== 'docs');
const chosen = STEPS.filter(({ name }) => args.includes('--all') || isChosen(name));
const started = new Map<string, Promise<void>>();
// Side by side: most of a step is one process that loads its program.
for (const step of chosen) {
  const earlier = started.get(step.after ?? '') ?? Promise.resolve();
  started.set(
    step.name,
    earlier.then(() => run(step, args.includes('--force'))),
  );
}
try {
  await Promise.all(started.values());
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
