/**
 * Entry point of `npm start` and `npm test`: prepares a fresh clone, then runs the command with Node 24.
 *
 *     node packages/local-stack/bin/bootstrap.mjs start [arguments of the local stack]
 *     node packages/local-stack/bin/bootstrap.mjs test [arguments of the test run]
 *     node packages/local-stack/bin/bootstrap.mjs install
 *
 * `start` installs what the service runs with and what generates its code; the others install everything.
 * With `--no-install` among the arguments, no package of the operating system is installed.
 *
 * Plain JavaScript without dependencies, because it runs before anything is installed and on older Node versions (18.12 and later,
 * like the pinned pnpm). Completed steps are skipped, so a second run costs a fraction of a second.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const oldestNode = '18';
const wantedNode = '24.14.1';
/** How long to assume that a Ctrl-C also reached the child, as it does in a terminal. */
const signalGraceMs = 10_000;
const parentCheckMs = 500;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const programs = {
  start: 'packages/local-stack/src/start.ts',
  test: 'verification/test-kit/bin/run-tests.mjs',
  install: null,
};

/** What to install, as arguments of pnpm. The service needs no development dependency and no package of `verification`. */
const sets = {
  start: ['--prod', '--filter=./services/*', '--filter=./packages/*'],
  // NODE_ENV=production would omit the development dependencies.
  all: ['--prod=false'],
};

await main(process.argv[2] ?? '', process.argv.slice(3));

async function main(command, args) {
  if (!Object.keys(programs).includes(command))
    fail(`Usage: bootstrap.mjs ${Object.keys(programs).join('|')} [arguments]`);
  requireUsableNode();
  await installDependencies(command === 'start' && !hasDevelopmentDependencies() ? 'start' : 'all');
  const node = findNode() ?? fail(explainMissingNode());
  const env = { ...process.env, PATH: [path.dirname(node), process.env.PATH].join(path.delimiter) };
  // Read by packages/local-stack/src/servers/system-programs.ts.
  if (args.includes('--no-install')) env.PHDS_NO_INSTALL = '1';
  // `npm start` builds the documentation while the service already runs.
  const steps = command === 'start' ? [] : ['--all'];
  await runOrExit(node, ['packages/local-stack/bin/generate.ts', ...steps], env);
  const program = programs[command];
  if (program !== null)
    process.exit(await run(node, [program, ...args.filter((arg) => arg !== '--no-install')], env));
}

/** Exits if no installation could provide a usable Node. */
function requireUsableNode() {
  if (process.platform === 'win32')
    fail('Windows is not supported. Please use the Windows Subsystem for Linux (WSL 2).');
  if (!isNodeFrom(oldestNode)) {
    fail(`Node ${process.versions.node} is too old. Please install Node ${wantedNode} (https://nodejs.org).`);
  }
  if (!isUsableNode() && !bringsItsOwnNode()) fail(explainMissingNode());
}

/** The workspace provides Node as a package for these platforms (optionalDependencies of the root package.json). */
function bringsItsOwnNode() {
  return process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
}

function explainMissingNode() {
  return (
    `This project needs Node ${wantedNode}; this is Node ${process.versions.node} on ${process.platform}-${process.arch}, ` +
    `and its bundled Node does not run here. Please install Node ${wantedNode} (https://nodejs.org) and try again.`
  );
}

