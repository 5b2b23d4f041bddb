import { ANY_ERROR, groupErrors, toErrorResponse } from './error-responses.ts';
import { type Fields, text } from './fields.ts';
import { toHeaderComponents, toHeaderReferences } from './headers.ts';
import { SchemaComponents } from './json-schema.ts';
import { type Answer, type Operation, type Security, TAGS } from './operation.ts';

/** `paths`, and the components and tags that they refer to. */
export function toPaths(operations: readonly Operation[]) {
  const schemas = new SchemaComponents();
  const responses = new Map<string, object>();
  const paths = new Map<string, Record<string, unknown>>();
  for (const operation of operations) {
    const path = toTemplate(operation.path);
    const methods = paths.get(path) ?? {};
    methods[operation.method.toLowerCase()] = toOperationObject(operation, schemas, responses);
    paths.set(path, methods);
  }
  for (const error of Object.values(ANY_ERROR)) schemas.add(error, 'output');
  const answered = JSON.stringify([...paths.values(), ...responses.values()]);
  const headers = toHeaderComponents(answered, (schema) => schemas.add(schema, 'output'));
  return {
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: Object.fromEntries(paths),
    components: { headers, responses: Object.fromEntries(responses), schemas: schemas.toJson() },
  };
}

/** A path with its parameters as in OpenAPI: `/developer/apps/{clientId}`. */
export function toTemplate(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function toOperationObject(operation: Operation, schemas: SchemaComponents, shared: Map<string, object>) {
  const { operationId, tag, summary, description, body } = operation;
  const parameters = toParameters(operation, schemas);
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: toSecurity(operation.security),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: toRequestBody(body, schemas) }),
    responses: toResponses(operation, schemas, shared),
  };
}

/**
 * Error responses are shared by the operations with the same codes. A status that is both an answer and an error is a page for browsers
 * and an error for everybody else.
 */
function toResponses(operation: Operation, schemas: SchemaComponents, shared: Map<string, object>) {
  const responses = new Map<string, object>();
  for (const [status, codes] of groupErrors(operation)) {
    const error = toErrorResponse(operation, status, codes, schemas);
    const page = operation.answers[status];
    if (page !== undefined) {
      const { content, ...response } = toResponse(page, schemas);
      responses.set(String(status), { ...response, content: { ...content, ...error.content } });
      continue;
    }
    const name = nameResponse(operation, status, codes);
    if (name !== null) shared.set(name, error);
    responses.set(String(status), name === null ? error : { $ref: `#/components/responses/${name}` });
  }
  const answers = Object.entries(operation.answers).filter(([status]) => !responses.has(status));
  for (const [status, answer] of answers) responses.set(status, toResponse(answer, schemas));
  return Object.fromEntries(responses);
}

/** The name of an error response in the components; null if it is like no other. */
function nameResponse(
  { tag, errorFormat, errorHeaders }: Operation,
  status: number,
  codes: readonly string[],
) {
  if (errorHeaders !== undefined) return null;
  return [tag === 'Data' ? 'data' : errorFormat, status, ...codes].join('.');
}

function toParameters(operation: Operation, schemas: SchemaComponents) {
  const { path, pathParameters = {}, query = {}, requiredQuery = [], requestHeaders = {} } = operation;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, pathParameters[name] ?? text]);
  const places: ['path' | 'query' | 'header', Fields][] = [
    ['path', Object.fromEntries(inPath)],
    ['query', query],
    ['header', requestHeaders],
  ];
  return places.flatMap(([place, fields]) =>
    Object.entries(fields).map(([name, field]) => {
      const { description } = field.meta() ?? {};
      const isRequired = place === 'path' || requiredQuery.includes(name);
      return {
        name,
        in: place,
        ...(isRequired ? { required: true } : {}),
        ...(description === undefined ? {} : { description }),
        schema: schemas.add(field, 'input'),
      };
    }),
  );
}

function toRequestBody(
  { schema, optional, types }: NonNullable<Operation['body']>,
  schemas: SchemaComponents,
) {
  const content = { schema: schemas.add(schema, 'input') };
  const mediaTypes = types ?? ['application/json'];
  return {
    required: optional !== true,
    content: Object.fromEntries(mediaTypes.map((type) => [type, content])),
  };
}

function toResponse(
  { description, body, type, headers = [], sometimes = [] }: Answer,
  schemas: SchemaComponents,
) {
  const schema = body === undefined ? null : schemas.add(body, 'output');
  return {
    description,
    headers: toHeaderReferences(headers, sometimes),
    ...(schema === null ? {} : { content: { [type ?? 'application/json']: { schema } } }),
  };
}

function toSecurity(security: Security): Record<string, readonly string[]>[] {
  if (typeof security === 'object') return security.scopes.map((scope) => ({ oauth: [scope] }));
  return {
    none: [],
    session: [{ session: [] }, { sessionCookie: [] }],
    client: [{ client: [] }],
    'optional-client': [{ client: [] }, {}],
    'app-token': [{ appToken: [] }],
  }[security];
}
