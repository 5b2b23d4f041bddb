/** `pnpm demo`: plays the life of an app and prints every request and response. Exit code 1 if a response is unexpected. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findStackFile } from '../data-directory.ts';
import { listenForSignals, untilAborted } from '../interrupt.ts';
import { startStack } from '../stack.ts';
import { openConversation } from './conversation.ts';
import { type DemoPlace, makeDemoCalls } from './demo-calls.ts';

try {
  await play();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}

async function play(): Promise<void> {
  const running = findStackFile();
  const place = toPlace(running);
  if (place !== null) return playAt(place);
  console.log('No local stack is running: starting one for the demo.');
  const signal = listenForSignals();
  const dataDirectory = await mkdtemp(join(tmpdir(), 'phds-demo-'));
  try {
    const say = (line: string) => console.log(line);
    await using stack = await startStack({
      dataDirectory,
      ports: { random: true, gateways: 1 },
      say,
      signal,
    });
    await Promise.race([playAt(toPlace(stack) as DemoPlace), untilAborted(signal)]);
  } finally {
    await rm(dataDirectory, { recursive: true, force: true });
  }
}

async function playAt(place: DemoPlace): Promise<void> {
  const talk = openConversation((text) => console.log(text));
  await makeDemoCalls(talk, place);
  const { surprises } = talk;
  if (surprises.length > 0) {
    throw new Error(`\nNot as the contract requires:\n${surprises.map((each) => `  ${each}`).join('\n')}`);
  }
  console.log('\nEvery response was as the contract requires.');
}

function toPlace(
  stack: { readonly gatewayUrls: readonly string[]; readonly identityProviderUrl: string } | null,
): DemoPlace | null {
  const gateway = stack?.gatewayUrls[0];
  return stack === null || gateway === undefined
    ? null
    : { gateway, identityProvider: stack.identityProviderUrl };
}
