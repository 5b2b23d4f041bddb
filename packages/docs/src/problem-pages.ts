import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from '@phds/catalog/problems';
import { problems, renderExample } from './recorded.ts';

/** The page about one code, as Markdown: what it means, what to do, and an example that was really answered. */
export function toProblemPage(code: ProblemCode): string {
  const { meaning, action } = PROBLEMS[code];
  return `# ${code}

HTTP status ${toStatuses(code)}.

## What it means

${meaning}

## What to do

${action}
${toExample(code)}
Back to [all error codes](problems.md).
`;
}

/** All codes with their meaning and what to do, as Markdown. */
export function toProblemsPage(): string {
  const rows = PROBLEM_CODES.map((code) => {
    const { meaning, action } = PROBLEMS[code];
    return `| [${code}](problems.md#${code.toLowerCase()}) ${toStatuses(code)} | ${meaning} | ${action} |\n`;
  });
  return `# Error codes

How to handle errors: [guide](errors.md). Each code has a page with an example.

| Code, HTTP status | Meaning | What to do |
|---|---|---|
${rows.join('')}`;
}

function toExample(code: ProblemCode): string {
  const example = renderExample(problems[code]);
  if (example === null) return '';
  const { request, answer } = example;
  return `
## Example

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
