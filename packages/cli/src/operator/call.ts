import type { DescService } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { EXIT_DONE, EXIT_FAILED } from '../commands/exit-codes.ts';
import type { OperatorSurroundings } from '../commands/restore.ts';
import type { OperatedService } from './connection.ts';
import { explainCall } from './explanation.ts';

/** Entries on one page. */
export const PAGE_SIZE = 100;

/** Calls a service, and prints what `run` returns or explains the error. Returns the exit code. */
export async function callAsOperator<Service extends DescService>(
  [service, descriptor]: readonly [OperatedService, Service],
  json: boolean,
  { output, errors, connect }: OperatorSurroundings,
  run: (client: Client<Service>) => Promise<string>,
): Promise<number> {
  try {
    using connection = connect();
    output.write(await run(connection.client(service, descriptor)));
    return EXIT_DONE;
  } catch (error) {
    const failure = explainCall(error, service);
    if (json) output.write(toJson({ error: failure }));
    errors.write(`${failure}\n`);
    return EXIT_FAILED;
  }
}

export function toJson(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

export function toInstant(time: Timestamp | undefined): string {
  return time === undefined ? '' : timestampDate(time).toISOString();
}
