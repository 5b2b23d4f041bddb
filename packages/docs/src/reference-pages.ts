import GithubSlugger from 'github-slugger';
import {
  type ApiResponse,
  document,
  listOperations,
  type Parameter,
  type PlacedOperation,
  resolve,
} from './openapi.ts';
import { answers, renderExample } from './recorded.ts';
import { escapeCell, toFieldTables, toType } from './schema-table.ts';

/** The pages of the reference, and the tags of the OpenAPI document that each has. */
const PAGES = [
  { slug: 'reference-data', title: 'Data endpoints', tags: ['Data'] },
  { slug: 'reference-fhir', title: 'FHIR endpoints', tags: ['FHIR'] },
  { slug: 'reference-oauth', title: 'OAuth endpoints', tags: ['OAuth'] },
  { slug: 'reference-apps', title: 'Endpoints for developers', tags: ['Apps'] },
  { slug: 'reference-consent', title: 'Endpoints for people', tags: ['Consent', 'Session'] },
  { slug: 'reference-documents', title: 'Public documents', tags: ['Documents', 'Probes'] },
] as const;

const operations = listOperations();

/** The pages of the reference by the name of their file, as Markdown. */
export function toReferencePages(): Record<string, string> {
  const unplaced = operations.filter(
    ({ tags }) => !PAGES.some((page) => page.tags.some((tag) => tags.includes(tag))),
  );
  if (unplaced.length > 0) throw new Error(`No page for the tag of ${unplaced[0]?.operationId}.`);
  const pages = PAGES.map(({ slug, title, tags }) => [`${slug}.md`, toPage(title, tags)] as const);
  return { 'reference.md': toOverview(), ...Object.fromEntries(pages) };
}

function ofTags(tags: readonly string[]): PlacedOperation[] {
  return operations.filter((operation) => operation.tags.some((tag) => tags.includes(tag)));
}

function toOverview(): string {
  const sections = PAGES.map(({ slug, title, tags }) => {
    const slugger = new GithubSlugger();
    slugger.slug(title);
    const rows = ofTags(tags).map(({ method, path, summary }) => {
      const anchor = slugger.slug(summary);
      return `| [${summary}](${slug}.md#${anchor}) | \`${method} ${path}\` |\n`;
    });
    return `## ${title}\n\n${describe(tags)}\n\n| Operation | Address |\n|---|---|\n${rows.join('')}`;
  });
  return `# Reference

All ${operations.length} operations of the service. It is generated from the [OpenAPI document](/openapi.json), which the service makes from the code that
validates requests and answers; the examples were answered by a running service.

Answers of \`/api\`, \`/developer\` and \`/partner\` are JSON in \`camelCase\`, those of \`/oauth\` in \`snake_case\`, and those of \`/fhir/R4\` resources of FHIR. Every field of an answer is always
present unless its description says otherwise. [Errors](errors.md) have one of three forms.

${sections.join('\n')}`;
}

function describe(tags: readonly string[]): string {
  return document.tags
    .filter(({ name }) => tags.includes(name))
    .map(({ description }) => description)
    .join(' ');
}

function toPage(title: string, tags: readonly string[]): string {
  return `# ${title}\n\n${describe(tags)}\n\n${ofTags(tags).map(toOperation).join('\n')}`;
}

function toOperation(operation: PlacedOperation): string {
  const { method, path, summary, description } = operation;
  const parts = [
    `## ${summary}`,
    `\`${method} ${path}\``,
    description ?? '',
    toAccess(operation),
    toParameters(operation),
    toBody(operation),
    toAnswers(operation),
    toErrors(operation),
    toExample(operation),
  ];
  return `${parts
    .filter((part) => part !== '')
    .join('\n\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

/** Who may call: what the security schemes of the operation say. */
function toAccess({ security = [] }: PlacedOperation): string {
  const names = [...new Set(security.flatMap((each) => Object.keys(each)))];
  if (names.length === 0) return 'Needs no credentials.';
  const described = names.map((name) => document.components.securitySchemes[name]?.description ?? name);
  return `Credentials: ${described.join(' Or: ')}`;
}

function toParameters({ parameters = [] }: PlacedOperation): string {
  const rows = parameters.map((parameter) => {
    const { name, in: place, required, description, schema } = resolve<Parameter>(parameter);
    const text = `${required ? 'Required. ' : ''}${description ?? resolve(schema).description ?? ''}`.trim();
    return `| \`${name}\` | ${place} | ${escapeCell(toType(schema))} | ${escapeCell(text)} |\n`;
  });
  if (rows.length === 0) return '';
  return `### Parameters\n\n| Name | In | Type | Description |\n|---|---|---|---|\n${rows.join('')}`;
}

function toBody({ requestBody }: PlacedOperation): string {
  const contents = Object.entries(requestBody?.content ?? {});
  const schema = contents[0]?.[1].schema;
  if (schema === undefined) return '';
  const types = contents.map(([type]) => `\`${type}\``).join(' or ');
  return `### Body\n\n${types}\n\n${toFieldTables(schema, true)}`;
}

function toAnswers({ responses }: PlacedOperation): string {
  const good = Object.entries(responses).filter(([status]) => Number(status) < 400);
  return good
    .map(([status, response]) => toAnswer(status, resolve<ApiResponse>(response as ApiResponse)))
    .join('\n\n');
}

function toAnswer(status: string, { description, headers = {}, content = {} }: ApiResponse): string {
  const names = Object.keys(headers).filter((name) => !['Cache-Control', 'Pragma'].includes(name));
  const [type, body] = Object.entries(content)[0] ?? [];
  const table = body?.schema === undefined ? '' : toFieldTables(body.schema, false);
  const fields = names.length === 0 ? '' : `Header fields: ${names.map((name) => `\`${name}\``).join(', ')}.`;
  const kind = type === undefined || type === 'application/json' ? '' : `Content type: \`${type}\`.`;
  return [`### Answer ${status}`, description, [kind, fields].join(' ').trim(), table]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** The codes of each status, which are the description of its answer. */
function toErrors({ responses }: PlacedOperation): string {
  const rows = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .map(([status, response]) => {
      const { description } = resolve<ApiResponse>(response as ApiResponse);
      const linked = description.replaceAll(
        /\b[A-Z]+(?:_[A-Z]+)+\b|\b(?:UNAUTHORIZED|CONFLICT)\b/g,
        (code) => `[${code}](problems.md#${code.toLowerCase()})`,
      );
      return `| ${status} | ${escapeCell(linked)} |\n`;
    });
  return rows.length === 0 ? '' : `### Errors\n\n| Status | Code |\n|---|---|\n${rows.join('')}`;
}

function toExample({ operationId }: PlacedOperation): string {
  const example = renderExample(answers[operationId]);
  if (example === null) return '';
  return `### Example\n\n\`\`\`http\n${example.request}\n\`\`\`\n\n\`\`\`http\n${example.answer}\n\`\`\`\n`;
}
