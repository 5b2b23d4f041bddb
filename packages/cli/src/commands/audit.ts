import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { type OperatorAct, OperatorActService } from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import {
  continueOperatorChain,
  OPERATOR_CHAIN_BEGINNING,
  type OperatorEntry,
} from '@phds/record-chain/operator-act';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { explainCall, type OperatorSurroundings } from '../operator/connection.ts';
import type { Surrounded } from '../shell.ts';
import { EXIT_DONE, EXIT_FAILED, EXIT_NOT_VERIFIED } from './command.ts';

/** Adds `phds audit`. */
export function addAudit(program: Command, { finish, withServices }: Surrounded): void {
  program
    .command('audit')
    .description(
      "Prints the operators' record, oldest first, and verifies that nothing of it was changed or removed.",
    )
    .addOption(
      new Option(
        '--expect <entry>',
        'an entry that an earlier run printed; without it a cut end is not noticed',
      ).argParser(parseKeptEntry),
    )
    .addOption(new Option('--json', 'print each entry as a line of JSON').default(false))
    .action(async ({ expect = null, json }: { expect?: KeptEntry | null; json: boolean }) =>
      finish(await auditOperators({ kept: expect, json }, withServices(['consent']))),
    );
}

function parseKeptEntry(value: string): KeptEntry {
  const [, number, hash] = /^([1-9]\d{0,14}):([0-9a-f]{64})$/.exec(value) ?? [];
  if (number === undefined || hash === undefined) {
    throw new InvalidArgumentError('It must be a number, a colon and 64 hexadecimal digits.');
  }
  return { number: Number(number), hash };
}

/** An entry that somebody kept outside the database. */
export interface KeptEntry {
  readonly number: number;
  /** Hexadecimal. */
  readonly hash: string;
}

interface AuditArguments {
  /** An entry that the record must still have; null for none. */
  readonly kept: KeptEntry | null;
  readonly json: boolean;
}

/**
 * `phds audit`: prints the operators' record, oldest first, and verifies its chain meanwhile. With `json` each entry is a line. Returns the
 * exit code: failed when an entry was changed, removed or added, or the kept one is missing.
 */
export async function auditOperators(
  { kept, json }: AuditArguments,
  { output, errors, connect }: OperatorSurroundings,
): Promise<number> {
  const fail = (code: number, failure: string) => {
    if (json) output.write(`${JSON.stringify({ error: failure })}\n`);
    errors.write(`${failure}\n`);
    return code;
  };
  let end = OPERATOR_CHAIN_BEGINNING;
  let isKept = kept === null;
  try {
    using connection = connect();
    for await (const act of readActs(connection.client('consent', OperatorActService))) {
      const next = continueOperatorChain(end, [toEntry(act)]);
      if ('brokenAt' in next)
        return fail(EXIT_FAILED, `Entry ${next.brokenAt} was changed, removed or added.`);
      end = next;
      isKept ||= end.number === kept?.number && toHex(end.hash) === kept.hash;
      output.write(json ? `${JSON.stringify(toDocument(act))}\n` : toLine(act));
    }
  } catch (error) {
    return fail(EXIT_NOT_VERIFIED, explainCall(error, 'consent'));
  }
  if (!isKept)
    return fail(
      EXIT_FAILED,
      `The kept entry ${kept?.number} is not in the record, which ends at ${end.number}.`,
    );
  errors.write(
    `${end.number} entries verify. Keep this outside the database: ${end.number}:${toHex(end.hash)}\n`,
  );
  return EXIT_DONE;
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

function toEntry({ number, at, ends, ...act }: OperatorAct): OperatorEntry & { readonly hash: Uint8Array } {
  const ms = at === undefined ? 0 : timestampMs(at);
  return { ...act, number: Number(number), at: ms, ends: Number(ends) };
}

function toDocument(act: OperatorAct) {
  const { number, at, operator, rpc, userRef, clientId, grantId, reason, requestId, ends, outcome } =
    toEntry(act);
  const head = { number, at: new Date(at).toISOString() };
  const tail = { hash: toHex(act.hash) };
  if (ends !== 0) return { ...head, ends, outcome, ...tail };
  const user = act.userId || null;
  const subject = { user, userRef: userRef || null, clientId: clientId || null, grantId: grantId || null };
  return { ...head, operator, rpc, ...subject, reason: reason || null, command: requestId, ...tail };
}

function toLine(act: OperatorAct): string {
  const { number, at, ends, outcome, operator, rpc, clientId, grantId, userRef, reason } = toEntry(act);
  const head = `${number}  ${new Date(at).toISOString()}`;
  if (ends !== 0) return `${head}  ${ends} ended: ${outcome}\n`;
  const person = act.userId || (userRef && `erased person ${userRef}`);
  const subject = [person, clientId, grantId].filter(Boolean).map((id) => `  ${id}`);
  return `${head}  ${operator}  ${rpc.split('/').at(-1)}${subject.join('')}${reason && `  "${reason}"`}\n`;
}

function toHex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}
