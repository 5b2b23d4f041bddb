import type { Client } from '@connectrpc/connect';
import {
  type OperatorAct,
  OperatorActSchema,
  OperatorActService,
} from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import type { Command } from 'commander';
import { toDocument } from '../operator/command.ts';
import { explainCall, type OperatorSurroundings, toInstant } from '../operator/connection.ts';
import type { Surrounded } from '../shell.ts';
import { EXIT_DONE, EXIT_FAILED } from './command.ts';

/** Adds `phds audit`. */
export function addAudit(program: Command, { finish, withServices }: Surrounded): void {
  program
    .command('audit')
    .description("Prints the operators' record, oldest first. `phds records verify` verifies it.")
    .option('--json', 'print each entry as a line of JSON', false)
    .action(async ({ json }: { json: boolean }) => finish(await printActs(json, withServices(['consent']))));
}

/** Prints an entry as soon as it is read. Returns the exit code. */
async function printActs(json: boolean, { output, errors, connect }: OperatorSurroundings): Promise<number> {
  try {
    using connection = connect();
    for await (const act of readActs(connection.client('consent', OperatorActService)))
      output.write(json ? `${JSON.stringify(toDocument(OperatorActSchema, act))}\n` : toLine(act));
    return EXIT_DONE;
  } catch (error) {
    const failure = explainCall(error, 'consent');
    if (json) output.write(`${JSON.stringify({ error: failure })}\n`);
    errors.write(`${failure}\n`);
    return EXIT_FAILED;
  }
}

const PAGE_SIZE = 1_000;

async function* readActs(client: Client<typeof OperatorActService>): AsyncGenerator<OperatorAct> {
  let last: OperatorAct | undefined;
  let isLastPage = false;
  // Each of these calls adds an entry itself, so the record has grown when it ends.
  while (!isLastPage) {
    const { acts } = await client.listActs({ afterNumber: last?.number ?? 0n, limit: PAGE_SIZE });
    yield* acts;
    last = acts.at(-1);
    isLastPage = acts.length < PAGE_SIZE;
  }
}

function toLine({ number, at, ends, outcome, operator, rpc, ...act }: OperatorAct): string {
  const head = `${number}  ${toInstant(at)}`;
  if (ends !== 0n) return `${head}  ${ends} ended: ${outcome}\n`;
  const person = act.userId || (act.userRef && `erased person ${act.userRef}`);
  const subject = [person, act.clientId, act.grantId, act.reason && `"${act.reason}"`].filter(Boolean);
  return `${[head, operator || 'the person', rpc.split('/').at(-1), ...subject].join('  ')}\n`;
}
