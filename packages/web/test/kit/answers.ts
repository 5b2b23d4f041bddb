import { readFileSync } from 'node:fs';
import type { operations } from '@phds/sdk/openapi';
import { AnswerContract } from '@phds/test-kit/answer-contract';
import { readApiDocument } from '@phds/test-kit/api-document';
import { after } from './times.ts';

/** Operations of the OpenAPI document by their ids. */
type OperationId = keyof operations;

type Success<Responses> = Responses[keyof Responses & (200 | 201 | 202)];

/** The JSON body of the success of an operation. */
export type BodyOf<Id extends OperationId> =
  Success<operations[Id]['responses']> extends {
    readonly content: { readonly 'application/json': infer Body };
  }
    ? Body
    : never;

/** What the service answers instead of a success. */
export class Answer {
  readonly status: number;
  readonly body: string;
  readonly type: string;
  /** Whether the OpenAPI document has to describe it, which that of a proxy in front of the service is not. */
  readonly isOfService: boolean;

  constructor(status: number, body: string, type: string, isOfService: boolean) {
    this.status = status;
    this.body = body;
    this.type = type;
    this.isOfService = isOfService;
  }
}

/** A request of the page. */
export interface Sent {
  readonly operation: OperationId;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The JSON body; null without one. */
  readonly body: unknown;
}

/** The connection breaks before an answer arrives. What the service has done is up to the test. */
export const LOST = Symbol('the answer is lost');

export type Reply<Id extends OperationId> = BodyOf<Id> | Answer | typeof LOST;
type Replier<Id extends OperationId> = (request: Sent) => Reply<Id> | Promise<Reply<Id>>;

/** Answers by operation: the body of a success, `problem(…)`, `LOST`, or a function of the request that returns one of them. */
export type Answers = { [Id in OperationId]?: Reply<Id> | Replier<Id> };

interface Recorded {
  readonly request: { readonly method: string };
  readonly answer: { readonly status: number; readonly body: unknown };
}

const EXAMPLES = new URL('../../../docs/examples/', import.meta.url);
const readExamples = (name: string) =>
  JSON.parse(readFileSync(new URL(name, EXAMPLES), 'utf8')) as Readonly<Record<string, Recorded>>;
const recordedAnswers = readExamples('answers.json');
const recordedProblems = readExamples('problems.json');

/** The recorded answer of an operation, which the documentation shows; a copy. */
export function example<Id extends OperationId>(operation: Id): BodyOf<Id> {
  const recorded = recordedAnswers[operation];
  if (recorded === undefined)
    throw new RangeError(`No answer of ${operation} is recorded. The test has to give one.`);
  return structuredClone(recorded.answer.body) as BodyOf<Id>;
}

/** A list that fits on one page. */
export function listOf<Item = never>(...data: readonly Item[]) {
  return { data, pagination: { page: 1, pageSize: 100, total: data.length, totalPages: 1 } };
}

/** A recorded refusal or failure of the service, with members of its body replaced; `status` for a code that is not recorded. */
export function problem(code: string, members: Readonly<Record<string, unknown>> = {}): Answer {
  const { answer } = recordedProblems[code] ?? {};
  const plain = { type: 'about:blank', title: code, code, detail: 'No.', requestId: 'req_1' };
  const body = { ...((answer?.body as object | undefined) ?? plain), ...members };
  const status = members['status'] ?? answer?.status;
  if (typeof status !== 'number')
    throw new RangeError(`No problem ${code} is recorded. Its status has to be given.`);
  return new Answer(status, JSON.stringify(body), 'application/problem+json', true);
}

/** Replies to one request after the other; the last one is repeated. */
export function inTurn<Replies extends readonly unknown[]>(...replies: Replies): () => Replies[number] {
  const waiting = [...replies];
  return () => (waiting.length > 1 ? waiting.shift() : waiting[0]);
}

const routes = Object.entries(readApiDocument().paths)
  // A path without parameters first, because `/grants/revoke-all` also has the form of `/grants/{id}`.
  .sort(([one], [other]) => Number(one.includes('{')) - Number(other.includes('{')))
  .flatMap(([path, verbs]) =>
    Object.entries(verbs)
      .filter(([, operation]) => operation.operationId !== undefined)
      .map(([verb, { operationId }]) => ({
        operation: operationId as OperationId,
        method: verb.toUpperCase(),
        pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      })),
  );

