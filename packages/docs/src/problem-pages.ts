import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from '@phds/catalog/problems';
import { problems, renderExample } from './recorded.ts';

/** The page about one code, as Markdown: what it means, what to do, and an example that was really answered. */
export function toProblemPage(code: ProblemCode): string {
  return `# ${code}\n\n${toContent(code, '##')}\nBack to [all error codes](problems.md).\n`;
}

/** All codes on one page, as Markdown. */
export function toProblemsPage(): string {
  const rows = PROBLEM_CODES.map(
    (code) =>
      `| [${code}](problems.md#${code.toLowerCase()}) | ${toStatuses(code)}. ${firstSentence(code)} |\n`,
  );
  return `# Error codes

The body of every error has one of these codes. Outside of \`/oauth\`, its \`type\` is the address of the page about it. The guide [errors](errors.md)
says how to handle them.

| Code | HTTP status and meaning |
|---|---|
${rows.join('')}`;
}

/** The page of all codes followed by everything about each code, for readers of the repository. */
export function toProblemsDocument(): string {
  const sections = PROBLEM_CODES.map((code) => `## ${code}\n\n${toContent(code, '###')}`);
  return `${toProblemsPage()}\n${sections.join('\n')}`;
}

function toContent(code: ProblemCode, heading: string): string {
  const { meaning, action } = PROBLEMS[code];
  return `HTTP status ${toStatuses(code)}.

${heading} What it means

${meaning}

${heading} What to do

${action}
${toExample(code, heading)}`;
}

function toExample(code: ProblemCode, heading: string): string {
  const example = renderExample(problems[code]);
  if (example === null) return '';
  const { request, answer } = example;
  return `
${heading} Example

\`\`\`http
${request}
\`\`\`

The answer:

\`\`\`http
${answer}
\`\`\`
`;
}

function toStatuses(code: ProblemCode): string {
  return PROBLEMS[code].statuses.join(', ');
}

function firstSentence(code: ProblemCode): string {
  return `${PROBLEMS[code].meaning.split(/(?<=\.)\s/)[0] ?? ''}`.replace(/:$/, '.');
}
