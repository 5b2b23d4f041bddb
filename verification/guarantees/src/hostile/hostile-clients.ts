import { addViolation, count, type Tally, toSentences } from '../load/reads.ts';
import { openWire, type Wire, type WireAnswer } from '../load/wire.ts';
import { type Credentials, makeMalformedRequests, type Surface } from './malformed-requests.ts';

/** Maximum size of the response to a malformed request, which must not amplify an attack. */
const MOST_BYTES = 16_384;

/** Texts that a response must not contain: parts of stack traces, of SQL and of source files. */
const INTERNALS = /\n\s+at |node_modules|\.ts:\d+|prisma|ECONN|SQLSTATE|pg_|syntax error at/i;

/** The defect of a response to a malformed request; null when there is none. Closing the connection is acceptable. */
export function findFault({ status, head, body, late }: WireAnswer): string | null {
  if (late) return 'hang: a malformed request was not answered';
  if (status === 503) return /\r\nretry-after:/i.test(head) ? null : '503 without Retry-After';
  if (status >= 500) return `${status} for a malformed request`;
  if (status < 400) return null;
  if (body.length > MOST_BYTES) return `an error of ${body.length} bytes`;
  return INTERNALS.test(body) ? `an error reveals internals: ${body.slice(0, 200)}` : null;
}

interface HostileRun {
  readonly surface: Surface;
  readonly gatewayUrls: readonly string[];
  readonly credentials: Credentials;
  /** The number of requests. */
  readonly requests: number;
  /** The same seed produces the same requests. */
  readonly seed: number;
}

/** The result of a run. */
interface HostileReport {
  /** The number of responses by status; `0` is a closed connection. */
  readonly statuses: Readonly<Record<string, number>>;
  /** One sentence for each kind of violation, with the request that showed it. */
  readonly violations: readonly string[];
}

const CLIENTS = 64;
const ANSWER_LIMIT_MS = 10_000;
const SHOWN = 300;

/** Sends malformed requests to the gateways in turn, over at most 64 connections, and checks each response. */
export async function sendMalformedRequests(run: HostileRun): Promise<HostileReport> {
  const { surface, gatewayUrls, credentials } = run;
  const requests = makeMalformedRequests(surface, credentials, run);
  const statuses: Record<string, number> = {};
  const violations: Tally['violations'] = {};
  const wires = gatewayUrls.map((url) => openWire(url, ANSWER_LIMIT_MS));
  let sent = 0;
  const send = async () => {
    // Each client takes the next one.
    for (const request of requests) {
      const wire = wires[sent % wires.length] as Wire;
      sent += 1;
      const answer = await wire.ask(request);
      count(statuses, String(answer.status));
      const fault = findFault(answer);
      if (fault !== null) addViolation({ violations }, `${surface}: ${fault}`, mask(request, credentials));
    }
  };
  try {
    await Promise.all(Array.from({ length: CLIENTS }, send));
  } finally {
    for (const wire of wires) wire[Symbol.dispose]();
  }
  return { statuses, violations: toSentences({ violations }) };
}

/** Removes the secrets from the request. */
function mask(request: string, { clientSecret, session, accessToken }: Credentials): string {
  const secrets = [clientSecret, session, accessToken];
  const text = secrets.reduce((masked, secret) => masked.replaceAll(secret, '…'), request);
  return JSON.stringify(text.slice(0, SHOWN));
}