const pending = example('getPendingApproval');

/** Where no example is recorded, or its times are not those of the tests. */
const DEFAULTS: Answers = {
  getPendingApproval: { data: { ...pending.data, createdAt: after(-1), expiresAt: after(9) } },
  listOperatorActs: listOf(),
};

const contract = await AnswerContract.open();

/** The service of one page: answers its requests from a table, and keeps them. */
export class Service {
  /** What the next requests are answered. */
  readonly answers: Answers;
  readonly requests: Sent[] = [];
  /** The number of requests that the test does not hold back and that are not answered yet. */
  underWay = 0;
  /** Requests without an answer, and answers that are not as the OpenAPI document says. */
  readonly faults: string[] = [];
  readonly #now: () => number;

  /** `now`: the time by the service's clock. */
  constructor(answers: Answers, now: () => number) {
    this.#now = now;
    this.answers = { ...answers };
  }

  /** Holds the answers of an operation back. Returns a function that lets them go. */
  hold(operation: OperationId): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    const after = this.answers[operation];
    const held = async (request: Sent) => {
      this.underWay -= 1;
      await promise;
      this.underWay += 1;
      return this.#reply(request, after);
    };
    Object.assign(this.answers, { [operation]: held });
    return () => {
      Object.assign(this.answers, { [operation]: after });
      resolve();
    };
  }

  /** In place of the browser's `fetch`. */
  readonly fetch = async (input: Request | string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    this.underWay += 1;
    try {
      const sent = await toSent(request);
      this.requests.push(sent);
      const reply = await Promise.race([
        this.#reply(sent, this.answers[sent.operation]),
        aborted(request.signal),
      ]);
      // As from a network: in a turn of its own, which is never between two steps of a test.
      await new Promise((arrive) => setImmediate(arrive));
      return this.#toResponse(sent, reply);
    } finally {
      this.underWay -= 1;
    }
  };

  async #reply(sent: Sent, given: unknown): Promise<unknown> {
    const reply = given ?? DEFAULTS[sent.operation] ?? this.#exampleFor(sent.operation);
    return typeof reply === 'function' ? reply(sent) : reply;
  }

  #exampleFor(operation: OperationId): unknown {
    try {
      const body: object = example(operation) ?? {};
      return 'pagination' in body && 'data' in body
        ? { ...body, ...listOf(...(body.data as unknown[])) }
        : body;
    } catch (error) {
      this.faults.push((error as Error).message);
      return LOST;
    }
  }

  #toResponse(sent: Sent, reply: unknown): Response {
    if (reply === LOST) throw new TypeError('Failed to fetch');
    const status = recordedAnswers[sent.operation]?.answer.status ?? 200;
    const body = status === 204 ? '' : JSON.stringify(reply);
    const answer = reply instanceof Answer ? reply : new Answer(status, body, 'application/json', true);
    const headers = { 'Content-Type': answer.type, Date: new Date(this.#now()).toUTCString() };
    if (answer.isOfService) this.#checkAnswer(sent, answer);
    const hasBody = answer.status !== 204;
    return new Response(hasBody ? answer.body : null, { status: answer.status, headers });
  }

  #checkAnswer({ operation, method, path }: Sent, { status, body, type }: Answer): void {
    const url = new URL(path, 'https://health.example');
    const received = { method, url, status, headers: new Headers({ 'Content-Type': type }), text: body };
    const faults = contract
      .findFaults(received)
      .filter((fault) => !/^the header field .* is missing$/.test(fault));
    this.faults.push(...faults.map((fault) => `The test's answer of ${operation} (${status}): ${fault}`));
  }
}

async function toSent(request: Request): Promise<Sent> {
  const { pathname, searchParams } = new URL(request.url);
  const route = routes.find(({ method, pattern }) => method === request.method && pattern.test(pathname));
  if (route === undefined) throw new Error(`The API has no ${request.method} ${pathname}.`);
  const text = await request.text();
  return {
    operation: route.operation,
    method: request.method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    body: text === '' ? null : JSON.parse(text),
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}
