/** Entry point of `npm start`: runs the local stack until Ctrl-C. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { DATABASE_SERVICES } from '@phds/service-kit/keys/key-files';
import { CommanderError } from 'commander';
import { defaultDataDirectory } from './data-directory.ts';
import { DEMO_USERS } from './identity-provider/users.ts';
import { listenForSignals, untilAborted } from './interrupt.ts';
import { parsePorts } from './ports.ts';
import type { Stack } from './stack.ts';
import { startStack } from './stack.ts';
import { createStartCommand, type StartOptions } from './start-options.ts';
import { renderWalkthrough } from './walkthrough.ts';

const STOP_LIMIT_MS = 15_000;

await main();

async function main(): Promise<void> {
  try {
    await runUntilSignal(createStartCommand().parse().opts<StartOptions>());
  } catch (error) {
    process.exitCode = 1;
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) process.exitCode = error.exitCode;
    else console.error((error as Error).message);
  }
}

async function runUntilSignal(options: StartOptions): Promise<void> {
  const interrupted = listenForSignals();
  try {
    await using stack = await start(options, interrupted);
    printSummary(stack);
    console.log(`ready ${stack.gatewayUrls[0]}`);
    buildDocumentation(interrupted);
    await untilAborted(interrupted);
    console.log('Stopping …');
    // If stopping hangs, exit: the guardian and exit-with-parent.ts end the remaining processes.
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
  } catch (error) {
    if (!interrupted.aborted) throw error;
  }
  console.log('Stopped.');
}

/** The gateway serves the pages as soon as they are built. An error is printed, because the service works without them. */
function buildDocumentation(signal: AbortSignal): void {
  const program = resolve(import.meta.dirname, '../bin/generate.ts');
  execFile(process.execPath, [program, 'docs'], { signal }, (error) => {
    if (error !== null && !signal.aborted) console.error(error.message);
  });
}

function start(options: StartOptions, signal: AbortSignal): Promise<Stack> {
  console.log('Starting the local stack');
  return startStack({
    dataDirectory: defaultDataDirectory,
    ports: parsePorts(process.env, options.gateways),
    fresh: options.fresh,
    sandbox: true,
    redisUrl: process.env['REDIS_URL'],
    say: (line) => console.log(line),
    signal,
  });
}

function printSummary(stack: Stack): void {
  const users = DEMO_USERS.map(({ id, description }) => `  ${id.padEnd(10)} ${description}`);
  const services = DATABASE_SERVICES.map(
    (name) => `  ${name.padEnd(20)} rpc ${stack.rpcAddresses[name]}, Connect ${stack.connectUrls[name]}`,
  );
  console.log(`
Addresses
${stack.gatewayUrls.map((url) => `  ${'gateway'.padEnd(20)} ${url}`).join('\n')}
  ${'identity provider'.padEnd(20)} ${stack.identityProviderUrl}
${services.join('\n')}
  ${'logs'.padEnd(20)} ${stack.logs}

Users (sign in at ${stack.gatewayUrls[0]}/sign-in, or POST ${stack.identityProviderUrl}/sessions {"user": "ada"})
${users.join('\n')}

Walk-through (paste it into a shell)

${renderWalkthrough(stack)}

A partner app to try: npm run example.   Ctrl-C stops everything.
`);
}