/** The pinned Node of the workspace if it runs on this machine, else the current one if it is new enough, else null. */
function findNode() {
  const own = path.join(root, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
  // The binary may exist but not run: it needs glibc, which Alpine lacks.
  if (existsSync(own) && spawnSync(own, ['--version'], { stdio: 'ignore' }).status === 0) return own;
  return isUsableNode() ? process.execPath : null;
}

/** As the services check it: `refuseUnsafeNode` of service-kit. */
function isUsableNode() {
  return isNodeFrom(wantedNode) && !process.versions.node.startsWith('25.');
}

function isNodeFrom(version) {
  return process.versions.node.localeCompare(version, 'en', { numeric: true }) >= 0;
}

/** Installs a set with the pinned pnpm, unless it, or everything, is already installed from the current lockfile. */
async function installDependencies(set) {
  const stamp = path.join(root, 'node_modules/.phds-installed');
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  if ([set, 'all'].some((each) => installed === toFingerprint(each))) return;
  say('Installing dependencies (the first time takes a minute) …');
  const started = Date.now();
  const { packageManager } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  // Purging must not ask, because there may be no terminal.
  const install = ['install', '--frozen-lockfile', '--config.confirmModulesPurge=false', ...sets[set]];
  await runOrExit('npx', ['--yes', packageManager, ...install], installEnvironment());
  writeFileSync(stamp, toFingerprint(set));
  say(`Dependencies installed in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/** Whether everything was installed before, also by pnpm alone: the smaller set would remove what it does not contain. */
function hasDevelopmentDependencies() {
  return existsSync(path.join(root, 'node_modules/.bin/biome'));
}

/** Changes whenever a new installation is needed. */
function toFingerprint(set) {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch} ${set}\n`);
  for (const file of ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml']) {
    hash.update(readFileSync(path.join(root, file)));
  }
  return `${hash.digest('hex')}\n`;
}

function installEnvironment() {
  const env = { ...process.env, PATH: pathWithoutWorkspace() };
  if (isWritableDirectory(process.env.HOME ?? os.homedir())) return env;
  // npm and pnpm keep their caches in the home directory and fail without one.
  const home = path.join(root, '.data/home');
  mkdirSync(home, { recursive: true });
  say('The home directory is not writable; package caches go to .data/home.');
  return { ...env, HOME: home, npm_config_cache: env.npm_config_cache ?? path.join(home, '.npm') };
}

/** npm puts node_modules/.bin first in PATH. It contains a `node` that the installation is about to replace. */
function pathWithoutWorkspace() {
  const entries = (process.env.PATH ?? '').split(path.delimiter);
  return entries.filter((entry) => !entry.startsWith(path.join(root, 'node_modules'))).join(path.delimiter);
}

function isWritableDirectory(directory) {
  if (!path.isAbsolute(directory)) return false;
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Runs a step and exits if it fails. */
async function runOrExit(program, args, env) {
  const code = await run(program, args, env);
  if (code !== 0) process.exit(code);
}

/**
 * Runs a program in the foreground, in this process group, and returns its exit code (128 + n for signal n). A Ctrl-C reaches the
 * whole group, so this process only waits for the child to shut down.
 */
function run(program, args, env) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, env, stdio: 'inherit' });
    const release = superviseSignals(child);
    child.on('error', (error) => {
      release();
      const hint = error.code === 'ENOENT' ? 'Is npm installed? It comes with Node.' : error.message;
      fail(`Could not run ${program}. ${hint}`);
    });
    child.on('exit', (code, signal) => {
      release();
      resolve(code ?? 128 + os.constants.signals[signal]);
    });
  });
}

/** Keeps this process alive until the child has ended. Returns a function that stops the supervision. */
function superviseSignals(child) {
  let timer;
  const forward = { SIGTERM: () => child.kill('SIGTERM'), SIGHUP: () => child.kill('SIGHUP') };
  // Forwarding immediately would deliver a Ctrl-C twice. Never forwarding would lose a signal sent to this process alone.
  forward.SIGINT = () => {
    if (timer === undefined) timer = setTimeout(() => child.kill('SIGINT'), signalGraceMs);
  };
  for (const [signal, handler] of Object.entries(forward)) process.on(signal, handler);
  const watch = watchParent(() => child.kill('SIGTERM'));
  return () => {
    clearTimeout(timer);
    clearInterval(watch);
    for (const [signal, handler] of Object.entries(forward)) process.off(signal, handler);
  };
}

/**
 * A signal sent to npm alone ends npm and its shell without passing it on, so losing the parent is the only sign of it. Outside npm
 * the parent may exit on purpose (nohup).
 */
function watchParent(onLost) {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    onLost();
  }, parentCheckMs);
  return watch;
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}
