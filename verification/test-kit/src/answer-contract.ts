import type { Ajv2020 } from 'ajv/dist/2020.js';
import {
  type ApiDocument,
  Operations,
  type ResponseObject,
  readApiDocument,
  toStep,
} from './api-document.ts';

/** An answer that a test received. */
export interface ReceivedAnswer {
  readonly method: string;
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  /** Null when it was not read. */
  readonly text: string | null;
}

/** The surfaces of which every answer is described or an error. */
const PROGRAMMING_INTERFACES = /^\/(api|oauth|developer|partner|fhir\/R4)(\/|$)/;

/** The longest URL that is read, as in the gateway's defaults. */
const MAX_URL_BYTES = 8_192;

/** What HTTP itself or a browser needs, on any answer. */
const UNDESCRIBED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-security-policy',
  'content-type',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  // For the pages of browser apps, whatever the operation.
  'access-control-allow-origin',
  'access-control-expose-headers',
  'date',
  'keep-alive',
  'referrer-policy',
  'strict-transport-security',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
]);

/** Statuses of requests that the gateway cannot read, or that have a method without an operation. */
const STATUSES_WITHOUT_OPERATION: ReadonlySet<number> = new Set([405, 408, 413, 417, 431]);

/** Fields of errors that no operation describes. */
const HEADERS_OF_ANY_ERROR: ReadonlySet<string> = new Set([
  'allow',
  'api-version',
  'cache-control',
  'deprecation',
  'pragma',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'sunset',
  'www-authenticate',
  'x-request-id',
]);

/** Judges answers of the gateway by the OpenAPI document. */
export class AnswerContract {
  readonly #operations: Operations;
  readonly #ajv: Ajv2020;

  private constructor(document: ApiDocument, ajv: Ajv2020) {
    this.#operations = new Operations(document);
    this.#ajv = ajv;
  }

  /** Reads the document of the repository, unless another one is given, and loads the validator, which takes time. */
  static async open(): Promise<AnswerContract> {
    const document = readApiDocument();
    const [{ Ajv2020: Ajv }, { default: addFormats }] = await Promise.all([
      import('ajv/dist/2020.js'),
      import('ajv-formats'),
    ]);
    const ajv = new Ajv({ strict: false, allErrors: true, validateSchema: false });
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    ajv.addSchema(close(document) as object, 'api');
    return new AnswerContract(document, ajv);
  }

  /** What is wrong with an answer; empty for one that the document describes, and for pages of the web app. */
  findFaults(answer: ReceivedAnswer): readonly string[] {
    const { url, method, status } = answer;
    const template = this.#operations.findPath(url.pathname);
    if (template === null && !PROGRAMMING_INTERFACES.test(url.pathname)) return [];
    if (method === 'OPTIONS' && status === 204) return [];
    // The gateway answers HEAD for public documents, as GET without the body.
    const described = method === 'HEAD' && status < 300 ? 'GET' : method;
    const found = template === null ? null : this.#operations.findResponse(template, described, status);
    if (found === null) return this.#findFaultsOfAnyError(answer, template);
    return [
      ...this.#findHeaderFaults(answer, found.value),
      ...this.#findContentFaults(answer, found.value, found.pointer),
    ];
  }

  /** Of an error of a request that reached no operation. */
  #findFaultsOfAnyError(answer: ReceivedAnswer, template: string | null): readonly string[] {
    const { status, method, url, headers } = answer;
    const reachedNoOperation =
      template === null ||
      !this.#operations.has(template, method) ||
      STATUSES_WITHOUT_OPERATION.has(status) ||
      url.pathname.length + url.search.length > MAX_URL_BYTES;
    if (!reachedNoOperation || status < 400) return ['the status is not documented'];
    const schema = schemaOfErrors(answer);
    return [
      ...findUnknownHeaders(headers, HEADERS_OF_ANY_ERROR),
      ...this.#findBodyFaults(answer, `#/components/schemas/${schema}`),
    ];
  }

  #findHeaderFaults({ headers }: ReceivedAnswer, { headers: described = {} }: ResponseObject): string[] {
    const names = new Set(Object.keys(described).map((name) => name.toLowerCase()));
    const wrong = Object.entries(described).flatMap(([name, { $ref }]) =>
      this.#findValueFaults(headers.get(name), $ref).map((fault) => `the header field ${name} ${fault}`),
    );
    return [...wrong, ...findUnknownHeaders(headers, names)];
  }

  #findValueFaults(value: string | null, reference: string): string[] {
    const { required = false, schema } = this.#operations.getHeader(reference);
    if (value === null) return required ? ['is missing'] : [];
    return this.#validate(`${reference}/schema`, schema.type === 'integer' ? Number(value) : value);
  }

  #findContentFaults(answer: ReceivedAnswer, { content = {} }: ResponseObject, pointer: string): string[] {
    const type = answer.headers.get('content-type')?.split(';')[0] ?? null;
    if (Object.keys(content).length === 0) {
      return (answer.text ?? '') === '' ? [] : ['it has a body, but the document has none'];
    }
    if (type === null || !(type in content)) return [`the media type ${type} is not documented`];
    return this.#findBodyFaults(answer, `${pointer}/content/${toStep(type)}/schema`);
  }

  #findBodyFaults({ headers, text, method }: ReceivedAnswer, pointer: string): string[] {
    const isJson = /^application\/((problem|fhir)\+)?json\b/.test(headers.get('content-type') ?? '');
    if (text === null || !isJson || method === 'HEAD') return [];
    return this.#validate(pointer, JSON.parse(text)).map((fault) => `the body ${fault}`);
  }

  #validate(pointer: string, value: unknown): string[] {
    const validator = this.#ajv.getSchema(`api${pointer}`);
    if (validator === undefined) throw new RangeError(`the document has no ${pointer}`);
    if (validator(value) === true) return [];
    return (validator.errors ?? []).map(({ instancePath, message, params }) =>
      `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
    );
  }
}

/** The schema of any error at an address. The uniform 401 is a problem document except under `/oauth`. */
function schemaOfErrors({ url: { pathname }, headers }: ReceivedAnswer): string {
  if (/^\/oauth(\/|$)/.test(pathname)) return 'OauthError';
  const isUniform = headers.get('content-type') === 'application/problem+json';
  return /^\/fhir\/R4(\/|$)/.test(pathname) && !isUniform ? 'OperationOutcome' : 'Problem';
}

function findUnknownHeaders(headers: Headers, described: ReadonlySet<string>): string[] {
  return [...headers.keys()]
    .filter((name) => !described.has(name) && !UNDESCRIBED_HEADERS.has(name))
    .map((name) => `the header field ${name} is not documented`);
}

/** The document allows further members in answers, for later releases. Here they are faults, because nothing describes them. */
function close(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(close);
  if (typeof node !== 'object' || node === null) return node;
  const closed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, close(value)]));
  const isOpen = closed['type'] === 'object' && 'properties' in closed && !('additionalProperties' in closed);
  return isOpen ? { ...closed, additionalProperties: false } : closed;
}
