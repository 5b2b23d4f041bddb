import { readFileSync } from 'node:fs';

/** A schema of the document, by the pointer under which it is found there. */
interface Located<T> {
  readonly value: T;
  readonly pointer: string;
}

interface HeaderObject {
  readonly required?: boolean;
  readonly schema: { readonly type?: string };
}

export interface ResponseObject {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, ResponseObject | { readonly $ref: string }>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly headers: Readonly<Record<string, HeaderObject>> };
}

const FILE = new URL('../../../services/gateway/openapi.json', import.meta.url);

/** The OpenAPI document of the repository. A test of the gateway compares it with what the gateway serves. */
export function readApiDocument(): ApiDocument {
  return JSON.parse(readFileSync(FILE, 'utf8')) as ApiDocument;
}

/** Finds the operations of a document. */
export class Operations {
  readonly #document: ApiDocument;
  /** Paths without parameters come first, because `/grants/revoke-all` also has the form of `/grants/{id}`. */
  readonly #paths: readonly { readonly template: string; readonly pattern: RegExp }[];

  constructor(document: ApiDocument) {
    this.#document = document;
    this.#paths = Object.keys(document.paths)
      .sort((one, other) => Number(one.includes('{')) - Number(other.includes('{')))
      .map((template) => ({ template, pattern: toPattern(template) }));
  }

  /** The template of the path that this address has; null if the document has none. */
  findPath(pathname: string): string | null {
    return this.#paths.find(({ pattern }) => pattern.test(pathname))?.template ?? null;
  }

  has(template: string, method: string): boolean {
    return this.#document.paths[template]?.[method.toLowerCase()] !== undefined;
  }

  /** The response of an operation; null if the document has none. */
  findResponse(template: string, method: string, status: number): Located<ResponseObject> | null {
    const verb = method.toLowerCase();
    const response = this.#document.paths[template]?.[verb]?.responses[status];
    if (response === undefined) return null;
    if ('$ref' in response) return { value: this.#resolve(response.$ref), pointer: response.$ref };
    const steps = ['paths', template, verb, 'responses', String(status)];
    return { value: response, pointer: `#/${steps.map(toStep).join('/')}` };
  }

  getHeader(reference: string): HeaderObject {
    return this.#resolve(reference);
  }

  #resolve<T>(reference: string): T {
    const steps = reference.slice('#/'.length).split('/').map(fromStep);
    return steps.reduce<unknown>(
      (node, step) => (node as Record<string, unknown>)[step],
      this.#document,
    ) as T;
  }
}

function toPattern(template: string): RegExp {
  const parts = template.split(/\{\w+\}/).map((part) => part.replaceAll('.', '\\.'));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}

/** One step of a JSON pointer in a URI fragment. */
export function toStep(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function fromStep(step: string): string {
  return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
}
