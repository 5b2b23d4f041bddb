import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '@phds/local-stack/data-directory';

const run = promisify(execFile);
// Its types describe a module of another form.
const createIgnore: typeof import('@balena/dockerignore').default = createRequire(import.meta.url)(
  '@balena/dockerignore',
);

/** The stages that collect the files of an image, in deploy/Dockerfile. */
type FilesStage = 'service-files' | 'operator-files' | 'evaluation-files';

/**
 * Results of packages/local-stack/bin/generate.ts, with the fingerprints of their sources. The image makes again what has other sources
 * there than in this checkout; build.sh makes all of it.
 */
const GENERATED = [
  'node_modules/.cache/phds-generated',
  'packages/contracts/gen',
  'packages/docs/dist',
  'packages/sdk/dist',
  'packages/sdk/src/generated',
  'packages/web/dist',
  'packages/docs/pages',
  'services/authorization/src/store/generated',
  'packages/service-kit/test/fixtures/library/generated',
];

/** Steps of the image that write to a directory of the machine are done in one of the test instead. */
const OUTPUT = /(?<=^|[\s"'])\/out\b/gm;

/**
 * Runs the RUN steps of deploy/Dockerfile without a container engine: on the tracked files that .dockerignore leaves, in `directory`. It does
 * not show what the base image lacks. Package caches of this machine are used.
 */
export class ImageBuild {
  readonly #directory: string;
  readonly #stages: ReadonlyMap<string, readonly string[]>;

  private constructor(directory: string, stages: ReadonlyMap<string, readonly string[]>) {
    this.#directory = directory;
    this.#stages = stages;
  }

  /** Runs the steps of the stage `workspace`, on which the others are based. */
  static async begin(directory: string): Promise<ImageBuild> {
    const stages = parseStages(await readFile(join(repositoryRoot, 'deploy/Dockerfile'), 'utf8'));
    const build = new ImageBuild(directory, stages);
    await copyContext(build.#workspace);
    await build.#runStage('workspace', {});
    return build;
  }

  get #workspace(): string {
    return join(this.#directory, 'workspace');
  }

  /** Runs a stage that collects files, and returns the directory with the content of the image's `/app`. One at a time. */
  async collect(stage: FilesStage, service = ''): Promise<string> {
    const output = join(this.#directory, `${stage}${service}`);
    await this.#runStage(stage, { SERVICE: service }, output);
    return output;
  }

  async #runStage(name: string, variables: Readonly<Record<string, string>>, output = ''): Promise<void> {
    const steps = this.#stages.get(name);
    if (steps === undefined) throw new Error(`deploy/Dockerfile has no stage ${name} with steps`);
    const prefix = join(this.#directory, 'prefix');
    const path = [join(prefix, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter);
    const { HOME = '' } = process.env;
    const env = { HOME, PATH: path, CI: 'true', npm_config_prefix: prefix, ...variables };
    for (const step of steps) {
      await run('sh', ['-c', step.replaceAll(OUTPUT, output)], {
        cwd: this.#workspace,
        env,
        maxBuffer: 2 ** 26,
      }).catch((error: Error & { stdout: string; stderr: string }) => {
        throw new Error(`${name}: ${step}\n${error.stdout.slice(-4_000)}${error.stderr.slice(-4_000)}`);
      });
    }
  }
}

/** The RUN steps by stage, of stages that have any. */
function parseStages(dockerfile: string): ReadonlyMap<string, readonly string[]> {
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, '\n ')
    .split(/\n(?=[A-Z]+ )/);
  const stages = new Map<string, string[]>();
  let stage = '';
  for (const instruction of lines.map((line) => line.trim())) {
    stage = /^FROM \S+ AS (\S+)$/.exec(instruction)?.[1] ?? stage;
    if (!instruction.startsWith('RUN ')) continue;
    const command = instruction.slice('RUN '.length).replaceAll(/\n\s+/g, ' ');
    stages.set(stage, [...(stages.get(stage) ?? []), command]);
  }
  return stages;
}

async function copyContext(to: string): Promise<void> {
  const { stdout } = await run('git', ['ls-files', '-z'], { cwd: repositoryRoot, maxBuffer: 2 ** 24 });
  const ignored = await readFile(join(repositoryRoot, '.dockerignore'), 'utf8');
  const files = createIgnore().add(ignored).filter(stdout.split('\0').filter(Boolean));
  for (const file of files) {
    await mkdir(dirname(join(to, file)), { recursive: true });
    await cp(join(repositoryRoot, file), join(to, file));
  }
  for (const path of GENERATED) {
    if (existsSync(join(repositoryRoot, path)))
      await cp(join(repositoryRoot, path), join(to, path), { recursive: true, preserveTimestamps: true });
  }
}
