/**
 * Generates the Prisma clients of the workspace: `node packages/service-kit/bin/generate-prisma.ts [--force]`.
 *
 * A service takes part by having `prisma/schema.prisma` that begins so (no prisma.config.ts is needed; the
 * connection and the Postgres schema are chosen at run time, see `@phds/service-kit/postgres`):
 *
 *     generator client {
 *       provider            = "prisma-client"
 *       output              = "../src/store/generated"
 *       importFileExtension = "ts"
 *       previewFeatures     = ["strictUndefinedChecks"]
 *     }
 *
 *     datasource db {
 *       provider = "postgresql"
 *     }
 *
 * The generated clients are not committed. A stamp beside each (schema and Prisma version) makes a repeated run free.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';

const workspace = resolve(import.meta.dirname, '../../..');
const STAMP = '.generated-from';

/** Generates the clients that are out of date and prints one line for each. */
function generateClients(force: boolean): void {
  for (const schema of findSchemas()) {
    const content = readFileSync(schema, 'utf8');
    const output = parseOutput(schema, content);
    const fingerprint = toFingerprint(content);
    if (!force && readStamp(output) === fingerprint) continue;
    generate(schema, output);
    writeStamp(output, fingerprint);
    console.log(`prisma client written: ${relative(workspace, output)}`);
  }
}

/** The schemas of all services, and of the service-kit tests. */
function findSchemas(): string[] {
  const services = join(workspace, 'services');
  const candidates = readdirSync(services).map((name) => join(services, name, 'prisma/schema.prisma'));
  candidates.push(join(workspace, 'packages/service-kit/test/fixtures/library/prisma/schema.prisma'));
  return candidates.filter((path) => existsSync(path)).sort();
}

function parseOutput(schema: string, content: string): string {
  const output = /^\s*output\s*=\s*"([^"]+)"/m.exec(content)?.[1];
  if (output === undefined) throw new Error(`${schema}: the generator block has no output`);
  return resolve(dirname(schema), output);
}

function toFingerprint(content: string): string {
  return createHash('sha256').update(readPrismaVersion()).update('\0').update(content).digest('hex');
}

function readPrismaVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(prismaFile('package.json'), 'utf8'));
  return String((manifest as { version?: unknown }).version);
}

function prismaFile(name: string): string {
  const require = createRequire(join(workspace, 'package.json'));
  return join(dirname(require.resolve('prisma/package.json')), name);
}

function readStamp(output: string): string | null {
  const path = join(output, STAMP);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

function writeStamp(output: string, fingerprint: string): void {
  mkdirSync(output, { recursive: true });
  // Renamed into place, so that an interrupted run never leaves a partial stamp.
  const path = join(output, STAMP);
  writeFileSync(`${path}.${process.pid}`, `${fingerprint}\n`);
  renameSync(`${path}.${process.pid}`, path);
}

function generate(schema: string, output: string): void {
  rmSync(join(output, STAMP), { force: true });
  const result = spawnSync(process.execPath, [prismaFile('build/index.js'), 'generate', '--schema', schema], {
    cwd: workspace,
    encoding: 'utf8',
    // Generating does not need the schema engine. The path of any file keeps Prisma from downloading it; Node's exists everywhere.
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, PRISMA_HIDE_UPDATE_MESSAGE: '1' },
  });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout}${result.stderr}`);
  throw new Error(`prisma generate failed for ${relative(workspace, schema)}`);
}

generateClients(process.argv.includes('--force'));
